"""Complex numbers out of their parts."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..register import kernel


@kernel("complex")
def complex_(out: Any, real: Any, imag: Any) -> None:
    """From real and imaginary part."""
    parts = (out["real"], out["imag"]) if out.dtype.names else (out.real, out.imag)
    parts[0][...] = real
    parts[1][...] = imag


@kernel("polar")
def polar(out: Any, magnitude: Any, angle: Any) -> None:
    """From magnitude and angle."""
    np.multiply(magnitude, np.cos(angle), out.real)
    np.multiply(magnitude, np.sin(angle), out.imag)

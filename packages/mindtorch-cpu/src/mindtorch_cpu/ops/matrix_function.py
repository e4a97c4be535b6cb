"""Functions of square matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..lazy import linalg
from ..register import kernel


@kernel("linalg_matrix_exp")
def matrix_exp(out: Any, self: Any) -> None:
    """Exponentials, computed in double precision."""
    if self.size:
        wide = np.complex128 if self.dtype.kind == "c" else np.float64
        out[...] = linalg.expm(self.astype(wide))


@kernel("trace")
def trace(out: Any, self: Any) -> None:
    """The sum of the diagonal."""
    np.add.reduce(np.diagonal(self), out=out)

"""Elementwise arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..register import kernel, ufunc

kernel("mul.Tensor")(ufunc(np.multiply))


@kernel("add.Tensor")
def add(out: Any, self: Any, other: Any, alpha: Any) -> None:
    """`self + alpha * other`."""
    if alpha == 1:
        np.add(self, other, out)
    else:
        np.add(self, np.multiply(other, alpha, dtype=out.dtype), out)

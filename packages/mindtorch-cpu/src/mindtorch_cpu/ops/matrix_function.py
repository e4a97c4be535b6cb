"""Functions of square matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..lazy import linalg
from ..register import kernel


@kernel("linalg_matrix_exp")
def matrix_exp(out: Any, self: Any) -> None:
    """Exponentials, by scaling and squaring: in double precision, because squaring multiplies errors."""
    if out.size:
        out[...] = linalg.expm(self.astype(np.result_type(self, np.float64)))


@kernel("trace")
def trace(out: Any, self: Any) -> None:
    """The sum of the diagonal."""
    out[...] = np.trace(self, dtype=out.dtype)

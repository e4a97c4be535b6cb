"""Reductions: `fn(out, self, dims, keepdim)` with dims normalised and `self` in the computation's dtype."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..register import kernel


@kernel("sum", "sum.dim_IntList")
def sum_(out: Any, self: Any, dims: tuple[int, ...], keepdim: bool) -> None:
    """Sums; float32 is summed pairwise by numpy."""
    np.sum(self, axis=dims, keepdims=keepdim, out=out, dtype=out.dtype)

"""Factors of symmetric matrices that need not be positive, and solutions from them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..lapack import each, routine
from ..register import kernel
from .cholesky import first_failure


def _family(dtype: Any, hermitian: bool) -> str:
    return "he" if hermitian and np.dtype(dtype).kind == "c" else "sy"


@kernel("linalg_ldl_factor_ex")
def factor_ex(outs: Any, self: Any, hermitian: bool, check_errors: bool) -> None:
    """Factors in the lower triangle, exchanges, status."""
    factors, pivots, infos = outs
    infos[...] = 0
    trf = routine(_family(self.dtype, hermitian) + "trf", self.dtype)
    for index, matrix in each(self.shape[:-2], (self, 2)):
        if matrix.size:
            half, pivots[index], infos[index] = trf(matrix, lower=True)
            factors[index] = np.tril(half)
    if check_errors:
        first_failure(infos, "torch.linalg.ldl_factor_ex")


@kernel("linalg_ldl_solve")
def solve(out: Any, factors: Any, pivots: Any, right: Any, hermitian: bool) -> None:
    """Solutions from the factors."""
    trs = routine(_family(out.dtype, hermitian) + "trs", out.dtype)
    for index, one, exchanges, given in each(out.shape[:-2], (factors, 2), (pivots, 1), (right, 2)):
        if given.size:
            out[index] = trs(one, exchanges, given, lower=True)[0]

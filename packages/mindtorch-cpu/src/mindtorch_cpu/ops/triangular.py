"""Triangular systems."""

from __future__ import annotations

from typing import Any

from ..lapack import each, routine
from ..register import kernel


def _solve(out: Any, matrices: Any, right: Any, upper: bool, left: bool, unit: bool, trans: int = 0) -> None:
    # BLAS, not LAPACK's trtrs: that gives up on a zero of the diagonal, where torch divides by it.
    trsm = routine("trsm", out.dtype, blas=True)
    for index, matrix, given in each(out.shape[:-2], (matrices, 2), (right, 2)):
        if not given.size:
            continue
        if left:
            out[index] = trsm(1.0, matrix, given, lower=not upper, trans_a=trans, diag=unit)
        else:
            out[index] = trsm(1.0, matrix.T, given.T, lower=upper, trans_a=trans, diag=unit).T


@kernel("linalg_solve_triangular")
def solve_triangular(out: Any, self: Any, B: Any, upper: bool, left: bool, unitriangular: bool) -> None:
    """Solutions of triangular systems."""
    _solve(out, self, B, upper, left, unitriangular)


@kernel("triangular_solve")
def triangular_solve(outs: Any, self: Any, A: Any, upper: bool, transpose: bool, unitriangular: bool) -> None:
    """Solutions, and the coefficients copied to every item of the batch."""
    _solve(outs[0], A, self, upper, True, unitriangular, 1 if transpose else 0)
    outs[1][...] = A

"""Cholesky factors."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch_dispatch.meta.matrices import status_error

from ..lapack import each, routine
from ..register import kernel


def _factors(out: Any, matrices: Any, upper: bool) -> Any:
    """Write factors to `out` and return statuses; what LAPACK left of a failed one stays."""
    infos = np.zeros(matrices.shape[:-2], np.int32)
    if not matrices.size:  # of any dtype, also those that LAPACK lacks
        return infos
    potrf = routine("potrf", out.dtype)
    for index, matrix in each(matrices.shape[:-2], (matrices, 2)):
        if matrix.size:
            out[index], infos[index] = potrf(matrix, lower=not upper, clean=True)
            # Not every LAPACK stops at a nan.
            spoiled = np.isnan(np.diagonal(out[index]))
            if infos[index] == 0 and spoiled.any():
                infos[index] = np.argmax(spoiled) + 1
    return infos


def first_failure(infos: Any, name: str) -> None:
    """Raise torch's error for the first status that is not 0."""
    for number, status in enumerate(infos.reshape(-1).tolist()):
        if status:
            raise status_error(name, status, "" if infos.ndim == 0 else f": (Batch element {number})")


@kernel("linalg_cholesky_ex")
def cholesky_ex(outs: Any, self: Any, upper: bool, check_errors: bool) -> None:
    """The factor and its status."""
    outs[1][...] = _factors(outs[0], self, upper)
    if check_errors:
        first_failure(outs[1], "linalg.cholesky_ex")


@kernel("cholesky")
def cholesky(out: Any, self: Any, upper: bool) -> None:
    """The factor."""
    first_failure(_factors(out, self, upper), "cholesky")


@kernel("cholesky_inverse")
def cholesky_inverse(out: Any, self: Any, upper: bool) -> None:
    """The inverse of the matrix with this factor."""
    infos = np.zeros(self.shape[:-2], np.int32)
    potri = routine("potri", out.dtype)
    for index, factor in each(self.shape[:-2], (self, 2)):
        if not factor.size:
            continue
        half, infos[index] = potri(factor, lower=not upper)
        half = np.triu(half) if upper else np.tril(half)
        out[index] = half + np.conj(half.T) - np.diag(np.diag(half))
    first_failure(infos, "cholesky_inverse")


@kernel("cholesky_solve")
def cholesky_solve(out: Any, self: Any, input2: Any, upper: bool) -> None:
    """The solution of the system with this factor."""
    potrs = routine("potrs", out.dtype)
    for index, right, factor in each(out.shape[:-2], (self, 2), (input2, 2)):
        if right.size:
            out[index] = potrs(factor, right, lower=not upper)[0]

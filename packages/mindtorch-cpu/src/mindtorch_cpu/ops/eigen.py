"""Eigenvalues and singular values."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch_dispatch.meta.matrices import status_error

from ..lapack import each, routine
from ..register import kernel


def _failed(name: str, status: int, index: tuple[int, ...], shape: tuple[int, ...]) -> Exception:
    prefix = "" if not shape else f": (Batch element {int(np.ravel_multi_index(index, shape))})"
    return status_error(name, status, prefix)


@kernel("_linalg_eigh")
def eigh(outs: Any, A: Any, uplo: str, compute_v: bool) -> None:
    """Eigenvalues of Hermitian matrices, rising, and their vectors."""
    values, vectors = outs
    batch = A.shape[:-2]
    solver = routine("heevd" if A.dtype.kind == "c" else "syevd", A.dtype)
    for index, matrix in each(batch, (A, 2)):
        if not matrix.size:
            continue
        found, columns, status = solver(matrix, compute_v=int(compute_v), lower=int(uplo[:1].upper() == "L"))
        if status or np.isnan(found).any():
            raise _failed("linalg.eigh", status or matrix.shape[0] - 1, index, batch)
        values[index] = found
        if compute_v:
            vectors[index] = columns


def _check_finite(matrix: Any) -> None:
    if not np.isfinite(matrix).all():
        raise RuntimeError("torch.linalg.eig: input tensor should not contain infs or NaNs.")


@kernel("linalg_eig")
def eig(outs: Any, self: Any) -> None:
    """Eigenvalues and vectors of length one."""
    values, vectors = outs
    _check_finite(self)
    for index, matrix in each(self.shape[:-2], (self, 2)):
        if matrix.size:
            values[index], vectors[index] = np.linalg.eig(matrix)


@kernel("_linalg_eigvals")
def eigvals(out: Any, self: Any) -> None:
    """Eigenvalues."""
    _check_finite(self)
    for index, matrix in each(self.shape[:-2], (self, 2)):
        if matrix.size:
            out[index] = np.linalg.eigvals(matrix)


@kernel("_linalg_svd")
def svd(outs: Any, A: Any, full_matrices: bool, compute_uv: bool, driver: Any) -> None:
    """Singular values, falling, and their vectors."""
    left, values, right = outs
    batch = A.shape[:-2]
    gesdd = routine("gesdd", A.dtype)
    for index, matrix in each(batch, (A, 2)):
        if not matrix.size:
            if compute_uv:
                left[index], right[index] = np.eye(*left.shape[-2:]), np.eye(*right.shape[-2:])
            continue
        if not np.isfinite(matrix).all():
            raise _failed("linalg.svd", -4, index, batch)
        first, found, second, status = gesdd(matrix, compute_uv=int(compute_uv), full_matrices=int(full_matrices))
        if status:
            raise _failed("linalg.svd", status, index, batch)
        values[index] = found
        if compute_uv:
            left[index], right[index] = first, second

"""Orthogonal factors through LAPACK's reflectors."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..lapack import each, routine
from ..register import kernel


def _reflectors(matrix: Any) -> tuple[Any, Any]:
    found = routine("geqrf", matrix.dtype)(matrix)
    return found[0], found[1]


def _expand(reflectors: Any, scales: Any, columns: int) -> Any:
    """Return the first columns of the orthogonal matrix that reflectors make."""
    rows, count = reflectors.shape[0], len(scales)
    if not count:
        return np.eye(rows, columns, dtype=reflectors.dtype)
    wide = np.zeros((rows, columns), reflectors.dtype, order="F")
    wide[:, : min(columns, reflectors.shape[1])] = reflectors[:, :columns]
    complex_ = reflectors.dtype.kind == "c"
    return routine("ungqr" if complex_ else "orgqr", reflectors.dtype)(wide, scales)[0]


@kernel("linalg_qr")
def qr(outs: Any, A: Any, mode: str) -> None:
    """Orthogonal and upper triangular factors."""
    orthogonal, upper = outs
    for index, matrix in each(A.shape[:-2], (A, 2)):
        inner = upper.shape[-2]
        if not matrix.size:
            upper[index] = 0
            if mode != "r":
                orthogonal[index] = np.eye(matrix.shape[0], inner, dtype=A.dtype)
            continue
        reflectors, scales = _reflectors(matrix)
        upper[index] = np.triu(reflectors)[:inner]
        if mode != "r":
            orthogonal[index] = _expand(reflectors, scales, inner)


@kernel("geqrf")
def geqrf(outs: Any, self: Any) -> None:
    """Reflectors and their scales."""
    for index, matrix in each(self.shape[:-2], (self, 2)):
        if matrix.size:
            outs[0][index], outs[1][index] = _reflectors(matrix)


@kernel("linalg_householder_product")
def householder_product(out: Any, input: Any, tau: Any) -> None:
    """The first columns of the orthogonal matrix."""
    for index, reflectors, scales in each(input.shape[:-2], (input, 2), (tau, 1)):
        if reflectors.size:
            out[index] = _expand(np.ascontiguousarray(reflectors), scales, reflectors.shape[1])


@kernel("ormqr")
def ormqr(out: Any, self: Any, input2: Any, input3: Any, left: bool, transpose: bool) -> None:
    """The whole orthogonal matrix, or its adjoint, times another one."""
    for index, reflectors, scales, other in each(out.shape[:-2], (self, 2), (input2, 1), (input3, 2)):
        whole = _expand(np.ascontiguousarray(reflectors), scales, reflectors.shape[0])
        whole = np.conj(whole.T) if transpose else whole
        out[index] = whole @ other if left else other @ whole

"""Factors of symmetric matrices that need not be positive."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch_dispatch.meta.matrices import status_error

from ..lapack import check_pivots, each, routine
from ..register import kernel


@kernel("linalg_ldl_factor_ex")
def ldl_factor(outs: Any, self: Any, hermitian: bool, check_errors: bool) -> None:
    """Factors in the lower triangle, exchanges, status."""
    factors, pivots, infos = outs
    factorize = routine("hetrf" if hermitian and self.dtype.kind == "c" else "sytrf", self.dtype)
    infos[...] = 0
    for index, matrix in each(self.shape[:-2], (self, 2)):
        if matrix.size:
            found, pivots[index], infos[index] = factorize(matrix, lower=1)
            factors[index] = np.tril(found)
    if check_errors:
        for number, status in enumerate(infos.reshape(-1).tolist()):
            if status:
                prefix = "" if self.ndim == 2 else f": (Batch element {number})"
                raise status_error("torch.linalg.ldl_factor_ex", status, prefix)


@kernel("linalg_ldl_solve")
def ldl_solve(out: Any, factors: Any, pivots: Any, right: Any, hermitian: bool) -> None:
    """Solutions from symmetric factors."""
    check_pivots(
        np.abs(pivots),
        factors.shape[-2],
        "ldl",
        "satisfy |pivot| >= 1",
        "satisfy |pivot| <= LD.size(-2)",
    )
    for index, one, exchanges, given in each(out.shape[:-2], (factors, 2), (pivots, 1), (right, 2)):
        if given.size:
            out[index] = _solve_symmetric(one, exchanges, given, hermitian)


def _solve_symmetric(factors: Any, pivots: Any, right: Any, hermitian: bool) -> Any:
    """Undo the steps of `sytrf` one after the other: exchange, eliminate, divide by blocks, and back."""
    turned = np.conj if hermitian else np.asarray
    x, count, at = np.array(right), len(pivots), 0
    steps: list[tuple[int, int]] = []
    while at < count:
        size = 1 if pivots[at] > 0 else 2
        if size == 2 and np.sum(pivots[at : at + 2] < 0) != 2:
            raise RuntimeError(
                "Pivots given to ldl_solve must be negative in pairs. Did you properly pass the result of ldl_factor?"
            )
        steps.append((at, size))
        last, other = at + size - 1, abs(int(pivots[at])) - 1
        x[[last, other]] = x[[other, last]]
        x[at + size :] -= factors[at + size :, at : at + size] @ x[at : at + size]
        block = factors[at : at + size, at : at + size].copy()
        if size == 2:
            block[0, 1] = turned(block[1, 0])
        x[at : at + size] = np.linalg.solve(block, x[at : at + size])
        at += size
    for at, size in reversed(steps):
        x[at : at + size] -= turned(factors[at + size :, at : at + size]).T @ x[at + size :]
        last, other = at + size - 1, abs(int(pivots[at])) - 1
        x[[last, other]] = x[[other, last]]
    return x

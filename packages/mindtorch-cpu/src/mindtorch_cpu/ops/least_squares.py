"""Least squares."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch_dispatch.meta.matrices import is_vector_rhs, status_error

from ..lapack import each, routine
from ..register import kernel


def _full_rank(matrix: Any, right: Any, index: tuple[int, ...], shape: tuple[int, ...]) -> Any:
    """Return the solution for a matrix of full rank; torch's error for another one."""
    rows, columns = matrix.shape
    given = np.zeros((max(rows, columns), right.shape[1]), right.dtype)
    given[:rows] = right
    _, solution, status = routine("gels", matrix.dtype)(matrix, given)
    if status:
        prefix = f": (Batch element {int(np.ravel_multi_index(index, shape))})" if shape else ""
        raise status_error("torch.linalg.lstsq", status, prefix)
    return solution[:columns]


@kernel("linalg_lstsq")
def lstsq(outs: Any, self: Any, b: Any, rcond: float | None, driver: str) -> None:
    """The shortest of the solutions with the least residual."""
    solution, residuals, ranks, values = outs
    vector = is_vector_rhs(self, b)
    right = b[..., None] if vector else b
    target = solution[..., None] if vector else solution
    cut = np.finfo(self.dtype).eps * max(self.shape[-2:]) if rcond is None else rcond
    for index, matrix, given in each(target.shape[:-2], (self, 2), (right, 2)):
        if matrix.size == 0:
            target[index] = 0
            rank, found = 0, None
        elif driver == "gels":
            target[index], rank, found = _full_rank(matrix, given, index, self.shape[:-2]), 0, None
        else:
            target[index], _, rank, found = np.linalg.lstsq(matrix, given, rcond=cut)
        if residuals.size:
            residuals[index] = np.sum(np.abs(given - matrix @ target[index]) ** 2, axis=0)
        own = tuple(0 if extent == 1 else at for extent, at in zip(self.shape[:-2], index, strict=True))
        if ranks.size:
            ranks[own] = rank
        if values.size and found is not None:
            values[own] = found

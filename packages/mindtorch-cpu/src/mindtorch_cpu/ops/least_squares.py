"""Least squares."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..lapack import each
from ..register import kernel


@kernel("linalg_lstsq")
def lstsq(outs: Any, self: Any, b: Any, rcond: float | None, driver: str) -> None:
    """The shortest of the solutions with the least residual."""
    solution, residuals, ranks, values = outs
    vector = self.ndim - b.ndim == 1
    right = b[..., None] if vector else b
    target = solution[..., None] if vector else solution
    cut = np.finfo(self.dtype).eps * max(self.shape[-2:]) if rcond is None else rcond
    for index, matrix, given in each(target.shape[:-2], (self, 2), (right, 2)):
        if matrix.size == 0:
            target[index] = 0
            rank, found = 0, None
        else:
            target[index], _, rank, found = np.linalg.lstsq(matrix, given, rcond=cut)
        if residuals.size:
            residuals[index] = np.sum(np.abs(given - matrix @ target[index]) ** 2, axis=0)
        if ranks.size and len(index) == ranks.ndim:
            ranks[index] = rank
        if values.size and found is not None:
            values[index] = found

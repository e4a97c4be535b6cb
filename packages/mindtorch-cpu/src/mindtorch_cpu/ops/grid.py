"""Matrices made of blocks; coordinates of triangles."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..register import kernel


@kernel("block_diag", upcast=False)
def block_diag(out: Any, tensors: list[Any]) -> None:
    """The matrices on the diagonal, zeros elsewhere."""
    out.fill(0)
    row = column = 0
    for one in tensors:
        block = one.reshape((1, one.size) if one.ndim < 2 else one.shape)
        out[row : row + block.shape[0], column : column + block.shape[1]] = block
        row, column = row + block.shape[0], column + block.shape[1]


@kernel("tril_indices", upcast=False)
def tril_indices(out: Any, rows: int, columns: int, offset: int) -> None:
    """Rows and columns on or below a diagonal."""
    out[...] = np.tril_indices(rows, offset, columns)


@kernel("triu_indices", upcast=False)
def triu_indices(out: Any, rows: int, columns: int, offset: int) -> None:
    """Rows and columns on or above a diagonal."""
    out[...] = np.triu_indices(rows, offset, columns)

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


def _triangle(out: Any, first: int, begins: Any, ends: Any) -> None:
    """Rows, counted from `first`, and columns of the elements from `begins` up to `ends` of each row."""
    counts = np.maximum(ends - begins, 0)
    out[0] = np.repeat(np.arange(first, first + counts.size), counts)
    # Counted from the first element of all, which lies as far behind the row's own as there are elements before it.
    out[1] = np.arange(out.shape[1])
    out[1] += np.repeat(begins - np.cumsum(counts) + counts, counts)


@kernel("tril_indices", upcast=False)
def tril_indices(out: Any, rows: int, columns: int, offset: int) -> None:
    """Rows and columns on or below a diagonal."""
    first = min(max(-offset, 0), rows)  # the rows above have no elements
    ends = np.minimum(np.arange(first + offset + 1, rows + offset + 1), columns)
    _triangle(out, first, np.zeros_like(ends), ends)


@kernel("triu_indices", upcast=False)
def triu_indices(out: Any, rows: int, columns: int, offset: int) -> None:
    """Rows and columns on or above a diagonal."""
    rows = min(rows, max(columns - offset, 0))  # the rows below have no elements
    begins = np.maximum(np.arange(offset, rows + offset), 0)
    _triangle(out, 0, begins, np.full_like(begins, columns))

"""Distinct values: kernels return (values, inverse, counts). A nan equals nothing, itself included."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..register import kernel
from .sort import ordered

_NONE = np.empty(0, np.int64)


def _runs(starts: Any) -> tuple[Any, Any]:
    """Return the run number of each element, and how long the runs are, from where runs start."""
    numbers = np.cumsum(starts) - 1
    edges = np.append(np.flatnonzero(starts), starts.size)
    return numbers, np.diff(edges)


def _starts(values: Any) -> Any:
    starts = np.ones(values.shape[0], np.bool_)
    changed = values[1:] != values[:-1]
    starts[1:] = changed if changed.ndim == 1 else changed.any(tuple(range(1, changed.ndim)))
    return starts


@kernel("_unique2", upcast=False)
def unique(self: Any, _sorted: bool, return_inverse: bool, return_counts: bool) -> tuple[Any, Any, Any]:
    """Distinct values in order."""
    flat = self.reshape(-1)
    if not (return_inverse or return_counts):
        values = ordered(flat, 0)[0]
        return values[_starts(values)], _NONE, _NONE
    values, order = ordered(flat, 0)
    starts = _starts(values)
    numbers, counts = _runs(starts)
    inverse = _NONE
    if return_inverse:
        inverse = np.empty(flat.shape, np.int64)
        inverse[order] = numbers
        inverse = inverse.reshape(self.shape)
    return values[starts], inverse, counts if return_counts else _NONE


@kernel("_unique_runs", upcast=False)
def unique_runs(self: Any, return_inverse: bool, return_counts: bool) -> tuple[Any, Any, Any]:
    """Values that differ from the one before."""
    flat = self.reshape(-1)
    starts = _starts(flat)
    if not (return_inverse or return_counts):
        return flat[starts], _NONE, _NONE
    numbers, counts = _runs(starts)
    return flat[starts], numbers.reshape(self.shape) if return_inverse else _NONE, counts if return_counts else _NONE


@kernel("_unique_rows", upcast=False)
def unique_rows(self: Any, consecutive: bool) -> tuple[Any, Any, Any]:
    """Rows that differ, in lexicographic order, or from the one before."""
    extent = self.shape[0]
    if extent == 0:
        return self, _NONE, _NONE
    rows = self.reshape(extent, self.size // extent)
    order = np.arange(extent) if consecutive else np.lexsort(rows.T[::-1])
    starts = _starts(rows[order])
    numbers, counts = _runs(starts)
    inverse = np.empty(extent, np.int64)
    inverse[order] = numbers
    return self[order[starts]], inverse, counts

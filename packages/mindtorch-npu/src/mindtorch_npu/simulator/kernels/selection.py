"""Operators that put, order, count and look up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch_npu.simulator.kernels import kernel
from mindtorch_npu.simulator.typing import Array

NONE, ADD, MUL, MAX, MIN, MEAN = range(6)
_UFUNCS = {ADD: np.add, MUL: np.multiply, MAX: np.maximum, MIN: np.minimum, MEAN: np.add}


def _extremes(dtype: Any) -> tuple[Any, Any]:
    if dtype.kind == "f":
        return -np.inf, np.inf
    if dtype.kind == "b":
        return False, True
    return np.iinfo(dtype).min, np.iinfo(dtype).max


def _reduced(x: Array, dim: int, index: Any, source: Any, reduce: int, keep: bool) -> Any:
    made = x.copy()
    if x.ndim == 0:
        made, index, source = made.reshape(1), index.reshape(1), source.reshape(1)
    places = list(np.indices(index.shape, sparse=True))
    places[dim] = index
    given = source[tuple(slice(0, n) for n in index.shape)]
    counts = np.zeros(made.shape, np.int64)
    np.add.at(counts, tuple(places), 1)
    if not keep:
        low, high = _extremes(made.dtype)
        start = {ADD: 0, MEAN: 0, MUL: 1, MAX: low, MIN: high}.get(reduce, 0)
        made[counts > 0] = start
    if reduce == NONE:
        made[tuple(places)] = given
    else:
        _UFUNCS[reduce].at(made, tuple(places), given)
    if reduce == MEAN:
        total = np.maximum(counts + int(keep), 1)
        made = made / total if made.dtype.kind == "f" else made // total
    return made.reshape(x.shape)


def _rows(x: Array, dim: int, index: Any, source: Any) -> Any:
    made = x.copy().reshape(x.shape or (1,))
    source = source.reshape(-1) if made.ndim == 1 else source
    made[(*[slice(None)] * (dim % made.ndim), index.reshape(-1))] = source
    return made.reshape(x.shape)


def _put(x: Array, index: Array, source: Array, accumulate: bool) -> Any:
    flat = x.reshape(-1).copy()
    if accumulate:
        np.add.at(flat, index.reshape(-1), source.reshape(-1))
    else:
        flat[index.reshape(-1)] = source.reshape(-1)
    return flat.reshape(x.shape)


def _masked(x: Array, mask: Array, source: Array) -> Any:
    made, where = x.copy(), np.broadcast_to(mask, x.shape)
    made[where] = source.reshape(-1)[: int(where.sum())]
    return made


def _along(rows: Any, places: Any, dim: int, keep: bool) -> tuple[Any, Any]:
    values = np.take_along_axis(rows, places, dim)
    return (values, places) if keep else (values.squeeze(dim), places.squeeze(dim))


def _kth(x: Array, k: int, dim: int, keep: bool) -> tuple[Any, Any]:
    if x.ndim == 0:
        return x, np.zeros((), np.int64)
    order = np.argsort(x, dim, kind="stable")
    return _along(x, np.take(order, [k - 1], dim), dim, keep)


def _middle(x: Array) -> Any:
    flat = np.sort(x[~np.isnan(x)]) if x.dtype.kind == "f" else np.sort(x, None)
    return flat[(flat.size - 1) // 2] if flat.size else np.asarray(np.nan, x.dtype)


def _middle_along(x: Array, dim: int, keep: bool) -> tuple[Any, Any]:
    if x.ndim == 0:
        return x, np.zeros((), np.int64)
    order = np.argsort(x, dim, kind="stable")
    valid = x.shape[dim] - (np.isnan(x).sum(dim, keepdims=True) if x.dtype.kind == "f" else 0)
    places = np.take_along_axis(order, np.maximum((valid - 1) // 2, 0) * np.ones_like(np.take(order, [0], dim)), dim)
    return _along(x, places, dim, keep)


def _search(sequence: Any, values: Any, narrow: bool, right: bool, sorter: Any) -> Any:
    side: Any = "right" if right else "left"
    if sorter is not None:
        sequence = np.take_along_axis(sequence, sorter, -1)
    if sequence.ndim == 1:
        return np.searchsorted(sequence, values, side)
    rows = sequence.reshape(-1, sequence.shape[-1])
    queries = values.reshape(rows.shape[0], -1)
    found = [np.searchsorted(row, query, side) for row, query in zip(rows, queries, strict=True)]
    return np.reshape(found, values.shape)


EVERY_DIM = 1000
"""In place of a dimension: all elements in order."""


def _distinct(x: Array, ordered: bool, inverse: bool, counts: bool) -> tuple[Any, Any, Any]:
    values, back, count = np.unique(x.reshape(-1), return_inverse=True, return_counts=True, equal_nan=False)
    return values, back.reshape(x.shape), count


def _slices(x: Array, dim: int, order: Any) -> tuple[Any, Any, Any]:
    """Return the slices along a dimension that differ from the one before in an order, their numbers and counts."""
    rows = np.moveaxis(x, dim, 0).reshape(x.shape[dim], -1)
    order = np.arange(len(rows)) if order is None else order(rows)
    starts = np.ones(len(rows), bool)
    starts[1:] = (rows[order][1:] != rows[order][:-1]).any(1)
    back = np.empty(len(rows), np.int64)
    back[order] = np.cumsum(starts) - 1
    return x.take(order[starts], dim), back, np.diff(np.append(np.flatnonzero(starts), len(rows)))


def _runs(x: Array, inverse: bool, counts: bool, dim: int) -> tuple[Any, Any, Any]:
    if dim != EVERY_DIM:
        return _slices(x, dim, None)
    flat = x.reshape(-1)
    starts = np.ones(flat.shape, bool)
    starts[1:] = flat[1:] != flat[:-1]
    places = np.flatnonzero(starts)
    return flat[starts], (np.cumsum(starts) - 1).reshape(x.shape), np.diff(np.append(places, flat.size))


def _counted(x: Any, weights: Any, least: int) -> Any:
    return np.bincount(x, weights, least)


def _histogram(x: Any, bins: int, low: Any, high: Any) -> Any:
    if low == high and x.size:
        low, high = x.min(), x.max()
    if low == high:
        low, high = low - 1, high + 1
    return np.histogram(x.reshape(-1), bins, (float(low), float(high)))[0]


def _shortened(x: Any, order: Any, dim: int, most: object) -> Any:
    axes = tuple(axis for axis in range(x.ndim) if axis != dim % x.ndim)
    size = np.abs(x).max(axes, keepdims=True) if np.isinf(order) else (np.abs(x) ** order).sum(axes, keepdims=True)
    norm = size if np.isinf(order) else size ** (1 / order)
    return x * np.where(norm > most, most / (norm + 1e-7), 1)


def _renormed(weight: Array, indices: Array, most: float, order: float) -> Any:
    made = weight.copy()
    for row in np.unique(indices):
        norm = np.linalg.norm(weight[row], order)
        if norm > most:
            made[row] = weight[row] * (most / (norm + 1e-7))
    return made


def _one_hot(x: Any, classes: int, on: Any, off: Any, axis: int) -> Any:
    if x.size and (x.min() < 0 or x.max() >= classes):
        raise IndexError("OneHot: a class is out of range")
    return np.where(np.arange(classes) == x[..., None], on.reshape(()), off.reshape(()))


def _unfold_grad(grad: Array, shape: Sequence[int], dim: int, size: int, step: int) -> Any:
    if not len(shape):
        return grad.sum()
    made = np.zeros(shape, grad.dtype)
    moved, windows = np.moveaxis(made, dim, 0), np.moveaxis(grad, dim, 0)
    for at in range(windows.shape[0]):
        moved[at * step : at * step + size] += np.moveaxis(windows[at], -1, 0)
    return made


kernel("ScatterReduce", _reduced, workspace=True)
kernel("IndexCopy", _rows, outputs=("outRef",))
kernel("InplacePut", _put)
kernel("InplaceMaskedScatter", _masked)
kernel("Kthvalue", _kth, workspace=True)
kernel("NanMedian", _middle, workspace=True)
kernel("NanMedianDim", _middle_along, workspace=True)
kernel("SearchSorted", _search)
kernel("Unique2", _distinct, workspace=True, sized_by_values=True)
kernel(
    "UniqueDim",
    lambda x, ordered, inverse, dim: _slices(x, dim, lambda rows: np.lexsort(rows.T[::-1])),
    workspace=True,
    sized_by_values=True,
)
kernel("UniqueConsecutive", _runs, workspace=True, sized_by_values=True)
kernel("Bincount", _counted, workspace=True, values_matter=True)
kernel("Histc", _histogram, workspace=True)
kernel("Renorm", _shortened, workspace=True)
kernel("EmbeddingRenorm", _renormed, outputs=("selfRef",), updates=("selfRef",), workspace=True)
kernel("OneHot", _one_hot)
kernel("UnfoldGrad", _unfold_grad, workspace=True)

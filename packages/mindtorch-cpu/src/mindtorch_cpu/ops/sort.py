"""Sorting and searching. A nan counts as larger than every number."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch_dispatch import table

from ..many_dimensions import argpartition, argsort, take_along_axis
from ..many_dimensions import sort as sort_along
from ..register import kernel

_SMALL = 256
"""Extents up to which sorting everything is as fast as selecting first."""


def order_of(self: Any, axis: int, descending: bool) -> Any:
    """Return the stable sorting order along `axis`."""
    if not descending:
        return argsort(self, axis)
    backward = argsort(np.flip(self, axis), axis)
    return np.flip(self.shape[axis] - 1 - backward, axis)


def ordered(self: Any, axis: int) -> tuple[Any, Any]:
    """Return the elements in stable order along `axis` and where they were, by whichever kernel sorts."""
    outs = np.empty(self.shape, self.dtype), np.empty(self.shape, np.int64)
    table.kernels["cpu"]["sort"].fn(outs, self, axis, False)
    return outs


@kernel("sort", "sort.stable")
def sort(outs: tuple[Any, Any], self: Any, axis: int, descending: bool) -> None:
    """Sorted values and the order."""
    values, indices = outs
    if self.ndim == 0:
        values[...] = self
        indices[...] = 0
        return
    order = order_of(self, axis, descending)
    indices[...] = order
    values[...] = take_along_axis(self, order, axis)


@kernel("topk")
def topk(outs: tuple[Any, Any], self: Any, k: int, axis: int, largest: bool, sorted_: bool = True) -> None:
    """The k largest or smallest along a dim, best first whether `sorted_` or not, and where they are."""
    values, indices = outs
    if self.ndim == 0:
        values[...] = self
        indices[...] = 0
        return
    if self.size and (axis != self.ndim - 1 or not self.flags.c_contiguous):
        _topk_of_lines(outs, self, k, axis, largest, sorted_)
        return
    extent = self.shape[axis]
    if extent <= _SMALL or k * 4 >= extent or k == 0:
        order = order_of(self, axis, largest)
        places = order[(slice(None),) * axis + (slice(0, k),)]
    else:
        chosen = argpartition(self, extent - k if largest else k - 1, axis)
        part = slice(extent - k, None) if largest else slice(0, k)
        chosen = sort_along(chosen[(slice(None),) * axis + (part,)], axis)
        places = take_along_axis(chosen, order_of(take_along_axis(self, chosen, axis), axis, largest), axis)
    indices[...] = places
    values[...] = take_along_axis(self, places, axis)


def _topk_of_lines(outs: tuple[Any, Any], self: Any, k: int, axis: int, largest: bool, sorted_: bool) -> None:
    """Let whichever kernel selects look at lines that lie one behind another."""
    lines = np.ascontiguousarray(np.moveaxis(self, axis, -1))
    shape = (*lines.shape[:-1], k)
    made = np.empty(shape, self.dtype), np.empty(shape, np.int64)
    table.kernels["cpu"]["topk"].fn(made, lines, k, self.ndim - 1, largest, sorted_)
    for out, found in zip(outs, made, strict=True):
        out[...] = np.moveaxis(found, -1, axis)


@kernel("searchsorted.Tensor", "searchsorted.Scalar")
def searchsorted(out: Any, sequence: Any, values: Any, side: Any, _int32: Any, _right: Any, sorter: Any) -> None:
    """Where each value would be inserted."""
    if sorter is not None and sorter.size and (sorter.min() < 0 or sorter.max() >= sorter.shape[-1]):
        raise RuntimeError("torch.searchsorted(): sorter index out of range")
    if not out.size:
        return
    if sorter is not None:
        sequence = take_along_axis(sequence, sorter, -1)
    if sequence.ndim == 1:
        out[...] = np.searchsorted(sequence, values, side)
        return
    rows = sequence.reshape(-1, sequence.shape[-1])
    queries = values.reshape(rows.shape[0], -1)
    found = [np.searchsorted(row, query, side) for row, query in zip(rows, queries, strict=True)]
    out[...] = np.reshape(found, out.shape)


@kernel("bucketize.Tensor", "bucketize.Scalar")
def bucketize(out: Any, self: Any, boundaries: Any, side: Any) -> None:
    """Which bucket each value falls into."""
    out[...] = np.searchsorted(boundaries, self, side)


@kernel("isin.Tensor_Tensor", "isin.Scalar_Tensor", "isin.Tensor_Scalar")
def isin(out: Any, elements: Any, test: Any, assume_unique: bool, invert: bool) -> None:
    """Which elements are among the others."""
    out[...] = np.isin(elements, test, invert=invert)

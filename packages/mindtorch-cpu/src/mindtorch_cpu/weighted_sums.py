"""Places that are weighted sums of a few elements of a line each: what interpolation and sampling at points come to.

Place `i` is made of the elements `index[begins[i]:begins[i + 1]]`, times their weights where there are any. The steps here
work on arrays (outer, extent or places, inner).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from .steps import steps


class WeightTable(NamedTuple):
    """What places are made of; the weights None where each element counts once."""

    begins: Any
    index: Any
    weights: Any

    @classmethod
    def of_table(cls, index: Any, weights: Any) -> WeightTable:
        """Return the table of tables (places, elements), the weights' None where each counts once."""
        count, each = index.shape
        begins = np.arange(count + 1, dtype=np.int64) * each
        flat = np.ascontiguousarray(index, np.int64).reshape(-1)
        return cls(begins, flat, None if weights is None else np.ascontiguousarray(weights).reshape(-1))

    def transposed(self, extent: int) -> WeightTable:
        """Return what the elements of a line of `extent` are made of, from a value per place."""
        order = np.argsort(self.index, kind="stable")
        places = np.repeat(np.arange(len(self.begins) - 1), np.diff(self.begins))
        begins = np.zeros(extent + 1, np.int64)
        np.cumsum(np.bincount(self.index, minlength=extent), out=begins[1:])
        return WeightTable(begins, places[order], None if self.weights is None else self.weights[order])

    def slice(self, begin: int, end: int) -> WeightTable:
        """Return the table of the places from `begin` to `end`."""
        cut = slice(self.begins[begin], self.begins[end])
        weights = None if self.weights is None else self.weights[cut]
        return WeightTable(self.begins[begin : end + 1] - self.begins[begin], self.index[cut], weights)


def _gather(out: Any, lines: Any, begins: Any, index: Any, weights: Any) -> None:
    counts = np.diff(begins)
    if not np.all(counts):
        out.fill(0)
    for element in range(int(counts.max(initial=0))):
        here: Any = slice(None) if counts.min() > element else np.flatnonzero(counts > element)
        at = begins[:-1][here] + element
        part = lines[:, index[at]]
        if weights is not None:
            part *= weights[at][:, None]
        if element:
            out[:, here] += part
        else:
            out[:, here] = part


def _scatter(out: Any, places: Any, begins: Any, index: Any, weights: Any) -> None:
    outer, extent, _ = out.shape
    values = np.repeat(places[:, :, 0], np.diff(begins), axis=1)
    if weights is not None:
        values *= weights
    flat = np.arange(outer)[:, None] * extent + index
    out[...] = np.bincount(flat.reshape(-1), values.reshape(-1), minlength=outer * extent).reshape(out.shape)


def _weight_grads(out: Any, places: Any, lines: Any, begins: Any, index: Any) -> None:
    np.einsum("ot,ot->t", np.repeat(places, np.diff(begins), axis=1), lines[:, index], out=out)


# Sums of what places are made of; values of places added to what those are made of, for an inner extent of 1; sums, over
# the outer dimension, of a place's value times each element it is made of.
steps.update(weighted_gather=_gather, weighted_scatter=_scatter, weight_grads=_weight_grads)


# By the number of dimensions: the channels last, and back where they were.
_ORDERS = {ndim: ((0, *range(2, ndim), 1), (0, ndim - 1, *range(1, ndim - 1))) for ndim in (3, 4, 5)}


def gather(x: Any, table: WeightTable, axis: int, target: Any = None) -> Any:
    """Return `x` with the places instead of the dimension `axis`; in `target`, where that lies in memory as `x` does."""
    if axis > 1 and not x.flags.c_contiguous:
        last, back = _ORDERS[x.ndim]
        lying = x.transpose(last)
        if lying.flags.c_contiguous:
            aim = None if target is None else target.transpose(last)
            made = gather(lying, table, axis - 1, aim)
            return target if made is aim else made.transpose(back)
    shape = (*x.shape[:axis], len(table.begins) - 1, *x.shape[axis + 1 :])
    outer, inner = math.prod(shape[:axis]), math.prod(shape[axis + 1 :])
    usable = target is not None and target.flags.c_contiguous and target.dtype == x.dtype
    out = target if usable else np.empty(shape, x.dtype)
    lines = np.ascontiguousarray(x).reshape(outer, x.shape[axis], inner)
    steps["weighted_gather"](out.reshape(outer, shape[axis], inner), lines, *table)
    return out

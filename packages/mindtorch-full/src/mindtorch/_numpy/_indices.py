"""Indices as numpy means them, for tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mindtorch

from . import _util

_SMALL = (mindtorch.int8, mindtorch.int16, mindtorch.int32, mindtorch.uint8)


def _widened(index: Any) -> Any:
    """Indices of small integers as those of large ones: tensors take no others."""
    if isinstance(index, mindtorch.Tensor):
        return index.to(mindtorch.int64) if index.dtype in _SMALL else index
    return tuple(map(_widened, index)) if isinstance(index, tuple) else index


def _is_advanced(item: Any) -> bool:
    if isinstance(item, mindtorch.Tensor):
        return item.dtype == mindtorch.bool or item.ndim > 0
    return isinstance(item, (Sequence, bool))


def _is_integer(item: Any) -> bool:
    if isinstance(item, mindtorch.Tensor):
        return item.ndim == 0 and not item.is_floating_point() and item.dtype != mindtorch.bool
    return isinstance(item, int) and not isinstance(item, bool)


def _dimensions(item: Any) -> int:
    """How many dimensions of an array an item of an index takes."""
    if item is None or item is Ellipsis:
        return 0
    if isinstance(item, mindtorch.Tensor) and item.dtype == mindtorch.bool:
        return item.ndim
    depth, inner = 0, item
    while isinstance(inner, Sequence) and inner and inner[0] != inner:
        depth, inner = depth + 1, inner[0]
    if isinstance(inner, bool):
        return depth
    if isinstance(inner, mindtorch.Tensor) and inner.dtype == mindtorch.bool:
        return depth + inner.ndim
    return 1


Change = Callable[[Any], Any]


def prepared(index: Any, ndim: int) -> tuple[tuple[Any, ...], Change, Change]:
    """Return an index for tensors, what is done to the result of reading, and what to a value before it is written.

    Two things differ: beside arrays, integers are arrays too, and an ellipsis that stands for no dimension separates the
    arrays on its two sides all the same.
    """
    index = _widened(_util.ndarrays_to_tensors(index))
    items = index if isinstance(index, tuple) else (index,)
    if any(map(_is_advanced, items)):
        items = tuple([item] if _is_integer(item) else item for item in items)
    place = next((place for place, item in enumerate(items) if item is Ellipsis), None)
    if place is None or sum(map(_dimensions, items)) != ndim:
        return items, _same, _same
    before, after = items[:place], items[place + 1 :]
    if not (any(map(_is_advanced, before)) and any(map(_is_advanced, after))):
        return items, _same, _same
    # A new dimension keeps them apart, and goes away again.
    at = 1 + sum(isinstance(item, slice) for item in after)

    def widen(value: Any) -> Any:
        return value.unsqueeze(-at) if isinstance(value, mindtorch.Tensor) and value.ndim >= at else value

    return (*before, None, *after), lambda result: result.squeeze(-at), widen


def _same(value: Any) -> Any:
    return value


def forwards(tensor: Any, index: Any) -> tuple[Any, Any]:
    """Return a tensor and an index without negative steps: dimensions that are read backwards are flipped."""
    items = list(index) if isinstance(index, Sequence) and not isinstance(index, str) else [index]
    for place, item in enumerate(items):
        if isinstance(item, slice) and item.step is not None and item.step < 0:
            tensor = mindtorch.flip(tensor, (place,))
            start = item.stop + 1 if item.stop else None
            stop = item.start + 1 if item.start else None
            items[place] = slice(start, stop, -item.step)
    return tensor, tuple(items) if isinstance(index, tuple) else items if isinstance(index, Sequence) else items[0]

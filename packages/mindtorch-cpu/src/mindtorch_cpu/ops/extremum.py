"""Extremes and where they are. A nan counts as the extreme, and the first of equal elements is found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..many_dimensions import take_along_axis
from ..register import kernel

# numpy's stubs have no overload for `axis` and `out` given by place.
_reduce_maximum: Callable[..., Any] = np.maximum.reduce
_reduce_minimum: Callable[..., Any] = np.minimum.reduce


@kernel("amax")
def amax(out: Any, self: Any, dims: tuple[int, ...], keepdim: bool) -> None:
    """Largest over dims."""
    _reduce_maximum(self, dims, None, out, keepdim)


@kernel("amin")
def amin(out: Any, self: Any, dims: tuple[int, ...], keepdim: bool) -> None:
    """Smallest over dims."""
    _reduce_minimum(self, dims, None, out, keepdim)


@kernel("max")
def max_(out: Any, self: Any) -> None:
    """Largest of all."""
    _reduce_maximum(self, None, None, out)


@kernel("min")
def min_(out: Any, self: Any) -> None:
    """Smallest of all."""
    _reduce_minimum(self, None, None, out)


@kernel("aminmax")
def aminmax(outs: tuple[Any, Any], self: Any, dims: tuple[int, ...], keepdim: bool) -> None:
    """Smallest and largest over dims."""
    amin(outs[0], self, dims, keepdim)
    amax(outs[1], self, dims, keepdim)


def _found(outs: tuple[Any, Any], self: Any, dims: tuple[int, ...], where: Any) -> None:
    values, indices = outs
    if not dims:
        values[...] = self
        indices[...] = 0
        return
    places = where(self, dims[0], keepdims=True)
    indices.reshape(places.shape)[...] = places
    values[...] = take_along_axis(self, places, dims[0]).reshape(values.shape)


@kernel("max.dim")
def max_dim(outs: tuple[Any, Any], self: Any, dims: tuple[int, ...], keepdim: bool) -> None:
    """Largest along a dim and its index."""
    _found(outs, self, dims, np.argmax)


@kernel("min.dim")
def min_dim(outs: tuple[Any, Any], self: Any, dims: tuple[int, ...], keepdim: bool) -> None:
    """Smallest along a dim and its index."""
    _found(outs, self, dims, np.argmin)


@kernel("argmax")
def argmax(out: Any, self: Any, axis: int | None, keepdim: bool) -> None:
    """Index of the largest."""
    out[...] = np.argmax(self, axis, keepdims=keepdim)


@kernel("argmin")
def argmin(out: Any, self: Any, axis: int | None, keepdim: bool) -> None:
    """Index of the smallest."""
    out[...] = np.argmin(self, axis, keepdims=keepdim)

"""What numpy cannot do above 32 dimensions, although its arrays have up to 64.

Its iterators of more than one array stop there: sorting and broadcasting raise, `ufunc.at` writes past the end of its
tables and ends the process. So kernels combine, sort and broadcast through these functions.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindtorch_storage.strides import broadcast_shapes

ITERATED = 32
"""Dimensions that numpy's iterators of several arrays have."""


def combine_at(ufunc: np.ufunc, target: Any, place: Any, values: Any) -> None:
    """Combine `values` into the elements at `place`, one after the other where an element comes again."""
    if _dimensions(target, place) <= ITERATED and np.ndim(values) <= ITERATED:
        ufunc.at(target, place, values)
        return
    places = np.arange(target.size).reshape(target.shape)[place]
    flat = target.reshape(-1)
    ufunc.at(flat, places.reshape(-1), np.broadcast_to(values, places.shape).reshape(-1))
    if not np.shares_memory(flat, target):
        target[...] = flat.reshape(target.shape)


def _dimensions(target: Any, place: Any) -> int:
    """Return how many dimensions an iterator over the elements at `place` has at most: those of the indices, too."""
    indices = place if type(place) is tuple else (place,)
    return int(target.ndim + max(map(np.ndim, indices), default=0))


def _folded(array: Any, axis: int) -> tuple[Any, int]:
    """Return the array with the dimensions before and after `axis` as one each, where it has too many."""
    if array.ndim <= ITERATED:
        return array, axis
    axis %= array.ndim
    shape = array.shape
    return array.reshape(math.prod(shape[:axis]), shape[axis], math.prod(shape[axis + 1 :])), 1


def argsort(array: Any, axis: int) -> Any:
    """Return the stable sorting order along `axis`."""
    folded, along = _folded(array, axis)
    return np.argsort(folded, along, kind="stable").reshape(array.shape)


def argpartition(array: Any, kth: int, axis: int) -> Any:
    """Return an order along `axis` in which the element `kth` is at its place, smaller ones before and larger ones after."""
    folded, along = _folded(array, axis)
    return np.argpartition(folded, kth, along).reshape(array.shape)


def sort(array: Any, axis: int) -> Any:
    """Return the array sorted along `axis`."""
    folded, along = _folded(array, axis)
    return np.sort(folded, along).reshape(array.shape)


def take_along_axis(array: Any, places: Any, axis: int) -> Any:
    """Return the elements at `places` along `axis`; in other dimensions both have the same extents."""
    folded, along = _folded(array, axis)
    return np.take_along_axis(folded, _folded(places, axis)[0], along).reshape(places.shape)


def broadcast_arrays(*arrays: Any) -> tuple[Any, ...]:
    """Return views of one shape."""
    shape = broadcast_shapes(*[array.shape for array in arrays])
    return tuple(np.broadcast_to(array, shape) for array in arrays)

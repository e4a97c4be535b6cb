"""Operators whose results' shapes depend on values: room for the most, then as much of it as the device says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch_npu.backend.arrays import DeviceArray, new_array
from mindtorch_npu.backend.binding import launch
from mindtorch_npu.backend.register import Operator, written

_INDEX = Operator("Index")
_INT64 = np.dtype(np.int64)


def _positions(x: DeviceArray) -> DeviceArray:
    """Return the positions of the elements that are not zero, a row for each dimension."""
    room = new_array((x.ndim, x.size), _INT64, x.device)
    if not room.size:
        return new_array((x.ndim, 0), _INT64, x.device)
    _, count = launch("aclnnNonzeroV2", [x, room], shape_of=1)
    return DeviceArray(room.storage, (x.ndim, count), _INT64, (count, 1))


def _nonzero(self: DeviceArray) -> DeviceArray:
    if not self.ndim:  # the operator has no places of no dimensions: a row of none for each that is not zero
        count = _positions(DeviceArray(self.storage, (1,), self.dtype, (1,), self.offset)).shape[1]
        return new_array((count, 0), _INT64, self.device)
    found = _positions(self)
    return DeviceArray(found.storage, found.shape[::-1], _INT64, found.steps[::-1]).packed()


def _masked_select(self: DeviceArray, mask: DeviceArray) -> DeviceArray:
    shape = np.broadcast_shapes(self.shape, mask.shape)
    whole = [_broadcast(one, shape).packed() for one in (self, mask)]
    room = new_array((whole[0].size,), self.dtype, self.device)
    count = launch("aclnnMaskedSelect", [*whole, room], shape_of=2)[0] if room.size else 0
    return DeviceArray(room.storage, (count,), self.dtype, (1,))


def _broadcast(x: DeviceArray, shape: tuple[int, ...]) -> DeviceArray:
    lead = len(shape) - x.ndim
    steps = [0] * lead + [0 if n == 1 else step for n, step in zip(x.shape, x.steps, strict=True)]
    return DeviceArray(x.storage, shape, x.dtype, steps, x.offset)


def _index_masked(self: DeviceArray, indices: Sequence[DeviceArray]) -> DeviceArray:
    """Elements by indices of which some are masks: each mask becomes the positions where it holds."""
    places: list[Any] = []
    for index in indices:
        if index is not None and index.dtype.kind == "b":
            found = _positions(index)
            rows = range(index.ndim)
            places += [DeviceArray(found.storage, found.shape[1:], _INT64, (1,), row * found.steps[0]) for row in rows]
        else:
            places.append(index)
    given = [axis for axis, place in enumerate(places) if place is not None]
    picked = np.broadcast_shapes(*(places[axis].shape for axis in given))
    kept = [n for axis, n in enumerate(self.shape) if axis not in given]
    first = given[0] if given == list(range(given[0], given[-1] + 1)) else 0
    out = new_array((*kept[:first], *picked, *kept[first:]), self.dtype, self.device)
    if out.size:
        _INDEX((out,), (self, places))
    return out


written("nonzero", "NonzeroV2", _nonzero)
written("masked_select", "MaskedSelect", _masked_select)
written("_index_masked", "Index", _index_masked)

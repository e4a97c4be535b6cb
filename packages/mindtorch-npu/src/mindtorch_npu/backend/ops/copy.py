"""Copies, conversions, factories and fills."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from mindtorch_dispatch.determinism import filling
from mindtorch_npu.backend.arrays import DeviceArray, NpuArrays
from mindtorch_npu.backend.binding import launch
from mindtorch_npu.backend.register import aclnn, written
from mindtorch_npu.simulator.typing import Array
from mindtorch_storage.strides import has_internal_overlap

_arrays = NpuArrays()


def _copy(out: DeviceArray, self: DeviceArray, *options: object) -> None:
    _arrays.copy(out, self)


def _convert(out: Array | DeviceArray, self: Array | DeviceArray, *options: object) -> None:
    """Into another dtype or onto another device; only what goes to the device may go on after the return."""
    _arrays.copy(out, self, bool(options[4]) and isinstance(out, DeviceArray))


def _copy_into(
    out: Array | DeviceArray, self: Array | DeviceArray, source: Array | DeviceArray, non_blocking: bool
) -> None:
    if not isinstance(source, (DeviceArray, np.ndarray)):
        _fill(out, self, source)
        return
    _arrays.copy(out, source, bool(non_blocking))


def _nothing(out: DeviceArray, *values: object) -> None:
    """Leave the memory as it is, unless it is filled so that programs do the same each time."""
    value = filling(out.dtype)
    if value is not None:
        _fill(out, None, value)


def _once(out: DeviceArray) -> Iterator[DeviceArray]:
    """Yield arrays of all elements that have no byte twice, which an operator does not write."""
    if not has_internal_overlap(out.shape, out.steps):
        yield out
        return
    axis = min(
        range(out.ndim), key=lambda one: (out.steps[one], -out.shape[one]) if out.shape[one] > 1 else (1 << 62, 0)
    )
    rest = [one for one in range(out.ndim) if one != axis]
    shape, steps = [out.shape[one] for one in rest], [out.steps[one] for one in rest]
    for index in range(out.shape[axis] if out.steps[axis] else 1):
        yield from _once(DeviceArray(out.storage, shape, out.dtype, steps, out.offset + index * out.steps[axis]))


def _zero(out: DeviceArray, *values: object) -> None:
    if out.size:
        for part in _once(out):
            launch("aclnnInplaceZero", [part])


def _one(out: DeviceArray, *values: object) -> None:
    if out.size:
        for part in _once(out):
            launch("aclnnInplaceOne", [part])


def _fill(out: DeviceArray, self: DeviceArray | None, value: float, *options: object) -> None:
    if not out.size:
        return
    name = "aclnnInplaceFillTensor" if isinstance(value, DeviceArray) else "aclnnInplaceFillScalar"
    for part in _once(out):
        launch(name, [part, value])


written("clone", "InplaceCopy", _copy)
written("_to_copy", "InplaceCopy", _convert)
written("copy_", "InplaceCopy", _copy_into)
written(
    ("empty.memory_format", "empty_strided", "empty_like", "new_empty", "new_empty_strided", "empty_permuted"),
    "InplaceZero",
    _nothing,
)
written(("zeros", "zeros_like", "new_zeros", "zero_"), "InplaceZero", _zero)
written(("ones", "ones_like", "new_ones"), "InplaceOne", _one)
written(("full", "full_like", "fill_.Scalar", "fill_.Tensor"), "InplaceFillScalar", _fill)
written("new_full", "InplaceFillScalar", lambda out, self, size, value, *options: _fill(out, self, value))
written("scalar_tensor", "InplaceFillScalar", lambda out, value, *options: _fill(out, None, value))
aclnn(("arange", "arange.start", "arange.start_step"), "Arange", adapt=lambda start, end, step: (start, end, step))
aclnn(("range", "range.step"), "Range", adapt=lambda start, end, step: (start, end, step))
aclnn(("eye", "eye.m"), "Eye", adapt=lambda n, *rest: _sides(n, rest))
aclnn("linspace", "Linspace", adapt=lambda start, end, steps, *options: (start, end, steps))


def _sides(rows: int, rest: tuple[Any, ...]) -> tuple[int, int]:
    columns = rest[0] if rest and isinstance(rest[0], int) else rows
    return rows, columns

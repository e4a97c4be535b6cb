"""Copies, conversions, factories and fills."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch_npu.backend.arrays import DeviceArray, NpuArrays
from mindtorch_npu.backend.binding import launch
from mindtorch_npu.backend.register import aclnn, written
from mindtorch_npu.simulator.typing import Array

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
    """Leave the memory as it is."""


def _zero(out: DeviceArray, *values: object) -> None:
    if out.size:
        launch("aclnnInplaceZero", [out])


def _one(out: DeviceArray, *values: object) -> None:
    if out.size:
        launch("aclnnInplaceOne", [out])


def _fill(out: DeviceArray, self: DeviceArray | None, value: float, *options: object) -> None:
    if not out.size:
        return
    if isinstance(value, DeviceArray):
        launch("aclnnInplaceFillTensor", [out, value])
    else:
        launch("aclnnInplaceFillScalar", [out, value])


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

"""Assertions about values, ranges and geometries: what they raise where they do not hold."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from numbers import Number
from typing import Any, SupportsInt

from mindtorch_storage.device import device as Device
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.dtype import int64
from mindtorch_storage.layout import layout as Layout
from mindtorch_storage.storage.elements import c_name

from ..arguments.parameter import INT64
from ..call import aten
from ..typing import Tensor


def assert_nonzero(self: Tensor, assert_msg: str | None = None) -> None:
    """RuntimeError where the only element is zero. Devices wait here for the answer."""
    if self.numel() == 0:
        raise RuntimeError("Boolean value of Tensor with no values is ambiguous")
    if self.numel() > 1:
        raise RuntimeError("Boolean value of Tensor with more than one value is ambiguous")
    if not self.item():
        raise RuntimeError(
            "Expected Tensor with single nonzero value, but got zero" if assert_msg is None else assert_msg
        )


def functional_assert_nonzero(self: Tensor, assert_msg: str, dep_token: Tensor) -> Any:
    """A copy of the token, which orders the assertion among other ops."""
    assert_nonzero(self, assert_msg)
    return aten.clone(dep_token)


def assert_scalar(self: Number, assert_msg: str) -> None:
    """RuntimeError where a number is zero."""
    if not self:
        raise RuntimeError(assert_msg or "Assertion is failed")


def functional_assert_scalar(self: Number, assert_msg: str, dep_token: Tensor) -> Any:
    """A copy of the token, which orders the assertion among other ops."""
    assert_scalar(self, assert_msg)
    return aten.clone(dep_token)


def assert_tensor_metadata(
    a: Tensor,
    size: Sequence[int] | None = None,
    stride: Sequence[int] | None = None,
    dtype: Dtype | None = None,
    device: Device | str | None = None,
    layout: Layout | None = None,
) -> None:
    """RuntimeError where a tensor has another geometry, dtype, device or layout than those that are given."""
    strides = a.stride() if str(a.layout) == "torch.strided" else [0] * a.dim()
    for name, wanted, found in (("sizes", size, a.shape), ("strides", stride, strides)):
        if wanted is not None and list(wanted) != list(found):
            raise RuntimeError(f"Tensor {name} mismatch! Expected: {list(wanted)}, Got: {list(found)}")
    if dtype is not None and a.dtype is not dtype:
        raise RuntimeError(f"Tensor dtype mismatch! Expected: {dtype.scalar_name}, Got: {c_name(a.dtype)}")
    if device is not None and a.device != Device(device):
        raise RuntimeError(f"Tensor device mismatch! Expected: {device}, Got: {a.device}")
    if layout is not None and a.layout is not layout:
        raise RuntimeError(f"Tensor layout mismatch! Expected: {_layout_name(layout)}, Got: {_layout_name(a.layout)}")


def _layout_name(layout: Layout) -> str:
    name = str(layout).removeprefix("torch.").removesuffix("_coo")
    return "".join(part.capitalize() for part in name.split("_"))


def constrain_range(size: SupportsInt, min: int | None = None, max: int | None = None) -> None:
    """RuntimeError where a number lies outside a range, or the range is empty."""
    if min is None and max is None:
        return
    lowest = INT64.start if min is None else min
    highest = INT64.stop - 1 if max is None else max
    if highest < lowest:
        raise RuntimeError(f"Max must be greater than or equal to min. Got min={lowest} max={highest}")
    if not lowest <= int(size) <= highest:
        raise RuntimeError(f"Invalid value range for {int(size)} between [{lowest}, {highest}].")


def constrain_range_for_size(size: SupportsInt, min: int | None = None, max: int | None = None) -> None:
    """As `constrain_range`, of a size: from 0 on, and to more than 2, as graphs take sizes 0 and 1 apart."""
    if max is not None and max <= 2:
        raise RuntimeError(f"Max value to constrain_range_for_size must be greater than 2. got: {max}")
    constrain_range(size, 0 if min is None else min, max)


def shape_as_tensor(self: Tensor) -> Any:
    """The extents as a tensor of int64 on the CPU."""
    made = aten.empty([self.dim()], dtype=int64, device=Device("cpu"))
    for place, extent in enumerate(self.shape):
        made[place] = extent
    return made


def printed(s: str) -> None:
    """Write a line to the standard output."""
    sys.stdout.write(f"{s}\n")

"""Conversions: identity when there is nothing to do, else one copy."""

from __future__ import annotations

from typing import Any

from mindtorch_storage import dtype as types
from mindtorch_storage.device import device as Device
from mindtorch_storage.device import intern_device
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.layout import contiguous_format, preserve_format
from mindtorch_storage.layout import layout as Layout
from mindtorch_storage.layout import memory_format as MemoryFormat
from mindtorch_storage.tensor_base import TensorBase

from ..call import aten
from ..meta.checks import check
from ..meta.factory import strides_for
from ..meta.memory_format import lies_in, suggested_format
from ..typing import Tensor, TensorOrScalar

_CPU = intern_device("cpu")
_NUMBER_TYPES = {bool: types.bool, int: types.int64, float: types.float64, complex: types.complex128}


def contiguous(self: Tensor, memory_format: MemoryFormat) -> Any:
    """`self` when its strides are the format's already, else a copy."""
    spec = self._sig.spec
    if memory_format is contiguous_format:
        return self if spec.is_contiguous else aten.clone(self, memory_format=contiguous_format)
    if memory_format is preserve_format:
        if spec.is_contiguous:
            return self
        raise RuntimeError("preserve memory format is unsupported by the contiguous operator")
    strides_for(spec.shape, memory_format)  # refuses other numbers of dimensions
    return self if lies_in(spec, memory_format) else aten.clone(self, memory_format=memory_format)


def convert(
    self: Tensor,
    dtype: Dtype | None,
    device: Device | None,
    non_blocking: bool,
    copy: bool,
    memory_format: MemoryFormat | None,
) -> Any:
    """`self` with another dtype or device; `self` itself when nothing changes and no copy is asked for."""
    spec = self._sig.spec
    kept_format = memory_format is None or memory_format is preserve_format
    if (
        not copy
        and (dtype is None or dtype is spec.dtype)
        and (device is None or same_device(device, spec.device))
        and (kept_format or memory_format is suggested_format(spec))
    ):
        return self
    return aten._to_copy(
        self,
        dtype=dtype,
        device=device,
        non_blocking=non_blocking,
        memory_format=memory_format,
    )


def same_device(wanted: Device, have: Device) -> bool:
    """True when a tensor on `have` is on `wanted` already; a device without index means any of its type.

    No tensor's device is `cpu:0` or `meta:0`: torch adds an index to accelerators alone, and copies.
    """
    if wanted == have:
        return True
    without = wanted.index is None or have.index is None
    return without and wanted.type == have.type and wanted.type not in ("cpu", "meta")


def to_device(
    self: Tensor,
    device: Device | None,
    dtype: Dtype | None,
    non_blocking: bool,
    copy: bool,
    memory_format: MemoryFormat | None,
) -> Any:
    """`to(device, dtype)`."""
    return convert(self, dtype, device, non_blocking, copy, memory_format)


def to_dtype(self: Tensor, dtype: Dtype, non_blocking: bool, copy: bool, memory_format: MemoryFormat | None) -> Any:
    """`to(dtype)`."""
    return convert(self, dtype, None, non_blocking, copy, memory_format)


def to_other(self: Tensor, other: Tensor, non_blocking: bool, copy: bool, memory_format: MemoryFormat | None) -> Any:
    """`to(other)`; a Python number stands for a tensor of it."""
    if not isinstance(other, TensorBase):
        return convert(self, _NUMBER_TYPES[type(other)], _CPU, non_blocking, copy, memory_format)
    return convert(self, other.dtype, other.device, non_blocking, copy, memory_format)


def _c_layout(layout: Layout) -> str:
    """The layout as C++ prints it: `SparseCsr`."""
    return "".join(part.capitalize() for part in str(layout).removeprefix("torch.").removesuffix("_coo").split("_"))


def to_options(
    self: Tensor,
    dtype: Dtype | None,
    layout: Layout | None,
    device: Device | None,
    pin_memory: bool | None,
    non_blocking: bool,
    copy: bool,
    memory_format: MemoryFormat | None,
) -> Any:
    """`to` by keywords; as in torch, `pin_memory` changes nothing on the CPU."""
    mine = self._sig.spec.layout
    check(
        layout is None or layout is mine,
        lambda: (
            "to(options) doesn't support converting to a different layout, but got self.layout being "
            f"{_c_layout(mine)} and options.layout set as {_c_layout(layout or mine)}"
        ),
    )
    return convert(self, dtype, device, non_blocking, copy, memory_format)


def type_as(self: Tensor, other: Tensor) -> Any:
    """`self` with the other tensor's dtype and device."""
    return convert(self, other.dtype, other.device, False, False, None)


def filled(self: Tensor, value: TensorOrScalar) -> Any:
    """A tensor like `self` with one value everywhere."""
    return aten.fill_(aten.empty_like(self), value)

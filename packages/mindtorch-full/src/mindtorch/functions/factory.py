"""Factories and defaults that are not plain ops."""

from __future__ import annotations

from typing import Any

from mindtorch_dispatch import defaults
from mindtorch_dispatch.call import aten
from mindtorch_dispatch.state import state
from mindtorch_storage.device import device as Device
from mindtorch_storage.promotion import can_cast, promote_types
from mindtorch_storage.tensor_base import TensorBase

from ..tensor.construction import tensor

__all__ = [
    "can_cast",
    "get_default_device",
    "get_default_dtype",
    "is_storage",
    "is_tensor",
    "numel",
    "promote_types",
    "result_type",
    "set_default_device",
    "set_default_dtype",
    "tensor",
]

get_default_dtype = defaults.get_default_dtype
set_default_dtype = defaults.set_default_dtype


def get_default_device() -> Device:
    """Return the device that factories use when none is given."""
    return defaults.get_default_device()


def set_default_device(device: Any) -> None:
    """Make `device` the default of this thread's factories; None puts the CPU back."""
    state.mode = state.mode.replace(default_device=None if device is None else Device(device))


def is_tensor(obj: Any) -> bool:
    """Return whether `obj` is a tensor."""
    return isinstance(obj, TensorBase)


def is_storage(obj: Any) -> bool:
    """Return whether `obj` is a storage."""
    return type(obj).__name__ in ("UntypedStorage", "TypedStorage")


def numel(input: Any) -> int:
    """Return the number of elements."""
    return input.numel()


def result_type(tensor1: Any, tensor2: Any) -> Any:
    """Return the dtype of an elementwise operation on the two operands."""
    from_rule = aten.result_type
    return from_rule(tensor1, tensor2)

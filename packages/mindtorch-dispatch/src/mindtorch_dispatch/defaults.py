"""The process-wide default dtype and the thread's default device, which factories and promotion consult."""

from __future__ import annotations

from mindtorch_storage.device import device as Device
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.dtype import float32
from mindtorch_storage.finfo import use_default_dtype

from .execute.arrays import resolve
from .state import state
from .table import set_default_dtype_plans
from .typing import Tensor

_default: dict[str, Dtype] = {"dtype": float32}
_CPU = Device("cpu")


def get_default_dtype() -> Dtype:
    """Return the floating-point dtype that Python floats become.

    >>> torch.get_default_dtype()
    torch.float32
    """
    return _default["dtype"]


def set_default_dtype(d: Dtype, /) -> None:
    """Make `d` the default dtype; TypeError unless it is floating point, as torch says it."""
    if not isinstance(d, Dtype):
        raise TypeError("invalid dtype object: only floating-point types are supported as the default type")
    if not d.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    _default["dtype"] = d
    set_default_dtype_plans(None if d is float32 else d)


def get_default_device() -> Device:
    """Return the device that factories use when none is given."""
    chosen = state.mode.default_device
    return _CPU if chosen is None else resolve(chosen)


def chosen_device(tensor: Tensor, device: Device | str | None) -> Device:
    """Return the device for what is made of a tensor: the given one, else the default that was set, else its own."""
    if device is not None:
        return Device(device)
    found: Device = tensor.device if state.mode.default_device is None else get_default_device()
    return found


use_default_dtype(get_default_dtype)

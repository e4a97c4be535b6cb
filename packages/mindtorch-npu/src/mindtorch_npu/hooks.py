"""What the public functions of `torch.npu` ask for allocators, names and capabilities: module attributes that a program or
a test may replace, here or in `torch.npu`, which shows them too. They are looked up at every call.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from types import ModuleType
from typing import Any

from mindtorch_npu import runtime
from mindtorch_npu.allocator import allocator_of
from mindtorch_npu.device import check_index, device_index, soc_name
from mindtorch_npu.typing import DeviceLike

CAPABILITY = "TORCH_NPU_DEVICE_CAPABILITY"


def _get_allocator(device: int | None = None) -> Any:
    """Return the allocator of a device; the runtime need not be initialised. RuntimeError for one that is not there."""
    index = device_index(device, initialise=False)
    if runtime.is_initialized() and not 0 <= index < runtime.device_count():
        raise RuntimeError(f"Invalid device argument {index}: did you call init?")
    return allocator_of(index)


def _get_device_name(device: DeviceLike | None = None) -> str:
    """Return the chip's name, which says so when it is simulated."""
    runtime.init()
    check_index(device)
    return soc_name()


def _get_device_capability(device: DeviceLike | None = None) -> tuple[int, int] | None:
    """Return (major, minor) of TORCH_NPU_DEVICE_CAPABILITY, None without it: an Ascend chip has no such number. What cannot
    be read is warned of."""
    text = os.environ.get(CAPABILITY)
    if not text:
        return None
    try:
        major, minor = (int(part) for part in text.split("."))
    except ValueError:
        warnings.warn(f"{CAPABILITY} must be major.minor, such as 9.0, not {text!r}", stacklevel=2)
        return None
    return major, minor


DEFAULTS: dict[str, Callable[..., Any]] = {
    "_get_allocator": _get_allocator,
    "_get_device_capability": _get_device_capability,
    "_get_device_name": _get_device_name,
}
"""The attributes that may be replaced, and what they are until then."""

_places: list[ModuleType] = [sys.modules[__name__]]


def look_in(module: ModuleType) -> None:
    """Let the attributes be replaced in another module, too, which gets them under the same names."""
    vars(module).update(DEFAULTS)
    if module not in _places:
        _places.append(module)


def _find(name: str) -> Callable[..., Any]:
    own = DEFAULTS[name]
    found: list[Callable[..., Any]] = [getattr(place, name) for place in _places]
    return next((each for each in found if each is not own), own)


def allocator(device: object = None) -> Any:
    """Return what answers for a device's memory now."""
    return _find("_get_allocator")(device)


def allocator_is_replaced() -> bool:
    """Return whether another function answers for the devices' allocators."""
    return _find("_get_allocator") is not DEFAULTS["_get_allocator"]


def device_name(device: DeviceLike | None = None) -> str:
    """Return the name that a device has now."""
    name: str = _find("_get_device_name")(device)
    return name


def device_capability(device: DeviceLike | None = None) -> tuple[int, int] | None:
    """Return the capability that a device has now."""
    capability: tuple[int, int] | None = _find("_get_device_capability")(device)
    return capability

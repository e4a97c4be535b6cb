"""What stands for a tensor's elements in kernels: a numpy array on the CPU, a backend's own arrays on its device.

A backend installs an `ArrayType` for its device type. Its arrays have `shape`, `strides` (bytes), `size`, `ndim`, `dtype`
(numpy's), `storage`, `base` (None where the array has its memory alone),
`astype(dtype, copy=)` and `to_host()`; the executor asks
nothing else of them.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from mindtorch_storage.device import device as Device
from mindtorch_storage.spec import Spec
from mindtorch_storage.storage import UntypedStorage
from mindtorch_storage.tensor_base import array_makers

from ..interface.wiring import wired


class ArrayType(Protocol):
    """The arrays of one device type."""

    def current(self, device: Device) -> Device:
        """Return the device, with an index, that `device` without one means now."""
        ...

    def empty(self, spec: Spec) -> Any:
        """Return a new array of the spec's geometry."""
        ...

    def view(self, storage: UntypedStorage, spec: Spec, offset: int) -> Any:
        """Return the array over a storage that `spec` describes; ValueError when it reaches beyond it."""
        ...

    def copy(self, target: Any, source: Any) -> None:
        """Write `source` into `target`, converting; one of them may be in main memory."""
        ...


def load_backend(device_type: str) -> None:
    """Import the backend of a device type, unless it has been or there is none."""
    if device_type not in array_types and device_type not in _HOST:
        wired.load_backend(device_type)


def backend_installed(device_type: str) -> bool:
    """Return whether the backend of a device type can be imported. Imports nothing."""
    return device_type in array_types or wired.backend_installed(device_type)


def resolve(device: Device) -> Device:
    """Return `device` with the index that it means now; the backend is loaded when this is its first use."""
    if device.index is not None and device.type in array_types:
        return device
    if device.type in _HOST:
        return device
    load_backend(device.type)
    arrays = array_types.get(device.type)
    return device if arrays is None or device.index is not None else arrays.current(device)


def current(device_type: str) -> Device:
    """Return the device, with an index, that a type of device in `array_types` means now."""
    return array_types[device_type].current(Device(device_type))


def shows_device(value: object) -> bool:
    """Return whether an argument stands in a plan's key as the device that it means now."""
    return (value.type if type(value) is Device else value) in array_types if type(value) in (str, Device) else False


_HOST = ("cpu", "meta")

array_types: dict[str, ArrayType] = {}
"""Device type to its arrays, for devices whose bytes are not in main memory."""


def install_arrays(device_type: str, arrays: ArrayType) -> None:
    """Let tensors of a device type have elements."""
    array_types[device_type] = arrays
    array_makers[device_type] = arrays.view


def empty(spec: Spec) -> Any:
    """Return a new array of the spec's shape on its device."""
    arrays = array_types.get(spec.device.type)
    return np.empty(spec.shape, spec.np_dtype) if arrays is None else arrays.empty(spec)


def assign(target: np.ndarray[Any, Any], source: np.ndarray[Any, Any]) -> None:
    """Write `source` into `target` in main memory, converting; numpy has complex32 as pairs, which it cannot convert."""
    if (target.dtype.names is None and source.dtype.names is None) or target.dtype == source.dtype:
        np.copyto(target, source, casting="unsafe")
    elif target.dtype.names is None:
        pairs = np.empty(source.shape, np.complex64)
        pairs.real, pairs.imag = source["real"], source["imag"]
        np.copyto(target, pairs, casting="unsafe")
    else:
        np.copyto(target["real"], source.real, casting="unsafe")
        np.copyto(target["imag"], source.imag, casting="unsafe")


def copy(target: Any, source: Any) -> None:
    """Write `source` into `target`, converting."""
    if type(target) is np.ndarray and type(source) is np.ndarray:
        assign(target, source)
    else:
        on_device = source if type(target) is np.ndarray else target
        array_types[on_device.storage.device.type].copy(target, source)


def shares(one: Any, other: Any) -> bool:
    """True when two arrays may have bytes in common; False for what is no array."""
    if type(one) is np.ndarray:
        return type(other) is np.ndarray and np.may_share_memory(one, other)
    return getattr(other, "storage", None) is one.storage

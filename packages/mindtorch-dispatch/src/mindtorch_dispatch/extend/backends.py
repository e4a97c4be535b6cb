"""Devices of other distributions: one call makes a device type that programs can name and kernels can be registered for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch_storage.device import device as Device
from mindtorch_storage.device import name_device
from mindtorch_storage.storage import register_allocator

from ..execute.arrays import ArrayType, array_types, install_arrays
from ..keys import BACKEND_KEYS, DEVICE_TYPES, DispatchKey
from ..table import kernels


def register_backend(device_type: str, arrays: ArrayType, allocate: Callable[[int, Device], Any]) -> None:
    """Make `device_type` a device whose elements are `arrays`' and whose storages' bytes `allocate(nbytes, device)` gives.

    Afterwards `torch.device(device_type)` parses, factories and `to` reach it, and `register_kernel(device_type, rows, fn)`
    gives it kernels. Its dispatch key is PrivateUse1, which all such devices share: kernels that `torch.library` registers
    for that key are those of the first one. RuntimeError for a device type that there is already.
    """
    if device_type in BACKEND_KEYS:
        raise RuntimeError(f"there is a backend for device type {device_type!r} already")
    name_device(device_type)
    BACKEND_KEYS[device_type] = DispatchKey.PrivateUse1
    if DEVICE_TYPES[DispatchKey.PrivateUse1] not in array_types:
        DEVICE_TYPES[DispatchKey.PrivateUse1] = device_type
    kernels[device_type] = {}
    install_arrays(device_type, arrays)
    register_allocator(device_type, allocate)

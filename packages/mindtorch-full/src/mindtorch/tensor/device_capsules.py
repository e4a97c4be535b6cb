"""DLPack capsules over memory of devices.

numpy makes them, as it makes those of the host, over an array that is never read: it has the tensor's sizes and keeps the
tensor alive. Where the elements are is written into the capsule then. Taken back, a capsule gives a tensor over the same
storage; device memory of other libraries is not adopted, for only their allocator knows when its tasks are done with it.
"""

from __future__ import annotations

import ctypes
import weakref
from typing import Any

import numpy as np

from mindtorch.tensor.capsules import CODES, ManagedTensor, Versioned, is_valid, pointer_of
from mindtorch.tensor.pickling import tensor_over
from mindtorch_storage import dtype as types
from mindtorch_storage.dtype import dtype as Dtype

EXTENSION = 12
"""The device code of extensions, `kDLExtDev`."""
_PLAIN = {
    types.int8: (0, 8), types.int16: (0, 16), types.int32: (0, 32), types.int64: (0, 64), types.uint8: (1, 8),
    types.uint16: (1, 16), types.uint32: (1, 32), types.uint64: (1, 64), types.float16: (2, 16), types.float32: (2, 32),
    types.float64: (2, 64), types.complex64: (5, 64), types.complex128: (5, 128), types.bool: (6, 8),
}  # fmt: skip
_SIZED = {1: "|u1", 2: "<u2", 4: "<u4", 8: "<u8", 16: "<c16"}


class _Holder:
    """What an array of a tensor's sizes belongs to; it holds the tensor."""

    def __init__(self, tensor: Any) -> None:
        self.tensor, self._byte = tensor, np.zeros(2, np.int64)
        size = tensor.dtype.itemsize
        self.__array_interface__ = {
            "version": 3,
            "typestr": _SIZED[size],
            "shape": tuple(tensor.shape),
            "strides": tuple(step * size for step in tensor.stride()),
            "data": (self._byte.ctypes.data, False),
        }


_held: weakref.WeakValueDictionary[int, _Holder] = weakref.WeakValueDictionary()
"""By the address of what a capsule points to: what holds its tensor."""

_set_name = ctypes.pythonapi.PyCapsule_SetName
_set_name.argtypes, _set_name.restype = (ctypes.py_object, ctypes.c_char_p), ctypes.c_int
_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)
_NAMES: dict[bytes, tuple[Any, bytes]] = {
    b"dltensor_versioned": (Versioned, b"used_dltensor_versioned"),
    b"dltensor": (ManagedTensor, b"used_dltensor"),
}
"""By a capsule's name what it points to, and its name when it was taken; the memory of a name must stay."""


def _type_of(dtype: Dtype) -> tuple[int, int, int]:
    if dtype in _PLAIN:
        return (*_PLAIN[dtype], 1)
    if dtype not in CODES:
        raise BufferError(f"{dtype} types are not supported by dlpack")
    return CODES[dtype]


def device_capsule(tensor: Any, versioned: bool) -> Any:
    """Return a capsule over a device's tensor, of the standard from 1.0 on or before."""
    code = _type_of(tensor.dtype)
    holder = _Holder(tensor.detach())
    array = np.asarray(holder)
    capsule = array.__dlpack__(max_version=(1, 0)) if versioned else array.__dlpack__()
    name = b"dltensor_versioned" if versioned else b"dltensor"
    address = pointer_of(capsule, name)
    shown = _NAMES[name][0].from_address(address).tensor
    shown.data, shown.byte_offset = tensor.data_ptr() or None, 0
    shown.device_type, shown.device_id = EXTENSION, tensor.device.index or 0
    shown.dtype.code, shown.dtype.bits, shown.dtype.lanes = code
    _held[address] = holder
    return capsule


def taken_back(capsule: Any) -> Any:
    """Return a tensor over the storage that a capsule of a device's tensor points to, None for other capsules.

    Raises BufferError for device memory of another library.
    """
    for name, (kind, used) in _NAMES.items():
        if not is_valid(capsule, name):
            continue
        address = pointer_of(capsule, name)
        found = kind.from_address(address)
        if found.tensor.device_type != EXTENSION:
            return None
        holder = _held.get(address)
        if holder is None:
            raise BufferError("device memory of another library cannot be taken")
        tensor = holder.tensor
        _set_name(capsule, used)
        _Deleter(found.deleter)(address)
        storage = tensor.untyped_storage()
        return tensor_over(storage, tensor.dtype, tensor.storage_offset(), tensor.shape, tensor.stride())
    return None

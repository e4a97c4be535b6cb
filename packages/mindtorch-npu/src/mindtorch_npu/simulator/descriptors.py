"""What the vendor's descriptor functions make: tensors, scalars, arrays and lists, by handle."""

from __future__ import annotations

import ctypes
import itertools
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from mindtorch_npu.simulator.dtypes import numpy_dtype
from mindtorch_npu.simulator.faults import DeviceFault

NULL_POINTER, INVALID, NOT_CONTIGUOUS = 161001, 161002, 561103


@dataclass
class TensorDescriptor:
    """`aclTensor`: a strided view of a storage at a device address; offset and strides in elements."""

    shape: tuple[int, ...]
    dtype: int
    strides: tuple[int, ...]
    offset: int
    form: int
    storage: tuple[int, ...]
    data: int

    @property
    def contiguous(self) -> bool:
        """True when the elements lie in order without gaps; extents of 1 do not count."""
        step = 1
        for extent, stride in zip(reversed(self.shape), reversed(self.strides), strict=True):
            if extent != 1 and stride != step:
                return 0 in self.shape
            step *= extent
        return True

    @property
    def in_storage(self) -> bool:
        """True when the view lies within the storage that the descriptor declares."""
        if 0 in self.shape:
            return True
        first, end = self.reach
        return first >= 0 and end <= int(np.prod(self.storage))

    @cached_property
    def reach(self) -> tuple[int, int]:
        """The first element of the storage that the view touches, and the one behind the last."""
        pairs = list(zip(self.shape, self.strides, strict=True))
        last = self.offset + sum(max(0, s * (n - 1)) for n, s in pairs)
        return self.offset + sum(min(0, s * (n - 1)) for n, s in pairs), last + 1

    def at(self, address: int) -> TensorDescriptor:
        """Return the same view of a storage at another address."""
        made = object.__new__(TensorDescriptor)
        made.__dict__.update(self.__dict__)  # what was found out of the view, too
        made.data = address
        return made

    @property
    def repeats(self) -> bool:
        """True when elements of different indices are one in memory, as in an expanded tensor."""
        return 0 not in self.shape and any(n > 1 and s == 0 for n, s in zip(self.shape, self.strides, strict=True))


@dataclass
class ScalarDescriptor:
    """`aclScalar`."""

    value: Any
    dtype: int


class Descriptors:
    """The live descriptors."""

    def __init__(self) -> None:
        self.live: dict[int, Any] = {}
        self._handles = itertools.count(0x5A00_0000_0000, 16)
        self._lock = threading.Lock()

    def add(self, made: Any) -> int:
        """Return the handle of a new descriptor."""
        with self._lock:
            handle = next(self._handles)
            self.live[handle] = made
        return handle

    def get(self, handle: int | None, kind: type) -> Any:
        """Return the descriptor of a handle, None for NULL; DeviceFault unless it is live and of this kind."""
        if not handle:
            return None
        found = self.live.get(handle)
        if not isinstance(found, kind):
            raise DeviceFault(INVALID, f"EZ1001: {handle:#x} is no live {kind.__name__}")
        return found

    def destroy(self, kind: str, handle: int | None) -> int:
        """Destroy a descriptor of a kind, and a list's elements with it; NULL is accepted."""
        if not handle:
            return 0
        with self._lock:
            made = self.live.get(handle)
            if made is None or kind_of(made) != kind:
                raise DeviceFault(INVALID, f"EZ1001: aclDestroy{kind}: {handle:#x} is no live {kind}")
            del self.live[handle]
        if isinstance(made, HandleList):
            for element in made:
                self.destroy(kind.removesuffix("List"), element)
        return 0


class HandleList(list[int]):
    """`aclTensorList` or `aclScalarList`: the handles of its elements."""

    def __init__(self, kind: str, handles: Iterable[int]) -> None:
        super().__init__(handles)
        self.kind = kind


class Numbers(list[Any]):
    """`aclIntArray`, `aclFloatArray` or `aclBoolArray`."""

    def __init__(self, kind: str, values: Iterable[Any]) -> None:
        super().__init__(values)
        self.kind = kind


def kind_of(made: Any) -> str:
    """Return what a descriptor is called in the names of the vendor's functions."""
    if isinstance(made, TensorDescriptor):
        return "Tensor"
    return "Scalar" if isinstance(made, ScalarDescriptor) else str(made.kind)


_P, _I64, _U64, _I32 = ctypes.c_void_p, ctypes.c_int64, ctypes.c_uint64, ctypes.c_int32


def _read(address: int | None, count: int, kind: Any) -> tuple[Any, ...]:
    return tuple((kind * count).from_address(address)) if count and address else ()


def _create_tensor(
    live: Descriptors, dims: int, rank: int, dtype: int, strides: int, offset: int, form: int, sdims: int, srank: int,
    data: int,
) -> int:  # fmt: skip
    if (rank and not dims) or (srank and not sdims):
        return 0
    shape = _read(dims, rank, _I64)
    if strides:
        steps = _read(strides, rank, _I64)
    else:
        steps = tuple(int(np.prod(shape[place + 1 :], dtype=np.int64)) for place in range(rank))
    storage = _read(sdims, srank, _I64)
    return live.add(TensorDescriptor(shape, dtype, steps, offset, form, storage, data or 0))


def _create_scalar(live: Descriptors, value: int, dtype: int) -> int:
    if not value:
        return 0
    kind = numpy_dtype(dtype)
    raw = ctypes.string_at(value, kind.itemsize)
    return live.add(ScalarDescriptor(np.frombuffer(raw, kind)[0].item(), dtype))


def _array_maker(name: str, kind: object) -> Callable[..., int]:
    return lambda live, values, count: live.add(Numbers(name, _read(values, count, kind))) if values or not count else 0


def _list_maker(name: str) -> Callable[..., int]:
    def make(live: Descriptors, values: int, count: int) -> int:
        if count and not values:
            return 0
        return live.add(HandleList(name, (one or 0 for one in _read(values, count, _P))))

    return make


def _destroyer(kind: str) -> Callable[..., int]:
    return lambda live, handle: live.destroy(kind, handle)


def _view_shape(live: Descriptors, handle: int, dims: int, count: int) -> int:
    if not (handle and dims and count):
        raise DeviceFault(NULL_POINTER, "EZ1001: aclGetViewShape: the tensor or a place for its shape is NULL")
    shape = live.get(handle, TensorDescriptor).shape
    block = (_I64 * max(1, len(shape)))(*shape)
    _KEPT.append(block)  # the caller frees it with delete[]; here it stays
    _P.from_address(dims).value = ctypes.addressof(block)
    _U64.from_address(count).value = len(shape)
    return 0


_KEPT: list[Any] = []

FUNCTIONS: dict[str, tuple[Any, list[Any], Callable[..., int]]] = {
    "aclCreateTensor": (_P, [_P, _U64, _I32, _P, _I64, _I32, _P, _U64, _P], _create_tensor),
    "aclCreateScalar": (_P, [_P, _I32], _create_scalar),
    "aclCreateIntArray": (_P, [_P, _U64], _array_maker("IntArray", _I64)),
    "aclCreateFloatArray": (_P, [_P, _U64], _array_maker("FloatArray", ctypes.c_float)),
    "aclCreateBoolArray": (_P, [_P, _U64], _array_maker("BoolArray", ctypes.c_bool)),
    "aclCreateTensorList": (_P, [_P, _U64], _list_maker("TensorList")),
    "aclCreateScalarList": (_P, [_P, _U64], _list_maker("ScalarList")),
    "aclGetViewShape": (_I32, [_P, _P, _P], _view_shape),
    **{
        f"aclDestroy{kind}": (_I32, [_P], _destroyer(kind))
        for kind in ("Tensor", "Scalar", "IntArray", "FloatArray", "BoolArray", "TensorList", "ScalarList")
    },
}
"""By C name: result type, argument types, and what it does to the live descriptors."""

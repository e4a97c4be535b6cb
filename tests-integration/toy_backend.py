"""A device of its own in a page: arrays that numpy does not know, in memory that only its kernels reach.

Its kernels are the CPU's numpy kernels over that memory, so that it has all of them and none is worth much.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindtorch_dispatch.extend.backends import register_backend
from mindtorch_dispatch.table import kernels, register_kernel
from mindtorch_storage.device import device as Device
from mindtorch_storage.storage import UntypedStorage

NAME = "toy"


class Allocation:
    """Memory of the device."""

    buffer = None
    resizable = True
    shared = pinned = False
    filename = None

    def __init__(self, nbytes: int) -> None:
        self.nbytes = nbytes
        self.memory = np.empty(nbytes, np.uint8)

    def pointer(self) -> int:
        return self.memory.ctypes.data if self.nbytes else 0

    def read(self) -> Any:
        return self.memory.copy()

    def write(self, data: Any) -> None:
        self.memory[:] = data

    def reallocated(self, nbytes: int) -> Allocation:
        made = Allocation(nbytes)
        kept = min(nbytes, self.nbytes)
        made.memory[:kept] = self.memory[:kept]
        return made


class ToyArray:
    """Elements on the device as a strided view of a storage."""

    def __init__(self, storage: UntypedStorage, values: Any, base: Any = None) -> None:
        self.storage, self.values, self.base = storage, values, base
        self.shape, self.strides, self.size = values.shape, values.strides, values.size
        self.ndim, self.dtype = values.ndim, values.dtype

    def astype(self, dtype: Any, copy: bool = True) -> ToyArray:
        return wrap(self.values.astype(dtype, copy=copy))

    def __setitem__(self, place: Any, value: Any) -> None:
        self.values[place] = bare(value)

    def to_host(self) -> Any:
        return self.values.copy()

    def item(self) -> Any:
        return self.values.item()


def wrap(values: Any) -> ToyArray:
    """Return the elements of a numpy array in memory of the device."""
    steps = [step // values.itemsize for step in np.empty(values.shape, values.dtype).strides]
    made = ARRAYS.new(values.shape, steps, values.dtype)
    made.values[...] = values
    return made


class ToyArrays:
    """The arrays of the device type."""

    def current(self, device: Device) -> Device:
        return Device(NAME, 0)

    def new(self, shape: Any, steps: Any, dtype: Any) -> ToyArray:
        span = 1 + sum((n - 1) * s for n, s in zip(shape, steps, strict=True)) if math.prod(shape) else 0
        storage = UntypedStorage._from_allocation(Allocation(span * dtype.itemsize), Device(NAME, 0))
        return ToyArray(storage, _strided(storage, shape, steps, dtype, 0))

    def empty(self, spec: Any) -> ToyArray:
        return self.new(spec.shape, spec.stride, spec.np_dtype)

    def view(self, storage: UntypedStorage, spec: Any, offset: int) -> ToyArray:
        return ToyArray(storage, _strided(storage, spec.shape, spec.stride, spec.np_dtype, offset), storage)

    def copy(self, target: Any, source: Any) -> None:
        np.copyto(bare(target), bare(source), casting="unsafe")


def _strided(storage: UntypedStorage, shape: Any, steps: Any, dtype: Any, offset: int) -> Any:
    memory = storage._allocation.memory
    return np.ndarray(tuple(shape), dtype, memory, offset * dtype.itemsize, tuple(s * dtype.itemsize for s in steps))


def bare(value: Any) -> Any:
    """Return what numpy knows of a kernel's argument."""
    if isinstance(value, ToyArray):
        return value.values
    if isinstance(value, (list, tuple)):
        return type(value)(bare(one) for one in value)
    return value


def over_numpy(function: Any) -> Any:
    """Return the CPU's kernel as one of the device."""

    def run(out: Any, *values: Any) -> Any:
        return function(bare(out), *map(bare, values))

    return run


ARRAYS = ToyArrays()


def install() -> None:
    """Register the device and its kernels."""
    register_backend(NAME, ARRAYS, lambda nbytes, device: Allocation(nbytes))
    for name, kernel in kernels["cpu"].items():
        register_kernel(NAME, [name], over_numpy(kernel.fn), upcast=kernel.upcast, aliases_ok=kernel.aliases_ok)

"""Device tensors' elements: `DeviceArray`, the allocation under it, and copies between host and device."""

from __future__ import annotations

import ctypes
import math
import weakref
from typing import Any

import numpy as np

from mindtorch_npu import damage, runtime, switches, tracing
from mindtorch_npu.acl.errors import check
from mindtorch_npu.acl.recording import recorded
from mindtorch_npu.allocator import allocator_of, allocators
from mindtorch_npu.backend.binding import launch
from mindtorch_npu.backend.dtypes import code_of
from mindtorch_npu.device import current_device
from mindtorch_npu.host import host_allocator
from mindtorch_npu.stream import Stream, current_stream
from mindtorch_storage.device import device as Device
from mindtorch_storage.device import intern_device
from mindtorch_storage.spec import Spec
from mindtorch_storage.storage import UntypedStorage

H2D, D2H, D2D = 1, 2, 3


class DeviceAllocation:
    """A block of the caching allocator, given back when nothing refers to it any more."""

    __slots__ = ("__weakref__", "address", "allocator", "device", "nbytes")
    buffer = None
    resizable = True
    shared = pinned = False
    filename: str | None = None
    _initialized = staticmethod(
        runtime.is_initialized
    )  # at the interpreter's end modules lose their names before this runs

    def __init__(self, nbytes: int, device: int) -> None:
        self.address = 0
        self.nbytes = nbytes
        self.device = device
        runtime.on(device)
        self.allocator = allocator_of(device)
        self.address = self.allocator.malloc(nbytes, current_stream(device).npu_stream)

    def __del__(self) -> None:
        # Run by the garbage collector anywhere: in a thread that has another device current, in the midst of making an
        # allocator (so none is asked for here), or when the device took everything back and starts anew.
        if self.address and self._initialized() and allocators().get(self.device) is self.allocator:
            before = runtime.thread_device()
            self.allocator.drop(self.address)
            if before is not None and before != runtime.thread_device():
                runtime.on(before)

    def pointer(self) -> int:
        """The device address; 0 for an empty block."""
        return self.address

    def read(self) -> Any:
        """The bytes, copied to the host when everything enqueued so far has been done."""
        out = np.empty(self.nbytes, np.uint8)
        copy_bytes(out.ctypes.data, self.address, self.nbytes, D2H, self.device)
        return out

    def write(self, data: Any) -> None:
        """Overwrite all bytes."""
        data = np.ascontiguousarray(data)
        copy_bytes(self.address, data.ctypes.data, self.nbytes, H2D, self.device)

    def reallocated(self, nbytes: int) -> DeviceAllocation:
        """A new block that begins with this block's bytes."""
        made = DeviceAllocation(nbytes, self.device)
        copy_bytes(made.address, self.address, min(nbytes, self.nbytes), D2D, self.device)
        return made


class BorrowedAllocation(DeviceAllocation):
    """A block that somebody else gives back."""

    __slots__ = ()
    resizable = False

    def __init__(self, address: int, nbytes: int, device: int) -> None:
        self.address, self.nbytes, self.device = address, nbytes, device
        self.allocator = allocator_of(device)

    def __del__(self) -> None:
        """Nothing is given back."""


class PinnedAllocation:
    """A page-locked block of the host, given back when no array is over it any more and no copy uses it."""

    __slots__ = ("__weakref__", "buffer", "lent", "nbytes", "resizable")
    shared = False
    pinned = True
    filename: str | None = None

    def __init__(self, nbytes: int) -> None:
        self.nbytes = nbytes
        self.resizable, self.lent = True, False
        allocator = host_allocator()
        address = allocator.malloc(nbytes)
        if not address:
            self.buffer = np.empty(0, np.uint8)
            return
        # Arrays keep what they are over, not this object: the block goes with the last of them.
        block = (ctypes.c_uint8 * nbytes).from_address(address)
        weakref.finalize(block, allocator.drop, address).atexit = False
        self.buffer = np.frombuffer(memoryview(block), np.uint8)

    def pointer(self) -> int:
        """The address of the first byte, 0 for an empty block."""
        return int(self.buffer.ctypes.data) if self.nbytes else 0

    def read(self) -> Any:
        """The bytes."""
        return self.buffer

    def write(self, data: Any) -> None:
        """Overwrite all bytes."""
        self.buffer[:] = data

    def reallocated(self, nbytes: int) -> PinnedAllocation:
        """A new block that begins with this block's bytes."""
        made = PinnedAllocation(nbytes)
        kept = min(nbytes, self.nbytes)
        made.buffer[:kept] = self.buffer[:kept]
        return made


def copy_bytes(target: int, source: int, size: int, kind: int, device: int, non_blocking: bool = False) -> None:
    """Copy bytes in the order of the current stream, and wait until that is done.

    With `non_blocking` and pinned host memory it returns at once; the block stays until the stream has passed.
    """
    if not size:
        return
    acl = runtime.on(device)
    stream = current_stream(device).npu_stream
    if (
        switches.sync_debug["mode"]
        and kind != D2D
        and not (non_blocking and host_allocator().owns(target if kind == D2H else source, size))
    ):
        switches.waiting()
    if recorded and kind == D2H and not non_blocking:  # refused before the recording has a copy to memory that goes
        check(acl.rt.synchronize_stream(stream), "acl.rt.synchronize_stream", acl)
    check(acl.rt.memcpy_async(target, size, source, size, kind, stream), "acl.rt.memcpy_async", acl)
    if kind != D2H:
        damage.written(target)
    if kind == D2D:
        return
    here, host = source if kind == H2D else target, host_allocator()
    pinned = bool(host.owns(here, size))
    if pinned and non_blocking:
        host.record(here, device, stream)
    elif pinned or kind == D2H:
        check(acl.rt.synchronize_stream(stream), "acl.rt.synchronize_stream", acl)


def allocate(nbytes: int, device: Device) -> DeviceAllocation:
    """Return device memory, on the current device when `device` names none."""
    return DeviceAllocation(nbytes, current_device() if device.index is None else device.index)


def record_stream(storage: UntypedStorage, stream: Stream) -> None:
    """Let a storage's block wait for a stream, of its device or another one, when it is released."""
    if not isinstance(stream, Stream):
        raise RuntimeError("unknown parameter type")
    allocation: Any = storage._allocation
    allocator = allocator_of(allocation.device)
    if stream.device_index != allocation.device:
        allocator.driver.of_device(stream.npu_stream, stream.device_index)
    allocator.record_stream(allocation.address, stream.npu_stream)
    tracing.tell("record_stream", allocation.address, stream.npu_stream)


class DeviceArray:
    """Elements on a device as a strided view of a storage. Kernels take and fill these."""

    __slots__ = ("base", "dtype", "ndim", "offset", "shape", "size", "steps", "storage")

    def __init__(
        self, storage: UntypedStorage, shape: Any, dtype: Any, steps: Any, offset: int = 0, base: Any = None
    ) -> None:
        self.storage = storage
        self.shape = tuple(shape)
        self.dtype = dtype
        self.steps = tuple(steps)
        self.offset = offset
        self.base = base
        self.ndim = len(self.shape)
        self.size = math.prod(self.shape)

    @property
    def itemsize(self) -> int:
        """Bytes of one element."""
        return int(self.dtype.itemsize)

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes between neighbours."""
        return tuple(step * self.dtype.itemsize for step in self.steps)

    @property
    def device(self) -> int:
        """The index of the device."""
        allocation: Any = self.storage._allocation
        return int(allocation.device)

    @property
    def contiguous(self) -> bool:
        """True when the elements lie in order without gaps."""
        step = 1
        for extent, own in zip(reversed(self.shape), reversed(self.steps), strict=True):
            if extent != 1 and own != step:
                return bool(self.size == 0)
            step *= extent
        return True

    def astype(self, dtype: Any, copy: bool = True) -> DeviceArray:
        """Return the elements as another numpy dtype, in a new array; itself when nothing changes and none is asked."""
        dtype = np.dtype(dtype)
        if dtype == self.dtype and not copy:
            return self
        made = new_array(self.shape, dtype, self.device)
        launch("aclnnCast", [self, code_of(dtype), made])
        return made

    def packed(self) -> DeviceArray:
        """Return a contiguous array of the elements, itself when it is one."""
        if self.contiguous:
            return self
        made = new_array(self.shape, self.dtype, self.device)
        launch("aclnnInplaceCopy", [made, self])
        return made

    def to_host(self) -> Any:
        """Return the elements as a numpy array when everything enqueued so far has been done."""
        out = np.empty(self.shape, self.dtype)
        source = self.packed()
        allocation: Any = source.storage._allocation
        start = allocation.address + source.offset * self.dtype.itemsize
        copy_bytes(out.ctypes.data, start, out.nbytes, D2H, self.device)
        return out

    def write_to(self, target: Any) -> None:
        """Copy the elements to a contiguous host array, waiting for it unless that is pinned."""
        source = self.packed()
        allocation: Any = source.storage._allocation
        start = allocation.address + source.offset * self.dtype.itemsize
        copy_bytes(target.ctypes.data, start, target.nbytes, D2H, self.device, non_blocking=True)

    def item(self) -> Any:
        """Return the only element as a Python number."""
        return self.to_host().reshape(()).item()


def new_array(shape: Any, dtype: Any, device: int) -> DeviceArray:
    """Return an uninitialised contiguous array."""
    steps, step = [], 1
    for extent in reversed(shape):
        steps.append(step)
        step *= max(1, extent)
    allocation = DeviceAllocation(math.prod(shape) * dtype.itemsize, device)
    storage = UntypedStorage._from_allocation(allocation, intern_device("npu", device))
    return DeviceArray(storage, shape, dtype, reversed(steps))


def from_host(values: Any, device: int, non_blocking: bool = False) -> DeviceArray:
    """Return a contiguous device array of a numpy array's elements."""
    made = new_array(values.shape, values.dtype, device)
    if made.size:
        source = np.ascontiguousarray(values)
        allocation: Any = made.storage._allocation
        # A copy made here would be gone before the device has read it.
        early = non_blocking and source is values
        copy_bytes(allocation.address, source.ctypes.data, source.nbytes, H2D, device, early)
    return made


class NpuArrays:
    """The arrays of device type `npu`, as the call path asks for them."""

    def current(self, device: Device) -> Device:
        """Return the thread's current device."""
        return intern_device("npu", current_device())

    def empty(self, spec: Spec) -> DeviceArray:
        """Return a new array of the spec's geometry, dense in its order."""
        span = 1 + sum((n - 1) * s for n, s in zip(spec.shape, spec.stride, strict=True)) if spec.numel else 0
        index = spec.device.index
        allocation = DeviceAllocation(span * spec.itemsize, current_device() if index is None else index)
        storage = UntypedStorage._from_allocation(allocation, intern_device("npu", allocation.device))
        return DeviceArray(storage, spec.shape, spec.np_dtype, spec.stride)

    def view(self, storage: UntypedStorage, spec: Spec, offset: int) -> DeviceArray:
        """Return the array over a storage that `spec` describes."""
        return DeviceArray(storage, spec.shape, spec.np_dtype, spec.stride, offset, storage)

    def copy(self, target: Any, source: Any, non_blocking: bool = False) -> None:
        """Write `source` into `target`, broadcasting and converting; one of them may be on the host.

        With `non_blocking` a copy from or to pinned memory goes on after the return.
        """
        if isinstance(target, np.ndarray):
            if (
                non_blocking
                and target.flags.c_contiguous
                and target.dtype == source.dtype
                and target.shape == source.shape
            ):
                source.write_to(target)
                return
            found = source.to_host() if source.dtype == target.dtype else source.astype(target.dtype).to_host()
            np.copyto(target, found)
            return
        if isinstance(source, np.ndarray):
            source = from_host(source, target.device, non_blocking)
        if source.device != target.device:
            source = _across(source, target.device)
        if target.size:
            launch("aclnnInplaceCopy", [target, source])


def _across(source: DeviceArray, device: int) -> DeviceArray:
    """Return the elements on another device, by way of the host."""
    return from_host(source.to_host(), device)

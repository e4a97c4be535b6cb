"""Where the bytes of a CPU storage live: heap, borrowed buffer, file mapping; `sharing` has what processes share.

Every kind is an `Allocation`; a storage asks nothing else of it, so a backend adds its own kind (pinned, device
memory) by implementing the same attributes.
"""

from __future__ import annotations

import math
import mmap
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import numpy as np

from mindtorch_storage.device import device as Device
from mindtorch_storage.device import intern_device


class Allocation(Protocol):
    """A block of bytes: what a storage needs to know of its memory."""

    @property
    def nbytes(self) -> int:
        """The length in bytes."""
        ...

    @property
    def buffer(self) -> Any:
        """One-dimensional uint8 numpy array over the block, or None where the host cannot see the bytes."""
        ...

    @property
    def resizable(self) -> bool:
        """Whether the block may be replaced by one of another length."""
        ...

    @property
    def shared(self) -> bool:
        """Whether other processes see writes."""
        ...

    @property
    def pinned(self) -> bool:
        """Whether the memory is page locked."""
        ...

    @property
    def filename(self) -> str | None:
        """The file that writes reach."""
        ...

    def pointer(self) -> int:
        """The address of the first byte, 0 for an empty block."""
        ...

    def read(self) -> Any:
        """The bytes as a uint8 array on the host, for blocks whose `buffer` is None."""
        ...

    def write(self, data: Any) -> None:
        """Overwrite all bytes from a uint8 array on the host, for blocks whose `buffer` is None."""
        ...

    def reallocated(self, nbytes: int) -> Allocation:
        """A block of `nbytes` that begins with this block's bytes."""
        ...


class HostAllocation:
    """Bytes that this process can address, kept alive through a uint8 array."""

    __slots__ = ("buffer", "filename", "lent", "nbytes", "resizable", "shared")
    pinned = False

    def __init__(
        self, buffer: np.ndarray[Any, Any], *, resizable: bool, shared: bool = False, filename: str | None = None
    ) -> None:
        self.buffer = buffer
        self.nbytes = int(buffer.nbytes)
        self.resizable = resizable
        self.lent = not resizable
        self.shared = shared
        self.filename = filename

    def pointer(self) -> int:
        """The address of the first byte, 0 for an empty block."""
        address: int = self.buffer.__array_interface__["data"][0]
        return address if self.nbytes else 0

    def read(self) -> np.ndarray[Any, Any]:
        """The bytes themselves."""
        return self.buffer

    def write(self, data: Any) -> None:
        """Overwrite all bytes."""
        self.buffer[:] = data

    def reallocated(self, nbytes: int) -> HostAllocation:
        """A new heap block that begins with this block's bytes."""
        block = allocate(nbytes)
        kept = min(nbytes, self.nbytes)
        block.buffer[:kept] = self.buffer[:kept]
        return block


class MarkedAllocation(HostAllocation):
    """Heap memory that says it is page-locked, where there is no device to lock pages for."""

    __slots__ = ()
    pinned = True

    def __init__(self, nbytes: int) -> None:
        super().__init__(allocate(nbytes).buffer, resizable=True)

    def reallocated(self, nbytes: int) -> MarkedAllocation:
        """A new block that begins with this block's bytes."""
        block = MarkedAllocation(nbytes)
        kept = min(nbytes, self.nbytes)
        block.buffer[:kept] = self.buffer[:kept]
        return block


def allocate(nbytes: int) -> HostAllocation:
    """Uninitialised heap memory."""
    if nbytes < 0:
        raise RuntimeError(
            "[enforce fail at alloc_cpu.cpp:98] ((ptrdiff_t)nbytes) >= 0. alloc_cpu() seems to have been called with "
            f"negative number: {nbytes % 2**64}"
        )
    try:
        return HostAllocation(np.empty(nbytes, np.uint8), resizable=True)
    except (MemoryError, ValueError):
        raise no_memory(nbytes) from None


def no_memory(nbytes: int | None) -> RuntimeError:
    """Return torch's error of memory that cannot be had; None where nobody knows how much was asked for."""
    amount = "" if nbytes is None else f": you tried to allocate {nbytes} bytes"
    return RuntimeError(
        f"[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory{amount}. Error code 12 "
        "(Cannot allocate memory)"
    )


def no_memory_of(error: MemoryError) -> RuntimeError:
    """Return torch's error in place of Python's or numpy's, which knows what array it was for; native kernels say how many
    bytes."""
    shape, dtype = getattr(error, "shape", None), getattr(error, "dtype", None)
    if shape is not None and dtype is not None:
        return no_memory(math.prod(shape) * dtype.itemsize)
    (amount,) = error.args if len(error.args) == 1 else (None,)
    return no_memory(amount if type(amount) is int else None)


@contextmanager
def no_memory_in_torchs_words() -> Iterator[None]:
    """Raise torch's error in place of Python's and numpy's where there is no memory."""
    try:
        yield
    except MemoryError as error:
        raise no_memory_of(error) from None


def borrow(source: Any, *, resizable: bool = False) -> HostAllocation:
    """Use the memory of an object with the buffer protocol; the object stays alive as long as the block."""
    if isinstance(source, np.ndarray) and source.dtype == np.uint8 and source.ndim == 1:
        return HostAllocation(source, resizable=resizable)
    return HostAllocation(np.frombuffer(source, np.uint8), resizable=resizable)


class _Memory:
    """Offers an array's memory as one that may be written, and keeps the array."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        interface = array.__array_interface__
        plain = f"|V{array.itemsize}"  # without the type's name: numpy does not know each by it
        self.array = array
        self.__array_interface__ = {**interface, "data": (interface["data"][0], False), "typestr": plain}
        self.__array_interface__["descr"] = [("", plain)]


def writable_view(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Return a writable array over the memory of a read-only one: tensors have no other memory, in torch neither.

    Pages of a file that is mapped for reading stay as they are: a write to them would end the process.
    """
    owner: Any = array
    while isinstance(owner, np.ndarray | memoryview):
        owner = owner.base if isinstance(owner, np.ndarray) else owner.obj
    if isinstance(owner, mmap.mmap):
        return array
    return np.asarray(_Memory(array)).view(array.dtype)


def map_file(path: str, shared: bool, nbytes: int) -> HostAllocation:
    """Map the first `nbytes` of a file; writes reach the file when `shared`, else they stay private to this block."""
    if nbytes == 0:
        return HostAllocation(np.empty(0, np.uint8), resizable=True)
    mode = "read-write" if shared else "read-only"
    flags = os.O_RDWR | os.O_CREAT if shared else os.O_RDONLY
    try:
        descriptor = os.open(path, flags, 0o600)
    except OSError as error:
        raise RuntimeError(f"unable to open file <{path}> in {mode} mode: {error.strerror} ({error.errno})") from None
    try:
        size = os.fstat(descriptor).st_size
        if nbytes < 0:
            raise RuntimeError(f"unable to mmap {nbytes} bytes from file <{path}>: Cannot allocate memory (12)")
        if nbytes > size:
            if not shared:
                raise RuntimeError(f"file <{path}> size <{size}> is smaller than the required mapping size <{nbytes}>")
            os.truncate(descriptor, nbytes)
        access = mmap.ACCESS_WRITE if shared else mmap.ACCESS_COPY
        try:
            view = np.frombuffer(mmap.mmap(descriptor, nbytes, access=access), np.uint8)
        except OSError as error:
            text = f"unable to mmap {nbytes} bytes from file <{path}>: {error.strerror} ({error.errno})"
            raise RuntimeError(text) from None
    finally:
        os.close(descriptor)
    # Torch counts private mappings as shared too, but names the file of shared ones only.
    return HostAllocation(view, resizable=False, filename=path if shared else None, shared=True)


NO_DATA = "Not available for 'meta' device type"


class MetaAllocation:
    """A length without bytes."""

    __slots__ = ("nbytes",)
    buffer = None
    resizable = True
    shared = pinned = lent = False
    filename: str | None = None

    def __init__(self, nbytes: int) -> None:
        self.nbytes = nbytes

    def read(self) -> Any:
        """There is nothing to read."""
        raise NotImplementedError(NO_DATA)

    def write(self, data: Any) -> None:
        """There is nowhere to write."""
        raise NotImplementedError(NO_DATA)

    def pointer(self) -> int:
        """Meta storages have no address."""
        return 0

    def reallocated(self, nbytes: int) -> MetaAllocation:
        """Another length."""
        return MetaAllocation(nbytes)


pinned_memory: list[Callable[[int], Allocation]] = []
"""Makes a page-locked block, where a backend has registered how."""

_has_device: list[Callable[[], bool]] = []


def register_pinning(make: Callable[[int], Allocation], has_device: Callable[[], bool]) -> None:
    """Let `pin_memory` take its blocks from `make` while there is a device that they are for."""
    pinned_memory[:], _has_device[:] = [make], [has_device]


def can_pin() -> bool:
    """Return whether memory can be page-locked: a backend has registered how, and has a device."""
    return bool(pinned_memory) and _has_device[0]()


def put(allocation: Allocation, content: np.ndarray[Any, Any]) -> None:
    """Write bytes into memory of their length, wherever that is; a length without bytes takes none."""
    if allocation.buffer is not None:
        allocation.buffer[:] = content
    elif not isinstance(allocation, MetaAllocation):
        allocation.write(content)


def placed(device: Device, allocation: Allocation) -> Device:
    """Return where memory lies: a device that was named without an index is the one whose memory it is."""
    index = getattr(allocation, "device", None)
    return device if index is None or device.index is not None else intern_device(device.type, index)

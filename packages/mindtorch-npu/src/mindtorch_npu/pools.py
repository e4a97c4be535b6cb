"""Private pools of device memory, allocators of other libraries, and how Python's callers switch caching off."""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import threading
from collections.abc import Iterator
from typing import Any

from mindtorch_npu import runtime
from mindtorch_npu.allocator import NpuAllocator, allocator_of, allocators, use_allocator
from mindtorch_npu.device import current_device, device_index
from mindtorch_npu.typing import DeviceLike

_numbers = itertools.count(1)


def next_pool() -> int:
    """Return the number of a new pool."""
    return next(_numbers)


class MemPool:
    """A pool of its own for what is allocated within `use_mem_pool`; its memory goes back when it is given up.

    >>> pool = torch.npu.MemPool()
    >>> with torch.npu.use_mem_pool(pool):
    ...     x = torch.ones(1024, device="npu")
    >>> len(pool.snapshot()) > 0
    True
    """

    def __init__(self, allocator: Any = None, use_on_oom: bool = False, no_split: bool = False) -> None:
        if allocator is not None or use_on_oom or no_split:
            raise NotImplementedError("torch.npu.MemPool: an allocator, use_on_oom and no_split are not supported")
        runtime.init()
        self._id = (0, next(_numbers))
        self._uses = 1
        self.device = current_device()

    @property
    def id(self) -> tuple[int, int]:
        """The pool's identity, as in snapshots."""
        return self._id

    @property
    def allocator(self) -> None:
        """None: the device's own allocator serves the pool."""
        return None

    def use_count(self) -> int:
        """Return how many hold the pool: itself and the blocks of code that allocate from it."""
        return self._uses

    def snapshot(self, include_traces: bool = True) -> list[dict[str, Any]]:
        """Return the pool's segments with their blocks."""
        found = (segment for allocator in allocators().values() for segment in allocator.snapshot())
        return [segment for segment in found if tuple(segment["segment_pool_id"]) == self._id]


@contextlib.contextmanager
def use_mem_pool(pool: MemPool, device: DeviceLike | None = None) -> Iterator[None]:
    """Serve this thread's requests on a device from a pool within the block.

    >>> pool = torch.npu.MemPool()
    >>> with torch.npu.use_mem_pool(pool):
    ...     x = torch.ones(1024, device="npu")
    >>> pool.use_count() >= 1
    True
    """
    allocator, thread = allocator_of(device_index(device)), threading.get_ident()
    allocator.begin_pool(pool.id, lambda stream: threading.get_ident() == thread)
    pool._uses += 1
    try:
        yield
    finally:
        pool._uses -= 1
        allocator.end_pool(pool.id)


def caching_allocator_enable(value: bool = True) -> None:
    """Let released memory be kept for the next request, or give it back at once.

    >>> torch.npu.caching_allocator_enable(True)
    >>> torch.ones(2, device="npu").tolist()
    [1.0, 1.0]
    """
    for index in range(runtime.device_count()):
        allocator_of(index).set_caching(bool(value))


@contextlib.contextmanager
def caching_allocator_disabled() -> Iterator[None]:
    """Take memory from the device and give it back at once within the block.

    >>> with torch.npu.caching_allocator_disabled():
    ...     print(torch.ones(2, device="npu").tolist())
    [1.0, 1.0]
    """
    before = {index: allocator_of(index).caching for index in range(runtime.device_count())}
    caching_allocator_enable(False)
    try:
        yield
    finally:
        for index, caching in before.items():
            allocator_of(index).set_caching(caching)


class NPUPluggableAllocator:
    """Two functions of a shared library that give and take device memory.

    `void* alloc(size_t size, int device, void* stream)` and
    `void free(void* address, size_t size, int device, void* stream)`.

    >>> torch.npu.NPUPluggableAllocator("no-such-library.so", "malloc", "free")
    Traceback (most recent call last):
        ...
    OSError: no-such-library.so: cannot open shared object file: No such file or directory
    """

    def __init__(self, path_to_so_file: str, alloc_fn_name: str, free_fn_name: str) -> None:
        library = ctypes.CDLL(path_to_so_file)
        place, size, number = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
        self._alloc = ctypes.CFUNCTYPE(place, size, number, place)((alloc_fn_name, library))
        self._free = ctypes.CFUNCTYPE(None, place, size, number, place)((free_fn_name, library))

    def allocator(self) -> NPUPluggableAllocator:
        """Return the allocator itself."""
        return self


class Plugged(NpuAllocator):
    """A device's allocator whose memory comes from functions of another library; nothing is cached."""

    functions: NPUPluggableAllocator

    def malloc(self, size: int, stream: int = 0) -> int:
        """Return what the library's function gives for so many bytes, 0 for none."""
        if size <= 0:
            return 0
        runtime.on(self.device_id)
        address = int(self.functions._alloc(size, self.device_id, stream) or 0)
        if not address:
            raise RuntimeError(f"the pluggable allocator gave no memory for {size} bytes")
        self._direct[address] = (size, stream)
        return address

    def _free(self, address: int) -> None:
        size, stream = self._direct.pop(address)
        self.driver.synchronize()
        self.functions._free(address, size, self.device_id, stream)


def change_current_allocator(allocator: NPUPluggableAllocator) -> None:
    """Let all device memory come from another library. Raises RuntimeError when some has been allocated before."""
    if allocators():
        raise RuntimeError("Can't swap an already initialized allocator")
    use_allocator(type("Plugged", (Plugged,), {"functions": allocator.allocator()}))

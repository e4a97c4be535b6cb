"""Pinned host memory: page-locked blocks that copies use while the program goes on, kept for the next request."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict, defaultdict
from typing import Any

from mindtorch_npu import runtime
from mindtorch_npu.acl.errors import check
from mindtorch_npu.allocator import allocator_of, host_options
from mindtorch_npu.allocator.gate import Gate
from mindtorch_npu.allocator.statistics import Stat

LEAST = 4096
"""Blocks are powers of two from here on."""
AMOUNTS = ("allocations", "allocated_bytes", "active_requests", "active_bytes")
TIMES = ("host_alloc_time", "host_free_time")


class Timing:
    """How long the driver took: microseconds."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Begin anew."""
        self.total = self.most = self.least = self.count = 0

    def add(self, since: int) -> None:
        """Count a call that began at `since`, in nanoseconds of the monotonic clock."""
        took = (time.monotonic_ns() - since) // 1000
        self.least = took if not self.count else min(self.least, took)
        self.total, self.most, self.count = self.total + took, max(self.most, took), self.count + 1

    def shown(self) -> dict[str, int]:
        """Return the numbers under torch's names."""
        average = self.total // self.count if self.count else 0
        return {"total": self.total, "max": self.most, "min": self.least, "count": self.count, "avg": average}


def rounded(size: int) -> int:
    """Return the size of the block for a request: the next power of two, unless the options end that earlier."""
    if size > host_options().pinned_max_round_threshold:
        return size
    return max(LEAST, 1 << (size - 1).bit_length())


class HostAllocator:
    """The pinned memory of this process. Thread safe."""

    def __init__(self) -> None:
        self._gate = Gate(self._free)
        self._used: dict[int, tuple[int, dict[tuple[int, int], None]]] = {}
        self._kept: defaultdict[int, list[int]] = defaultdict(list)
        self._waiting: list[tuple[list[tuple[int, Any]], int, int]] = []
        self.stats = {name: Stat() for name in AMOUNTS}
        self.timings = {name: Timing() for name in TIMES}
        self.counters = {"num_host_alloc": 0, "num_host_free": 0}

    def malloc(self, size: int) -> int:
        """Return the address of `size` bytes, 0 for none. Raises AclError when the driver has no more."""
        if size <= 0:
            return 0
        whole = rounded(size)
        with self._gate:
            self._settle()
            address = self._kept[whole].pop() if self._kept[whole] else self._take(whole)
            self._used[address] = (whole, {})
            self.stats["active_requests"].rise(1)
            self.stats["active_bytes"].rise(whole)
        return address

    def _take(self, size: int) -> int:
        acl, since = runtime.init(), time.monotonic_ns()
        if runtime.thread_device() is None:
            runtime.on(0)
        address, code = acl.rt.malloc_host(size)
        check(code, f"acl.rt.malloc_host({size})", acl)
        self.timings["host_alloc_time"].add(since)
        self.counters["num_host_alloc"] += 1
        self.stats["allocations"].rise(1)
        self.stats["allocated_bytes"].rise(size)
        return int(address)

    def free(self, address: int) -> None:
        """Take a block back, when the copies that use it are over. Raises RuntimeError for another address."""
        with self._gate:
            self._free(address)

    def drop(self, address: int) -> None:
        """As `free`, from a finalizer."""
        if runtime.is_initialized():
            self._gate.leave(address)

    def _free(self, address: int) -> None:
        if address not in self._used:
            raise RuntimeError(f"{address:#x} is no pinned memory in use")
        size, uses = self._used.pop(address)
        self.stats["active_requests"].fall(1)
        self.stats["active_bytes"].fall(size)
        if uses:
            events = [(device, allocator_of(device).driver.record(stream)) for device, stream in uses]
            self._waiting.append((events, address, size))
        else:
            self._keep(address, size)

    def _keep(self, address: int, size: int) -> None:
        if size > host_options().pinned_max_cached_size:
            self._give_back(address, size)
        else:
            self._kept[size].append(address)

    def _settle(self) -> None:
        waiting, self._waiting = self._waiting, []
        for events, address, size in waiting:
            left = [(device, event) for device, event in events if not allocator_of(device).driver.complete(event)]
            if left:
                self._waiting.append((left, address, size))
            else:
                self._keep(address, size)

    def _give_back(self, address: int, size: int) -> None:
        acl, since = runtime.init(), time.monotonic_ns()
        check(acl.rt.free_host(address), f"acl.rt.free_host({address:#x})", acl)
        self.timings["host_free_time"].add(since)
        self.counters["num_host_free"] += 1
        self.stats["allocations"].fall(1)
        self.stats["allocated_bytes"].fall(size)

    def owns(self, address: int, size: int = 1) -> int:
        """Return the start of the block in use around these bytes, 0 when there is none."""
        for start, (whole, _) in list(self._used.items()):
            if start <= address and address + size <= start + whole:
                return start
        return 0

    def record(self, address: int, device: int, stream: int) -> None:
        """Remember that a copy on a stream uses the block around an address; other memory is ignored."""
        with self._gate:
            start = self.owns(address)
            if start:
                self._used[start][1][device, stream] = None

    def empty_cache(self) -> None:
        """Give every block back that no tensor and no copy uses."""
        with self._gate:
            self._settle()
            for size, addresses in self._kept.items():
                for address in addresses:
                    self._give_back(address, size)
            self._kept.clear()

    def nested(self) -> dict[str, Any]:
        """Return the counters by name."""
        with self._gate:
            amounts = {name: stat.as_dict() for name, stat in self.stats.items()}
            return {**amounts, **self.counters, **{name: timing.shown() for name, timing in self.timings.items()}}


_lock = threading.Lock()
_allocator: list[HostAllocator] = []


def host_allocator() -> HostAllocator:
    """Return the process's allocator of pinned memory."""
    with _lock:
        if not _allocator:
            _allocator.append(HostAllocator())
    return _allocator[0]


def _forget() -> None:
    _allocator.clear()  # the driver takes its memory back with the runtime


runtime.at_exit(_forget)


def host_memory_stats_as_nested_dict() -> dict[str, Any]:
    """Return the counters of pinned memory, {} before the runtime is initialised.

    >>> "allocated_bytes" in torch.npu.host_memory_stats_as_nested_dict()
    True
    """
    return host_allocator().nested() if runtime.is_initialized() else {}


def host_memory_stats() -> dict[str, Any]:
    """Return the counters of pinned memory under dotted names, sorted.

    >>> torch.npu.host_empty_cache()
    >>> "allocated_bytes.current" in torch.npu.host_memory_stats()
    True
    """
    found: dict[str, Any] = {}
    for name, value in host_memory_stats_as_nested_dict().items():
        if isinstance(value, dict):
            found.update({f"{name}.{key}": number for key, number in value.items()})
        else:
            found[name] = value
    return OrderedDict(sorted(found.items()))


def reset_accumulated_host_memory_stats() -> None:
    """Let the sums of the counters of pinned memory begin anew.

    >>> torch.npu.reset_accumulated_host_memory_stats()
    >>> torch.npu.host_memory_stats()["num_host_alloc"]
    0
    """
    allocator = host_allocator()
    for stat in allocator.stats.values():
        stat.allocated = stat.freed = 0
    for timing in allocator.timings.values():
        timing.clear()
    allocator.counters.update(dict.fromkeys(allocator.counters, 0))


def reset_peak_host_memory_stats() -> None:
    """Let the peaks of pinned memory be the present values.

    >>> torch.npu.reset_peak_host_memory_stats()
    >>> found = torch.npu.host_memory_stats()
    >>> found["allocated_bytes.peak"] == found["allocated_bytes.current"]
    True
    """
    for stat in host_allocator().stats.values():
        stat.peak = stat.current


def host_empty_cache() -> None:
    """Give unused pinned memory back to the system.

    >>> torch.npu.host_empty_cache()
    >>> torch.npu.host_memory_stats()["allocated_bytes.current"] >= 0
    True
    """
    if runtime.is_initialized():
        host_allocator().empty_cache()

"""Memory of XPUs: the statistics of nothing, and functions that need a device and raise."""

import collections
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from mindtorch._absent import Allocator, DeviceLike, dummy_base, load_allocator, no_binding
from mindtorch._naming import adopt
from mindtorch.xpu import _lazy

__all__ = [
    "MemPool",
    "XPUPluggableAllocator",
    "change_current_allocator",
    "empty_cache",
    "get_per_process_memory_fraction",
    "max_memory_allocated",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_reserved",
    "memory_snapshot",
    "memory_stats",
    "memory_stats_as_nested_dict",
    "reset_accumulated_memory_stats",
    "reset_peak_memory_stats",
    "set_per_process_memory_fraction",
    "use_mem_pool",
]

_XPUMemPool: Any = dummy_base("_XPUMemPool")


class MemPool(_XPUMemPool):
    """A private pool of device memory; making one raises."""

    def __new__(cls, allocator: Any = None, use_on_oom: bool = False) -> NoReturn:
        return super().__new__(cls)


class _XPUAllocator(Allocator):
    """An allocator of device memory."""


class XPUPluggableAllocator(_XPUAllocator):
    """An allocator from a shared library; making one loads the library, then raises."""

    def __init__(self, path_to_lib_file: str, alloc_fn_name: str, free_fn_name: str) -> None:
        load_allocator(path_to_lib_file, (alloc_fn_name, free_fn_name), "_xpu_customAllocator")


def change_current_allocator(allocator: _XPUAllocator) -> None:
    """Choose another allocator; raises, there is none to change."""
    no_binding("_xpu_changeCurrentAllocator")


def set_per_process_memory_fraction(fraction: float, device: DeviceLike = None) -> None:
    """Limit this process's share of a device's memory; raises, there is no device."""
    _lazy.refuse()


def get_per_process_memory_fraction(device: DeviceLike = None) -> float:
    """Return this process's share of a device's memory; raises, there is no device."""
    _lazy.refuse()


def empty_cache() -> None:
    """Give cached memory back to the devices; there is none."""


def memory_stats(device: DeviceLike = None) -> dict[str, Any]:
    """Return the statistics of the allocator: empty."""
    return collections.OrderedDict()


def memory_stats_as_nested_dict(device: DeviceLike = None) -> dict[str, Any]:
    """Return the statistics of the allocator as nested dictionaries: empty."""
    return {}


def memory_snapshot(mempool_id: tuple[int, int] | None = None) -> list[dict[str, Any]]:
    """Return the allocator's blocks: none."""
    return []


def memory_allocated(device: DeviceLike = None) -> int:
    """Return the bytes that tensors take: 0."""
    return 0


def max_memory_allocated(device: DeviceLike = None) -> int:
    """Return the most bytes that tensors took: 0."""
    return 0


def memory_reserved(device: DeviceLike = None) -> int:
    """Return the bytes that the allocator holds: 0."""
    return 0


def max_memory_reserved(device: DeviceLike = None) -> int:
    """Return the most bytes that the allocator held: 0."""
    return 0


def reset_accumulated_memory_stats(device: DeviceLike = None) -> None:
    """Reset counters; raises, there are none."""
    no_binding("_xpu_resetAccumulatedMemoryStats")


def reset_peak_memory_stats(device: DeviceLike = None) -> None:
    """Reset peaks; raises, there are none."""
    no_binding("_xpu_resetPeakMemoryStats")


def mem_get_info(device: DeviceLike = None) -> tuple[int, int]:
    """Return free and total bytes of a device; raises, there is none."""
    _lazy.refuse()


@contextmanager
def use_mem_pool(pool: MemPool, device: DeviceLike = None) -> Iterator[None]:
    """Context manager that allocates from ``pool``; raises on entry."""
    _lazy.refuse()
    yield


adopt(globals())

"""Memory of accelerators: the statistics of nothing, and functions that need a device and raise."""

import collections
from typing import Any

from mindtorch._absent import DeviceLike, no_binding
from mindtorch._absent.initialization import _kind, refuse

__all__ = [
    "empty_cache",
    "get_per_process_memory_fraction",
    "max_memory_allocated",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "memory_stats_as_nested_dict",
    "reset_accumulated_memory_stats",
    "reset_peak_memory_stats",
    "set_per_process_memory_fraction",
]


def set_per_process_memory_fraction(fraction: float, device: DeviceLike = None) -> None:
    """Limit this process's share of a device's memory; raises, there is no device.

    >>> torch.KIND.set_per_process_memory_fraction(0.5)
    Traceback (most recent call last):
        ...
    AssertionError: Torch not compiled with KIND enabled
    """
    refuse()


def get_per_process_memory_fraction(device: DeviceLike = None) -> float:
    """Return this process's share of a device's memory; raises, there is no device.

    >>> torch.KIND.get_per_process_memory_fraction()
    Traceback (most recent call last):
        ...
    AssertionError: Torch not compiled with KIND enabled
    """
    refuse()


def empty_cache() -> None:
    """Give cached memory back to the devices; there is none.

    >>> torch.KIND.empty_cache()
    >>> torch.KIND.is_initialized()
    False
    """


def memory_stats(device: DeviceLike = None) -> dict[str, Any]:
    """Return the statistics of the allocator: empty.

    >>> torch.KIND.memory_stats()
    OrderedDict()
    """
    return collections.OrderedDict()


def memory_stats_as_nested_dict(device: DeviceLike = None) -> dict[str, Any]:
    """Return the statistics of the allocator as nested dictionaries: empty.

    >>> torch.KIND.memory_stats_as_nested_dict()
    {}
    """
    return {}


def reset_accumulated_memory_stats(device: DeviceLike = None) -> None:
    """Reset counters; raises, there are none.

    >>> torch.KIND.reset_accumulated_memory_stats()
    Traceback (most recent call last):
        ...
    AttributeError: module 'torch._C' has no attribute '_KIND_resetAccumulatedMemoryStats'
    """
    no_binding(f"_{_kind}_resetAccumulatedMemoryStats")


def reset_peak_memory_stats(device: DeviceLike = None) -> None:
    """Reset peaks; raises, there are none.

    >>> torch.KIND.reset_peak_memory_stats()
    Traceback (most recent call last):
        ...
    AttributeError: module 'torch._C' has no attribute '_KIND_resetPeakMemoryStats'
    """
    no_binding(f"_{_kind}_resetPeakMemoryStats")


def memory_allocated(device: DeviceLike = None) -> int:
    """Return the bytes that tensors take: 0.

    >>> torch.KIND.memory_allocated()
    0
    """
    return 0


def max_memory_allocated(device: DeviceLike = None) -> int:
    """Return the most bytes that tensors took: 0.

    >>> torch.KIND.max_memory_allocated()
    0
    """
    return 0


def memory_reserved(device: DeviceLike = None) -> int:
    """Return the bytes that the allocator holds: 0.

    >>> torch.KIND.memory_reserved()
    0
    """
    return 0


def max_memory_reserved(device: DeviceLike = None) -> int:
    """Return the most bytes that the allocator held: 0.

    >>> torch.KIND.max_memory_reserved()
    0
    """
    return 0


def mem_get_info(device: DeviceLike = None) -> tuple[int, int]:
    """Return free and total bytes of a device; raises, there is none.

    >>> torch.KIND.mem_get_info()
    Traceback (most recent call last):
        ...
    AssertionError: Torch not compiled with KIND enabled
    """
    refuse()

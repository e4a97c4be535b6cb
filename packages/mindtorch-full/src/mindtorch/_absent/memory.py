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
    """Limit this process's share of a device's memory; raises, there is no device."""
    refuse()


def get_per_process_memory_fraction(device: DeviceLike = None) -> float:
    """Return this process's share of a device's memory; raises, there is no device."""
    refuse()


def empty_cache() -> None:
    """Give cached memory back to the devices; there is none."""


def memory_stats(device: DeviceLike = None) -> dict[str, Any]:
    """Return the statistics of the allocator: empty."""
    return collections.OrderedDict()


def memory_stats_as_nested_dict(device: DeviceLike = None) -> dict[str, Any]:
    """Return the statistics of the allocator as nested dictionaries: empty."""
    return {}


def reset_accumulated_memory_stats(device: DeviceLike = None) -> None:
    """Reset counters; raises, there are none."""
    no_binding(f"_{_kind}_resetAccumulatedMemoryStats")


def reset_peak_memory_stats(device: DeviceLike = None) -> None:
    """Reset peaks; raises, there are none."""
    no_binding(f"_{_kind}_resetPeakMemoryStats")


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


def mem_get_info(device: DeviceLike = None) -> tuple[int, int]:
    """Return free and total bytes of a device; raises, there is none."""
    refuse()

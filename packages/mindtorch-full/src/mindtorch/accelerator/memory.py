"""Memory of the current accelerator: raises, there is none."""

from collections import OrderedDict
from typing import Any

from mindtorch._absent import DeviceLike
from mindtorch._naming import adopt
from mindtorch.accelerator import _none

__all__ = [
    "empty_cache",
    "empty_host_cache",
    "get_memory_info",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_accumulated_memory_stats",
    "reset_peak_memory_stats",
]


def empty_cache() -> None:
    """Give cached memory back to the device; raises."""
    _none.refuse()


def empty_host_cache() -> None:
    """Give cached pinned memory back; raises."""
    _none.refuse()


def memory_stats(device_index: DeviceLike = None, /) -> OrderedDict[str, Any]:
    """Return the statistics of the allocator; raises."""
    _none.refuse()


def memory_allocated(device_index: DeviceLike = None, /) -> int:
    """Return the bytes that tensors take; raises."""
    _none.refuse()


def max_memory_allocated(device_index: DeviceLike = None, /) -> int:
    """Return the most bytes that tensors took; raises."""
    _none.refuse()


def memory_reserved(device_index: DeviceLike = None, /) -> int:
    """Return the bytes that the allocator holds; raises."""
    _none.refuse()


def max_memory_reserved(device_index: DeviceLike = None, /) -> int:
    """Return the most bytes that the allocator held; raises."""
    _none.refuse()


def reset_accumulated_memory_stats(device_index: DeviceLike = None, /) -> None:
    """Reset counters; raises."""
    _none.refuse()


def reset_peak_memory_stats(device_index: DeviceLike = None, /) -> None:
    """Reset peaks; raises."""
    _none.refuse()


def get_memory_info(device_index: DeviceLike = None, /) -> tuple[int, int]:
    """Return free and total bytes; raises."""
    _none.refuse()


adopt(globals())

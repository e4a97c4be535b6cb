"""`torch.mtia.memory`: how much memory a device has in use, where there is a device."""

from typing import Any

from mindtorch._absent import DeviceLike
from mindtorch._naming import adopt

__all__ = ["max_memory_allocated", "memory_allocated", "memory_stats", "reset_peak_memory_stats"]


def memory_stats(device: DeviceLike = None) -> dict[str, Any]:
    """Return figures of a device's memory: none, there is no device.

    >>> torch.mtia.memory_stats()
    {}
    """
    return {}


def memory_allocated(device: DeviceLike = None) -> int:
    """Return the bytes in use on a device: 0.

    >>> torch.mtia.memory_allocated()
    0
    """
    return 0


def max_memory_allocated(device: DeviceLike = None) -> int:
    """Return the most bytes that were in use on a device: 0.

    >>> torch.mtia.max_memory_allocated()
    0
    """
    return 0


def reset_peak_memory_stats(device: DeviceLike = None) -> None:
    """Begin to count the most bytes in use anew; there is nothing to count.

    >>> torch.mtia.reset_peak_memory_stats()
    >>> torch.mtia.is_initialized()
    False
    """


adopt(globals())

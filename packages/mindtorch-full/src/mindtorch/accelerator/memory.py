"""Memory of the current accelerator. Raises RuntimeError where there is none."""

from collections import OrderedDict
from typing import Any

from mindtorch._absent import DeviceLike
from mindtorch._naming import adopt
from mindtorch.accelerator import _none
from mindtorch.accelerator._npu import accelerator

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


def _backend() -> Any:
    npu = accelerator()
    return _none.refuse() if npu is None else npu


def empty_cache() -> None:
    """Give cached memory back to the device. Raises RuntimeError where there is no accelerator.

    >>> torch.accelerator.empty_cache()
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot access accelerator device when none is available.
    """
    return _backend().empty_cache()


def empty_host_cache() -> None:
    """Give cached pinned memory back to the system. Raises RuntimeError where there is no accelerator.

    >>> torch.accelerator.empty_host_cache()
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot access accelerator device when none is available.
    """
    return _backend().host_empty_cache()


def memory_stats(device_index: DeviceLike = None, /) -> OrderedDict[str, Any]:
    """Return the statistics of the allocator. Raises RuntimeError where there is no accelerator.

    >>> torch.accelerator.memory_stats()
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot access accelerator device when none is available.
    """
    return _backend().memory_stats(device_index)


def memory_allocated(device_index: DeviceLike = None, /) -> int:
    """Return the bytes that tensors take. Raises RuntimeError where there is no accelerator.

    >>> torch.accelerator.memory_allocated()
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot access accelerator device when none is available.
    """
    return _backend().memory_allocated(device_index)


def max_memory_allocated(device_index: DeviceLike = None, /) -> int:
    """Return the most bytes that tensors took. Raises RuntimeError where there is no accelerator.

    >>> torch.accelerator.max_memory_allocated()
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot access accelerator device when none is available.
    """
    return _backend().max_memory_allocated(device_index)


def memory_reserved(device_index: DeviceLike = None, /) -> int:
    """Return the bytes that the allocator holds. Raises RuntimeError where there is no accelerator.

    >>> torch.accelerator.memory_reserved()
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot access accelerator device when none is available.
    """
    return _backend().memory_reserved(device_index)


def max_memory_reserved(device_index: DeviceLike = None, /) -> int:
    """Return the most bytes that the allocator held. Raises RuntimeError where there is no accelerator.

    >>> torch.accelerator.max_memory_reserved()
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot access accelerator device when none is available.
    """
    return _backend().max_memory_reserved(device_index)


def reset_accumulated_memory_stats(device_index: DeviceLike = None, /) -> None:
    """Reset counters. Raises RuntimeError where there is no accelerator.

    >>> torch.accelerator.reset_accumulated_memory_stats()
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot access accelerator device when none is available.
    """
    return _backend().reset_accumulated_memory_stats(device_index)


def reset_peak_memory_stats(device_index: DeviceLike = None, /) -> None:
    """Reset peaks. Raises RuntimeError where there is no accelerator.

    >>> torch.accelerator.reset_peak_memory_stats()
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot access accelerator device when none is available.
    """
    return _backend().reset_peak_memory_stats(device_index)


def get_memory_info(device_index: DeviceLike = None, /) -> tuple[int, int]:
    """Return free and total bytes. Raises RuntimeError where there is no accelerator.

    >>> torch.accelerator.get_memory_info()
    Traceback (most recent call last):
        ...
    RuntimeError: Cannot access accelerator device when none is available.
    """
    return _backend().mem_get_info(device_index)


adopt(globals())

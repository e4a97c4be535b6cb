"""Memory of CUDA devices: the statistics of nothing, and functions that need a device and raise."""

import collections
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from mindtorch._absent import Allocator, DeviceLike, dummy_base, load_allocator, no_binding, own_copies
from mindtorch._absent.memory import *  # noqa: F403 - they become functions of this module
from mindtorch._absent.memory import __all__ as _of_all_accelerators
from mindtorch._absent.memory import reset_peak_memory_stats
from mindtorch._naming import adopt
from mindtorch.cuda._lazy import refuse

__all__ = [
    *_of_all_accelerators,
    "CUDAPluggableAllocator",
    "MemPool",
    "caching_allocator_alloc",
    "caching_allocator_delete",
    "caching_allocator_disabled",
    "caching_allocator_enable",
    "change_current_allocator",
    "get_allocator_backend",
    "host_memory_stats",
    "host_memory_stats_as_nested_dict",
    "list_gpu_processes",
    "max_memory_cached",
    "memory_cached",
    "memory_snapshot",
    "memory_summary",
    "reset_accumulated_host_memory_stats",
    "reset_max_memory_allocated",
    "reset_max_memory_cached",
    "reset_peak_host_memory_stats",
    "use_mem_pool",
]

_MemPool: Any = dummy_base("_MemPool")


class MemPool(_MemPool):
    """A private pool of device memory; making one raises.

    >>> torch.cuda.MemPool()
    Traceback (most recent call last):
        ...
    RuntimeError: Tried to instantiate dummy base class MemPool
    """

    def __new__(cls, allocator: Any = None, use_on_oom: bool = False, no_split: bool = False) -> NoReturn:
        return super().__new__(cls)


class _CUDAAllocator(Allocator):
    """An allocator of device memory."""


class CUDAPluggableAllocator(_CUDAAllocator):
    """An allocator from a shared library; making one loads the library, then raises.

    >>> torch.cuda.CUDAPluggableAllocator("none.so", "malloc", "free")
    Traceback (most recent call last):
        ...
    OSError: none.so: cannot open shared object file: No such file or directory
    """

    def __init__(self, path_to_so_file: str, alloc_fn_name: str, free_fn_name: str) -> None:
        load_allocator(path_to_so_file, (alloc_fn_name, free_fn_name), "_cuda_customAllocator")


def caching_allocator_alloc(size: int, device: DeviceLike = None, stream: Any = None) -> int:
    """Allocate device memory; raises, there is no device.

    >>> torch.cuda.caching_allocator_alloc(64)
    Traceback (most recent call last):
        ...
    AssertionError: Torch not compiled with CUDA enabled
    """
    refuse()


def caching_allocator_delete(mem_ptr: int) -> None:
    """Free what `caching_allocator_alloc` returned; raises, there is none.

    >>> torch.cuda.caching_allocator_delete(0)
    Traceback (most recent call last):
        ...
    AttributeError: module 'torch._C' has no attribute '_cuda_cudaCachingAllocator_raw_delete'
    """
    no_binding("_cuda_cudaCachingAllocator_raw_delete")


def caching_allocator_enable(value: bool = True) -> None:
    """Turn caching of device memory on or off; without a device there is none to turn.

    >>> torch.cuda.caching_allocator_enable(False)
    >>> torch.cuda.is_initialized()
    False
    """


@contextmanager
def caching_allocator_disabled() -> Iterator[None]:
    """Context manager that turns caching off; raises on entry.

    >>> with torch.cuda.caching_allocator_disabled():
    ...     print("inside")
    Traceback (most recent call last):
        ...
    AttributeError: module 'torch._C' has no attribute '_cuda_cudaCachingAllocator_is_enabled'
    """
    no_binding("_cuda_cudaCachingAllocator_is_enabled")
    yield


def change_current_allocator(allocator: _CUDAAllocator) -> None:
    """Choose another allocator; raises, there is none to change.

    >>> torch.cuda.change_current_allocator(None)
    Traceback (most recent call last):
        ...
    AttributeError: module 'torch._C' has no attribute '_cuda_changeCurrentAllocator'
    """
    no_binding("_cuda_changeCurrentAllocator")


def get_allocator_backend() -> str:
    """Return the name of the active allocator; raises, there is none.

    >>> torch.cuda.get_allocator_backend()
    Traceback (most recent call last):
        ...
    AttributeError: module 'torch._C' has no attribute '_cuda_getAllocatorBackend'
    """
    no_binding("_cuda_getAllocatorBackend")


def host_memory_stats() -> dict[str, Any]:
    """Return the statistics of pinned memory: empty.

    >>> torch.cuda.host_memory_stats()
    OrderedDict()
    """
    return collections.OrderedDict()


def host_memory_stats_as_nested_dict() -> dict[str, Any]:
    """Return the statistics of pinned memory as nested dictionaries: empty.

    >>> torch.cuda.host_memory_stats_as_nested_dict()
    {}
    """
    return {}


def reset_accumulated_host_memory_stats() -> None:
    """Reset counters of pinned memory; raises, there are none.

    >>> torch.cuda.reset_accumulated_host_memory_stats()
    Traceback (most recent call last):
        ...
    AttributeError: module 'torch._C' has no attribute '_cuda_resetAccumulatedHostMemoryStats'
    """
    no_binding("_cuda_resetAccumulatedHostMemoryStats")


def reset_peak_host_memory_stats() -> None:
    """Reset peaks of pinned memory; raises, there are none.

    >>> torch.cuda.reset_peak_host_memory_stats()
    Traceback (most recent call last):
        ...
    AttributeError: module 'torch._C' has no attribute '_cuda_resetPeakHostMemoryStats'
    """
    no_binding("_cuda_resetPeakHostMemoryStats")


def reset_max_memory_allocated(device: DeviceLike = None) -> None:
    """Reset peaks, under an old name.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> torch.cuda.reset_max_memory_allocated()
    Traceback (most recent call last):
        ...
    AttributeError: module 'torch._C' has no attribute '_cuda_resetPeakMemoryStats'
    """
    _warn_reset("reset_max_memory_allocated")
    reset_peak_memory_stats(device)


def reset_max_memory_cached(device: DeviceLike = None) -> None:
    """Reset peaks, under an old name.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> torch.cuda.reset_max_memory_cached()
    Traceback (most recent call last):
        ...
    AttributeError: module 'torch._C' has no attribute '_cuda_resetPeakMemoryStats'
    """
    _warn_reset("reset_max_memory_cached")
    reset_peak_memory_stats(device)


def _warn_reset(name: str) -> None:
    warnings.warn(
        f"torch.cuda.{name} now calls torch.cuda.reset_peak_memory_stats, which resets /all/ peak memory stats.",
        FutureWarning,
        stacklevel=3,
    )


def memory_cached(device: DeviceLike = None) -> int:
    """Return :func:`memory_reserved`, under an old name.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> torch.cuda.memory_cached()
    0
    """
    warnings.warn(
        "`torch.cuda.memory_cached` has been renamed to `torch.cuda.memory_reserved`", FutureWarning, stacklevel=2
    )
    return 0


def max_memory_cached(device: DeviceLike = None) -> int:
    """Return :func:`max_memory_reserved`, under an old name.

    >>> import warnings
    >>> warnings.simplefilter("ignore")
    >>> torch.cuda.max_memory_cached()
    0
    """
    warnings.warn(
        "`torch.cuda.max_memory_cached` has been renamed to `torch.cuda.max_memory_reserved`",
        FutureWarning,
        stacklevel=2,
    )
    return 0


def memory_snapshot(mempool_id: Any = None, include_traces: bool = True) -> NoReturn:
    """Return the allocator's blocks; raises, there is none.

    >>> torch.cuda.memory_snapshot()
    Traceback (most recent call last):
        ...
    AttributeError: module 'torch._C' has no attribute '_cuda_memorySnapshot'
    """
    no_binding("_cuda_memorySnapshot")


def memory_summary(device: DeviceLike = None, abbreviated: bool = False) -> str:
    """Return the statistics as a table; raises, as they are empty.

    >>> print(torch.cuda.memory_summary())
    Traceback (most recent call last):
        ...
    KeyError: 'allocated_bytes.all.current'
    """
    raise KeyError("allocated_bytes.all.current")


def list_gpu_processes(device: DeviceLike = None) -> str:
    """Return the processes on a device as text: that the vendor's package is missing.

    >>> torch.cuda.list_gpu_processes()
    'pynvml module not found, please install nvidia-ml-py'
    """
    return "pynvml module not found, please install nvidia-ml-py"


@contextmanager
def use_mem_pool(pool: MemPool, device: DeviceLike = None) -> Iterator[None]:
    """Context manager that allocates from ``pool``; raises on entry.

    >>> with torch.cuda.use_mem_pool(None):
    ...     print("inside")
    Traceback (most recent call last):
        ...
    AssertionError: Torch not compiled with CUDA enabled
    """
    refuse()
    yield


def _record_memory_history(enabled: Any = "all", *args: Any, **kwargs: Any) -> None:
    no_binding("_cuda_record_memory_history")


def _snapshot(device: DeviceLike = None, augment_with_fx_traces: bool = False) -> NoReturn:
    no_binding("_cuda_memorySnapshot")


def _dump_snapshot(filename: str = "dump_snapshot.pickle", augment_with_fx_traces: bool = False) -> None:
    no_binding("_cuda_memorySnapshot")


def _get_current_allocator() -> NoReturn:
    no_binding("_cuda_getAllocator")


own_copies(globals(), "cuda")
adopt(globals())

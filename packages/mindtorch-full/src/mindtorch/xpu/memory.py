"""Memory of XPUs: the statistics of nothing, and functions that need a device and raise."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from mindtorch._absent import Allocator, DeviceLike, dummy_base, load_allocator, no_binding, own_copies
from mindtorch._absent.memory import *  # noqa: F403 - they become functions of this module
from mindtorch._absent.memory import __all__ as _of_all_accelerators
from mindtorch._naming import adopt
from mindtorch.xpu._lazy import refuse

__all__ = [
    *_of_all_accelerators,
    "MemPool",
    "XPUPluggableAllocator",
    "change_current_allocator",
    "memory_snapshot",
    "use_mem_pool",
]

_XPUMemPool: Any = dummy_base("_XPUMemPool")


class MemPool(_XPUMemPool):
    """A private pool of device memory; making one raises.

    >>> torch.xpu.MemPool()
    Traceback (most recent call last):
        ...
    RuntimeError: Tried to instantiate dummy base class MemPool
    """

    def __new__(cls, allocator: Any = None, use_on_oom: bool = False) -> NoReturn:
        return super().__new__(cls)


class _XPUAllocator(Allocator):
    """An allocator of device memory."""


class XPUPluggableAllocator(_XPUAllocator):
    """An allocator from a shared library; making one loads the library, then raises.

    >>> torch.xpu.XPUPluggableAllocator("none.so", "malloc", "free")
    Traceback (most recent call last):
        ...
    OSError: none.so: cannot open shared object file: No such file or directory
    """

    def __init__(self, path_to_lib_file: str, alloc_fn_name: str, free_fn_name: str) -> None:
        load_allocator(path_to_lib_file, (alloc_fn_name, free_fn_name), "_xpu_customAllocator")


def change_current_allocator(allocator: _XPUAllocator) -> None:
    """Choose another allocator; raises, there is none to change.

    >>> torch.xpu.change_current_allocator(None)
    Traceback (most recent call last):
        ...
    AttributeError: module 'torch._C' has no attribute '_xpu_changeCurrentAllocator'
    """
    no_binding("_xpu_changeCurrentAllocator")


def memory_snapshot(mempool_id: tuple[int, int] | None = None) -> list[dict[str, Any]]:
    """Return the allocator's blocks: none.

    >>> torch.xpu.memory_snapshot()
    []
    """
    return []


@contextmanager
def use_mem_pool(pool: MemPool, device: DeviceLike = None) -> Iterator[None]:
    """Context manager that allocates from ``pool``; raises on entry.

    >>> with torch.xpu.use_mem_pool(None):
    ...     print("inside")
    Traceback (most recent call last):
        ...
    AssertionError: Torch not compiled with XPU enabled
    """
    refuse()
    yield


own_copies(globals(), "xpu")
adopt(globals())

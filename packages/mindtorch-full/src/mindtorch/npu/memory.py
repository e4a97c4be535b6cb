"""`torch.npu.memory`: the memory functions of the runtime."""

from typing import Any

from mindtorch._naming import adopt
from mindtorch.tensor.pinned import marked_copy
from mindtorch_npu import hooks
from mindtorch_npu.host import (
    host_empty_cache,
    host_memory_stats,
    host_memory_stats_as_nested_dict,
    reset_accumulated_host_memory_stats,
    reset_peak_host_memory_stats,
)
from mindtorch_npu.memory import (
    allocation_traceback as _allocation_traceback,
)
from mindtorch_npu.memory import (
    caching_allocator_alloc,
    caching_allocator_delete,
    empty_cache,
    get_allocator_backend,
    get_per_process_memory_fraction,
    max_memory_allocated,
    max_memory_cached,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_cached,
    memory_reserved,
    memory_snapshot,
    memory_stats,
    memory_stats_as_nested_dict,
    memory_summary,
    reset_accumulated_memory_stats,
    reset_max_memory_allocated,
    reset_max_memory_cached,
    reset_peak_memory_stats,
    set_per_process_memory_fraction,
)
from mindtorch_npu.memory import (
    dump_snapshot as _dump_snapshot,
)
from mindtorch_npu.memory import (
    get_memory_metadata as _get_memory_metadata,
)
from mindtorch_npu.memory import (
    record_memory_history as _record_memory_history,
)
from mindtorch_npu.memory import (
    save_usage as _save_usage,
)
from mindtorch_npu.memory import (
    set_allocator_settings as _set_allocator_settings,
)
from mindtorch_npu.memory import (
    set_memory_metadata as _set_memory_metadata,
)
from mindtorch_npu.memory import (
    snapshot as _snapshot,
)
from mindtorch_npu.pools import (
    MemPool,
    NPUPluggableAllocator,
    caching_allocator_disabled,
    caching_allocator_enable,
    change_current_allocator,
    use_mem_pool,
)
from mindtorch_npu.smi import list_gpu_processes


def _get_current_allocator() -> Any:
    """Return the current device's allocator."""
    return hooks.allocator()


def pin_memory(tensor: Any) -> Any:
    """Return a copy of a CPU tensor in page-locked memory. Without a device it is ordinary memory that carries the mark, so
    that programs run alike on both; `Tensor.pin_memory` raises there, as torch's.

    >>> torch.npu.pin_memory(torch.ones(2)).is_pinned()
    True
    """
    return marked_copy(tensor)


def is_pinned(tensor: Any) -> bool:
    """Return whether a tensor's memory is page-locked, or carries the mark.

    >>> torch.npu.is_pinned(torch.ones(2)), torch.npu.is_pinned(torch.ones(2).pin_memory())
    (False, True)
    """
    pinned: bool = tensor.is_pinned()
    return pinned


def _save_segment_usage(filename: str = "output.html", snapshot: Any = None) -> None:
    """Write a page with a map of the segments of a snapshot, by default the present one."""
    _save_usage(filename, snapshot)


_save_memory_usage = _save_segment_usage

PRIVATE = (
    _allocation_traceback,
    _get_current_allocator,
    _save_memory_usage,
    _save_segment_usage,
    _dump_snapshot,
    _get_memory_metadata,
    _record_memory_history,
    _set_allocator_settings,
    _set_memory_metadata,
    _snapshot,
)
"""Names that programs use although they begin with an underscore."""

__all__ = [
    "MemPool",
    "NPUPluggableAllocator",
    "caching_allocator_alloc",
    "caching_allocator_delete",
    "caching_allocator_disabled",
    "caching_allocator_enable",
    "change_current_allocator",
    "empty_cache",
    "get_allocator_backend",
    "get_per_process_memory_fraction",
    "host_empty_cache",
    "host_memory_stats",
    "host_memory_stats_as_nested_dict",
    "is_pinned",
    "list_gpu_processes",
    "max_memory_allocated",
    "max_memory_cached",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_cached",
    "memory_reserved",
    "memory_snapshot",
    "memory_stats",
    "memory_stats_as_nested_dict",
    "memory_summary",
    "pin_memory",
    "reset_accumulated_host_memory_stats",
    "reset_accumulated_memory_stats",
    "reset_max_memory_allocated",
    "reset_max_memory_cached",
    "reset_peak_host_memory_stats",
    "reset_peak_memory_stats",
    "set_per_process_memory_fraction",
    "use_mem_pool",
]

adopt(globals())

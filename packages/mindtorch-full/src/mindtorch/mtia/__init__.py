"""`torch.mtia`: there is no such device; questions are answered, and what needs one raises."""

from __future__ import annotations

from mindtorch import Event as Event
from mindtorch import Stream as Stream
from mindtorch._naming import adopt
from mindtorch.mtia._device import (  # noqa: F401 - other libraries read the private names
    DeferredMtiaCallError,
    StreamContext,
    _get_device_index,
    _is_compiled,
    _is_in_bad_fork,
    _lazy_call,
    _lazy_init,
    attach_out_of_memory_observer,
    current_device,
    current_stream,
    default_stream,
    device,
    device_count,
    empty_cache,
    get_device_capability,
    get_device_properties,
    get_rng_state,
    get_rng_state_all,
    init,
    initial_seed,
    is_available,
    is_bf16_supported,
    is_initialized,
    manual_seed,
    manual_seed_all,
    record_memory_history,
    seed,
    seed_all,
    set_device,
    set_rng_state,
    set_rng_state_all,
    set_stream,
    snapshot,
    stream,
    synchronize,
)
from mindtorch.mtia.memory import max_memory_allocated, memory_allocated, memory_stats, reset_peak_memory_stats
from mindtorch.mtia.mtia_graph import MTIAGraph, graph, graph_pool_handle

__all__ = [
    "MTIAGraph",
    "attach_out_of_memory_observer",
    "current_device",
    "current_stream",
    "default_stream",
    "device",
    "device_count",
    "empty_cache",
    "get_device_capability",
    "get_device_properties",
    "get_rng_state",
    "get_rng_state_all",
    "graph",
    "graph_pool_handle",
    "init",
    "initial_seed",
    "is_available",
    "is_bf16_supported",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "memory_allocated",
    "memory_stats",
    "record_memory_history",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "set_device",
    "set_rng_state",
    "set_rng_state_all",
    "set_stream",
    "snapshot",
    "stream",
    "synchronize",
]


adopt(globals())

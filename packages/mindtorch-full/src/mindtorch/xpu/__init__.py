"""`torch.xpu` of a torch without XPU: it is not available, and what needs it raises (see `mindtorch._absent`)."""

from mindtorch._naming import adopt
from mindtorch.xpu import memory, random, streams
from mindtorch.xpu._current import StreamContext, current_stream, get_stream_from_external, set_stream, stream
from mindtorch.xpu._device import (  # noqa: F401 - other libraries read the private names
    _exchange_device,
    _get_device_index,
    _maybe_exchange_device,
    can_device_access_peer,
    clock_rate,
    current_device,
    device,
    device_memory_used,
    device_of,
    get_arch_list,
    get_device_capability,
    get_device_name,
    get_device_properties,
    get_gencode_flags,
    memory_usage,
    power_draw,
    set_device,
    synchronize,
    temperature,
    utilization,
)
from mindtorch.xpu._lazy import (  # noqa: F401 - other libraries read the private names
    _is_compiled,
    _is_in_bad_fork,
    _lazy_call,
    _lazy_init,
    default_generators,
    device_count,
    init,
    is_available,
    is_bf16_supported,
    is_initialized,
    is_tf32_supported,
)
from mindtorch.xpu.graphs import (
    XPUGraph,
    graph,
    graph_pool_handle,
    is_current_stream_capturing,
    make_graphed_callables,
)
from mindtorch.xpu.memory import *  # noqa: F403 - the names of its __all__
from mindtorch.xpu.random import *  # noqa: F403 - the names of its __all__
from mindtorch.xpu.streams import Event, Stream

__all__ = [
    *memory.__all__,
    *random.__all__,
    "Event",
    "Stream",
    "StreamContext",
    "XPUGraph",
    "can_device_access_peer",
    "clock_rate",
    "current_device",
    "current_stream",
    "default_generators",
    "device",
    "device_count",
    "device_memory_used",
    "device_of",
    "get_arch_list",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_gencode_flags",
    "get_stream_from_external",
    "graph",
    "graph_pool_handle",
    "init",
    "is_available",
    "is_bf16_supported",
    "is_current_stream_capturing",
    "is_initialized",
    "is_tf32_supported",
    "make_graphed_callables",
    "memory_usage",
    "power_draw",
    "set_device",
    "set_stream",
    "stream",
    "streams",
    "synchronize",
    "temperature",
    "utilization",
]

adopt(globals())

"""`torch.npu.streams`: streams and events of the runtime."""

from mindtorch._naming import adopt
from mindtorch._streams import accelerate
from mindtorch_npu.external_stream import ExternalStream, get_stream_from_external
from mindtorch_npu.stream import (
    Event,
    Stream,
    StreamContext,
    current_stream,
    default_stream,
    set_stream,
    stream,
)
from mindtorch_npu.stream_pools import stream_priority_range

__all__ = [
    "Event",
    "ExternalStream",
    "Stream",
    "StreamContext",
    "current_stream",
    "default_stream",
    "get_stream_from_external",
    "set_stream",
    "stream",
    "stream_priority_range",
]

adopt(globals())
accelerate("npu", Stream, Event)

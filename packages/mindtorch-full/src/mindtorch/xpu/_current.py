"""The current stream, and blocks that choose it."""

from mindtorch import _absent
from mindtorch._absent import DeviceLike
from mindtorch.xpu._lazy import refuse
from mindtorch.xpu.streams import Stream


class StreamContext(_absent.StreamContext):
    """Context manager that selects a stream. Without an XPU it does nothing."""


def stream(stream: Stream | None) -> StreamContext:
    """Return a context manager that selects ``stream``."""
    return StreamContext(stream)


def set_stream(stream: Stream) -> None:
    """Select a stream; None selects nothing, and there is no stream to select."""
    if stream is not None:
        refuse()


def current_stream(device: DeviceLike = None) -> Stream:
    """Return the current stream; raises, there is none."""
    refuse()


def get_stream_from_external(data_ptr: int, device: DeviceLike = None) -> Stream:
    """Return a stream made by another library; raises, there is none."""
    refuse()

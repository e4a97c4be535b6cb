"""The current stream, and blocks that choose it."""

from mindtorch import _absent
from mindtorch._absent import DeviceLike
from mindtorch.xpu._lazy import refuse
from mindtorch.xpu.streams import Stream


class StreamContext(_absent.StreamContext):
    """Context manager that selects a stream. Without an XPU it does nothing.

    >>> with torch.xpu.StreamContext(None) as given:
    ...     print(given)
    None
    """


def stream(stream: Stream | None) -> StreamContext:
    """Return a context manager that selects ``stream``.

    >>> with torch.xpu.stream(None):
    ...     print("inside")
    inside
    """
    return StreamContext(stream)


def set_stream(stream: Stream) -> None:
    """Select a stream; None selects nothing, and there is no stream to select.

    >>> torch.xpu.set_stream(None)
    >>> torch.xpu.is_initialized()
    False
    """
    if stream is not None:
        refuse()


def current_stream(device: DeviceLike = None) -> Stream:
    """Return the current stream; raises, there is none.

    >>> torch.xpu.current_stream()
    Traceback (most recent call last):
        ...
    AssertionError: Torch not compiled with XPU enabled
    """
    refuse()


def get_stream_from_external(data_ptr: int, device: DeviceLike = None) -> Stream:
    """Return a stream made by another library; raises, there is none.

    >>> torch.xpu.get_stream_from_external(0)
    Traceback (most recent call last):
        ...
    AssertionError: Torch not compiled with XPU enabled
    """
    refuse()

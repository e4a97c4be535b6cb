"""The current stream, and blocks that choose it."""

from mindtorch import _absent
from mindtorch._absent import DeviceLike
from mindtorch.cuda._lazy import refuse
from mindtorch.cuda.streams import Stream


class StreamContext(_absent.StreamContext):
    """Context manager that selects a stream. Without a CUDA device it does nothing.

    >>> with torch.cuda.StreamContext(None) as given:
    ...     print(given)
    None
    """


def stream(stream: Stream | None) -> StreamContext:
    """Return a context manager that selects ``stream``.

    >>> with torch.cuda.stream(None):
    ...     print("inside")
    inside
    """
    return StreamContext(stream)


def set_stream(stream: Stream) -> None:
    """Select a stream; None selects nothing, and there is no stream to select.

    >>> torch.cuda.set_stream(None)
    >>> torch.cuda.is_initialized()
    False
    """
    if stream is not None:
        raise AttributeError(f"{type(stream).__name__!r} object has no attribute 'stream_id'")


def current_stream(device: DeviceLike = None) -> Stream:
    """Return the current stream; raises, there is none.

    >>> torch.cuda.current_stream()
    Traceback (most recent call last):
        ...
    AssertionError: Torch not compiled with CUDA enabled
    """
    refuse()


def default_stream(device: DeviceLike = None) -> Stream:
    """Return the default stream; raises, there is none.

    >>> torch.cuda.default_stream()
    Traceback (most recent call last):
        ...
    AssertionError: Torch not compiled with CUDA enabled
    """
    refuse()


def get_stream_from_external(data_ptr: int, device: DeviceLike = None) -> Stream:
    """Return a stream made by another library; raises, there is none.

    >>> torch.cuda.get_stream_from_external(0)
    Traceback (most recent call last):
        ...
    AssertionError: Torch not compiled with CUDA enabled
    """
    refuse()

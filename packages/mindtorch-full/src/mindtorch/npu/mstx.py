"""`torch.npu.mstx`: marks and ranges for the vendor's profiler; without it they are counted and nothing more."""

import itertools
import threading
import warnings
from collections.abc import Iterator
from contextlib import ContextDecorator, contextmanager

from mindtorch._naming import adopt
from mindtorch_npu.stream import Stream

__all__ = ["annotate", "mark", "mstx_range", "range_end", "range_pop", "range_push", "range_start"]

_numbers = itertools.count(1)
_open: set[int] = set()
_thread = threading.local()


def _valid(name: str, message: object, stream: object, domain: object) -> bool:
    """Return whether arguments can be used; those that cannot are warned of, as torch_npu does, and raise nothing."""
    wrong = "message" if not message or not isinstance(message, str) else ""
    wrong = wrong or ("domain" if not domain or not isinstance(domain, str) else "")
    wrong = wrong or ("stream" if stream is not None and not isinstance(stream, Stream) else "")
    if wrong:
        kind = "" if wrong == "stream" else " string"
        warnings.warn(f"Invalid {wrong} for mstx.{name} func. Please input valid {wrong}{kind}.", stacklevel=3)
    return not wrong


class native:
    """What passes marks and ranges on to the vendor's tools, `torch_npu._C._mstx`: here it counts ranges and no more."""

    @staticmethod
    def _mark_on_host(message: str, domain: str) -> None:
        """Nothing is listening."""

    @staticmethod
    def _mark(message: str, stream_id: int, device_index: int, device_type: int, domain: str) -> None:
        """Nothing is listening."""

    @staticmethod
    def _range_start_on_host(message: str, domain: str) -> int:
        number = next(_numbers)
        _open.add(number)
        return number

    @staticmethod
    def _range_start(message: str, stream_id: int, device_index: int, device_type: int, domain: str) -> int:
        return native._range_start_on_host(message, domain)

    @staticmethod
    def _range_end(range_id: int, domain: str) -> None:
        _open.discard(range_id)

    @staticmethod
    def _range_push_on_host(message: str, domain: str) -> int:
        depth: int = getattr(_thread, "depth", 0)
        _thread.depth = depth + 1
        return depth

    @staticmethod
    def _range_push(message: str, stream_id: int, device_index: int, device_type: int, domain: str) -> int:
        return native._range_push_on_host(message, domain)

    @staticmethod
    def _range_pop(domain: str) -> int:
        depth: int = getattr(_thread, "depth", 0) - 1
        _thread.depth = max(depth, 0)
        return depth


def _place(stream: Stream) -> tuple[int, int, int]:
    return stream.stream_id, stream.device_index, stream.device_type


def mark(message: str, stream: Stream | None = None, domain: str = "default") -> None:
    """Mark a moment, on the host or on a stream.

    >>> print(torch.npu.mstx.mark("here"))
    None
    """
    if not _valid("mark", message, stream, domain):
        return
    if stream is None:
        native._mark_on_host(message, domain)
    else:
        native._mark(message, *_place(stream), domain)


def range_start(message: str, stream: Stream | None = None, domain: str = "default") -> int:
    """Open a range that may end in another thread, and return its number, 0 for arguments that cannot be used.

    >>> number = torch.npu.mstx.range_start("step")
    >>> number >= 0
    True
    >>> torch.npu.mstx.range_end(number)
    """
    if not _valid("range_start", message, stream, domain):
        return 0
    if stream is None:
        return native._range_start_on_host(message, domain)
    return native._range_start(message, *_place(stream), domain)


def range_end(range_id: int, domain: str = "default") -> None:
    """Close the range of a number; one that is not open is ignored.

    >>> print(torch.npu.mstx.range_end(torch.npu.mstx.range_start("step")))
    None
    """
    if not isinstance(range_id, int):
        warnings.warn("Invalid range_id for mstx.range_end func. It is what range_start returned.", stacklevel=2)
    elif _valid("range_end", "range", None, domain):
        native._range_end(range_id, domain)


def range_push(message: str, stream: Stream | None = None, domain: str = "default") -> int:
    """Open a range within the innermost one of the thread, and return how deep that is, from 0, or -1.

    >>> torch.npu.mstx.range_push("step")
    0
    >>> torch.npu.mstx.range_pop()
    0
    """
    if not _valid("range_push", message, stream, domain):
        return -1
    if stream is None:
        return native._range_push_on_host(message, domain)
    return native._range_push(message, *_place(stream), domain)


def range_pop(domain: str = "default") -> int:
    """Close the innermost range and return how deep it was; -1 without one.

    >>> torch.npu.mstx.range_push("step")
    0
    >>> torch.npu.mstx.range_pop()
    0
    """
    return native._range_pop(domain) if _valid("range_pop", "range", None, domain) else -1


@contextmanager
def mstx_range(message: str, stream: Stream | None = None, domain: str = "default") -> Iterator[None]:
    """Open a range for the block, or for every call of a function that this decorates.

    >>> with torch.npu.mstx.mstx_range("step"):
    ...     print("inside")
    inside
    """
    number = range_start(message, stream, domain)
    try:
        yield
    finally:
        range_end(number, domain)


class annotate(ContextDecorator):
    """A range for a block, or for every call of a function, within the innermost one of the thread.

    >>> @torch.npu.mstx.annotate("step")
    ... def step(x):
    ...     return x + 1
    >>> step(1)
    2
    """

    def __init__(self, message: str = "", stream: Stream | None = None, domain: str = "default") -> None:
        self.message, self.stream, self.domain = message, stream, domain

    def __enter__(self) -> "annotate":
        range_push(self.message, self.stream, self.domain)
        return self

    def __exit__(self, *error: object) -> None:
        range_pop(self.domain)


class mstx:
    """The functions of this module in one place, as torch_npu has them."""

    mark = staticmethod(mark)
    range_start = staticmethod(range_start)
    range_end = staticmethod(range_end)
    range_push = staticmethod(range_push)
    range_pop = staticmethod(range_pop)
    mstx_range = staticmethod(mstx_range)
    annotate = annotate


adopt(globals())

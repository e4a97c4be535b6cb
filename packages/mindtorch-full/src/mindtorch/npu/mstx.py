"""`torch.npu.mstx`: marks and ranges for the vendor's profiler; without it they are counted and nothing more."""

import itertools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mindtorch._naming import adopt

__all__ = ["mark", "mstx_range", "range_end", "range_pop", "range_push", "range_start"]

_numbers = itertools.count(1)
_open: set[int] = set()
_thread = threading.local()


def mark(message: str, stream: Any = None, domain: str = "default") -> None:
    """Mark a moment, on the host or on a stream."""
    if not isinstance(message, str):
        raise TypeError(f"Invalid message type: {type(message)}. Expected str.")


def range_start(message: str, stream: Any = None, domain: str = "default") -> int:
    """Open a range that may end in another thread, and return its number."""
    mark(message)
    number = next(_numbers)
    _open.add(number)
    return number


def range_end(range_id: int, domain: str = "default") -> None:
    """Close the range of a number; one that is not open is ignored."""
    _open.discard(range_id)


def range_push(message: str) -> int:
    """Open a range within the innermost one of the thread, and return how deep that is, from 0."""
    mark(message)
    depth: int = getattr(_thread, "depth", 0)
    _thread.depth = depth + 1
    return depth


def range_pop() -> int:
    """Close the innermost range and return how deep it was; -1 without one."""
    depth: int = getattr(_thread, "depth", 0) - 1
    _thread.depth = max(depth, 0)
    return depth


@contextmanager
def mstx_range(message: str, stream: Any = None, domain: str = "default") -> Iterator[None]:
    """Open a range for the block."""
    number = range_start(message, stream, domain)
    try:
        yield
    finally:
        range_end(number, domain)


adopt(globals())

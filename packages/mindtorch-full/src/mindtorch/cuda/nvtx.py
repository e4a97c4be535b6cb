"""Marks for NVIDIA's profiler: every function raises, as the library is not there."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from mindtorch._naming import adopt

__all__ = ["mark", "range", "range_end", "range_pop", "range_push", "range_start"]


def _refuse() -> NoReturn:
    raise RuntimeError("NVTX functions not installed. Are you sure you have a CUDA build?")


def mark(msg: str) -> None:
    """Mark a moment."""
    _refuse()


def range_push(msg: str) -> int:
    """Open a nested range."""
    _refuse()


def range_pop() -> int:
    """Close the innermost range."""
    _refuse()


def range_start(msg: str) -> int:
    """Open a range."""
    raise AttributeError("'_NVTXStub' object has no attribute 'rangeStartA'")


def range_end(range_id: int) -> None:
    """Close a range."""
    raise AttributeError("'_NVTXStub' object has no attribute 'rangeEnd'")


@contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """Context manager for a range."""
    range_push(msg.format(*args, **kwargs))
    yield


adopt(globals())

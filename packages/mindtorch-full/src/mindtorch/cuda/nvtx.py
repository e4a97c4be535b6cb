"""Marks for NVIDIA's profiler: every function raises, as the library is not there."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from mindtorch._naming import adopt

__all__ = ["mark", "range", "range_end", "range_pop", "range_push", "range_start"]


def _refuse() -> NoReturn:
    raise RuntimeError("NVTX functions not installed. Are you sure you have a CUDA build?")


def mark(msg: str) -> None:
    """Mark a moment.

    >>> torch.cuda.nvtx.mark("here")
    Traceback (most recent call last):
        ...
    RuntimeError: NVTX functions not installed. Are you sure you have a CUDA build?
    """
    _refuse()


def range_push(msg: str) -> int:
    """Open a nested range.

    >>> torch.cuda.nvtx.range_push("step")
    Traceback (most recent call last):
        ...
    RuntimeError: NVTX functions not installed. Are you sure you have a CUDA build?
    """
    _refuse()


def range_pop() -> int:
    """Close the innermost range.

    >>> torch.cuda.nvtx.range_pop()
    Traceback (most recent call last):
        ...
    RuntimeError: NVTX functions not installed. Are you sure you have a CUDA build?
    """
    _refuse()


def range_start(msg: str) -> int:
    """Open a range.

    >>> torch.cuda.nvtx.range_start("step")
    Traceback (most recent call last):
        ...
    AttributeError: '_NVTXStub' object has no attribute 'rangeStartA'
    """
    raise AttributeError("'_NVTXStub' object has no attribute 'rangeStartA'")


def range_end(range_id: int) -> None:
    """Close a range.

    >>> torch.cuda.nvtx.range_end(0)
    Traceback (most recent call last):
        ...
    AttributeError: '_NVTXStub' object has no attribute 'rangeEnd'
    """
    raise AttributeError("'_NVTXStub' object has no attribute 'rangeEnd'")


@contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """Context manager for a range.

    >>> with torch.cuda.nvtx.range("step"):
    ...     print("inside")
    Traceback (most recent call last):
        ...
    RuntimeError: NVTX functions not installed. Are you sure you have a CUDA build?
    """
    range_push(msg.format(*args, **kwargs))
    yield


adopt(globals())

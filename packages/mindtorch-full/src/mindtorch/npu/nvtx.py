"""`torch.npu.nvtx`: the marks of `torch.npu.mstx` under the names of `torch.cuda.nvtx`."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mindtorch._naming import adopt
from mindtorch.npu import mstx

__all__ = ["mark", "range", "range_end", "range_pop", "range_push", "range_start"]


def mark(msg: str) -> None:
    """Mark a moment.

    >>> print(torch.npu.nvtx.mark("here"))
    None
    """
    mstx.mark(msg)


def range_push(msg: str) -> int:
    """Open a range within the innermost one of the thread, and return how deep that is, from 0.

    >>> torch.npu.nvtx.range_push("step")
    0
    >>> torch.npu.nvtx.range_pop()
    0
    """
    return mstx.range_push(msg)


def range_pop() -> int:
    """Close the innermost range and return how deep it was; -1 without one.

    >>> torch.npu.nvtx.range_push("step")
    0
    >>> torch.npu.nvtx.range_pop()
    0
    """
    return mstx.range_pop()


def range_start(msg: str) -> int:
    """Open a range that may end in another thread, and return its number.

    >>> number = torch.npu.nvtx.range_start("step")
    >>> number >= 0
    True
    >>> torch.npu.nvtx.range_end(number)
    """
    return mstx.range_start(msg)


def range_end(range_id: int) -> None:
    """Close the range of a number; one that is not open is ignored.

    >>> number = torch.npu.nvtx.range_start("step")
    >>> print(torch.npu.nvtx.range_end(number))
    None
    """
    mstx.range_end(range_id)


@contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """Open a range for the block; the message may be a format for the further arguments.

    >>> with torch.npu.nvtx.range("step"):
    ...     print("inside")
    inside
    """
    range_push(msg.format(*args, **kwargs))
    try:
        yield
    finally:
        range_pop()


adopt(globals())

"""`torch.npu.nvtx`: the marks of `torch.npu.mstx` under the names of `torch.cuda.nvtx`."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from mindtorch.npu.mstx import mark, range_end, range_pop, range_push, range_start

__all__ = ["mark", "range", "range_end", "range_pop", "range_push", "range_start"]


@contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """Open a range for the block; the message may be a format for the further arguments."""
    range_push(msg.format(*args, **kwargs))
    try:
        yield
    finally:
        range_pop()

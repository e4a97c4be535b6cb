"""XPU graphs: classes that can be named, not made."""

from typing import Any, NoReturn

from mindtorch._absent import dummy_base
from mindtorch._naming import adopt
from mindtorch.xpu.streams import Stream

_XPUGraph: Any = dummy_base("_XPUGraph")


class XPUGraph(_XPUGraph):
    """A recorded graph of XPU operations; making one raises.

    >>> torch.xpu.XPUGraph()
    Traceback (most recent call last):
        ...
    RuntimeError: Tried to instantiate dummy base class XPUGraph
    """

    def __new__(cls, keep_graph: bool = False) -> NoReturn:
        return super().__new__(cls, keep_graph)


class graph:
    """Context manager that records into a graph; making one raises, as it needs a stream.

    >>> torch.xpu.graph(None)
    Traceback (most recent call last):
        ...
    RuntimeError: Tried to instantiate dummy base class Stream
    """

    def __init__(self, xpu_graph: XPUGraph, pool: Any = None, stream: Any = None) -> None:
        Stream()


def graph_pool_handle() -> NoReturn:
    """Return a new memory pool's handle; raises, there is none.

    >>> torch.xpu.graph_pool_handle()
    Traceback (most recent call last):
        ...
    RuntimeError: Tried to instantiate dummy base class _xpu_graph_pool_handle
    """
    raise RuntimeError("Tried to instantiate dummy base class _xpu_graph_pool_handle")


def is_current_stream_capturing() -> bool:
    """Return whether the current stream is being captured; raises, as torch's CPU build does.

    >>> torch.xpu.is_current_stream_capturing()
    Traceback (most recent call last):
        ...
    RuntimeError: Tried to instantiate dummy base class _xpu_isCurrentStreamCapturing
    """
    raise RuntimeError("Tried to instantiate dummy base class _xpu_isCurrentStreamCapturing")


def make_graphed_callables(
    callables: Any, sample_args: Any, num_warmup_iters: int = 3, allow_unused_input: bool = False, pool: Any = None
) -> NoReturn:
    """Return callables recorded as graphs; raises, there are none.

    >>> torch.xpu.make_graphed_callables(torch.nn.ReLU(), (torch.ones(1),))
    Traceback (most recent call last):
        ...
    RuntimeError: Tried to instantiate dummy base class XPUGraph
    """
    XPUGraph()


adopt(globals())

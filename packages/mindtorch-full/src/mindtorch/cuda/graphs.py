"""CUDA graphs: classes that can be named, not made."""

from typing import Any, NoReturn

from mindtorch._absent import dummy_base
from mindtorch._naming import adopt
from mindtorch.cuda.streams import Stream

_CUDAGraph: Any = dummy_base("_CUDAGraph")


class CUDAGraph(_CUDAGraph):
    """A recorded graph of CUDA operations; making one raises.

    >>> torch.cuda.CUDAGraph()
    Traceback (most recent call last):
        ...
    RuntimeError: Tried to instantiate dummy base class CUDAGraph
    """

    def __new__(cls, keep_graph: bool = False) -> NoReturn:
        return super().__new__(cls, keep_graph)


class graph:
    """Context manager that records into a graph; making one raises, as it needs a stream.

    >>> torch.cuda.graph(None)
    Traceback (most recent call last):
        ...
    RuntimeError: torch.cuda.Stream requires CUDA support
    """

    def __init__(
        self,
        cuda_graph: CUDAGraph,
        pool: Any = None,
        stream: Any = None,
        capture_error_mode: str = "global",
        enable_annotations: bool = False,
        check_input_liveness: bool = False,
    ) -> None:
        Stream()


def graph_pool_handle() -> NoReturn:
    """Return a new memory pool's handle; raises, there is none.

    >>> torch.cuda.graph_pool_handle()
    Traceback (most recent call last):
        ...
    RuntimeError: Tried to instantiate dummy base class _graph_pool_handle
    """
    raise RuntimeError("Tried to instantiate dummy base class _graph_pool_handle")


def is_current_stream_capturing() -> bool:
    """Return whether the current stream is being captured; raises, as torch's CPU build does.

    >>> torch.cuda.is_current_stream_capturing()
    Traceback (most recent call last):
        ...
    RuntimeError: Tried to instantiate dummy base class _cuda_isCurrentStreamCapturing
    """
    raise RuntimeError("Tried to instantiate dummy base class _cuda_isCurrentStreamCapturing")


def make_graphed_callables(
    callables: Any, sample_args: Any, num_warmup_iters: int = 3, allow_unused_input: bool = False, pool: Any = None
) -> NoReturn:
    """Return callables recorded as graphs; raises, there are none.

    >>> torch.cuda.make_graphed_callables(torch.nn.ReLU(), (torch.ones(1),))
    Traceback (most recent call last):
        ...
    RuntimeError: Tried to instantiate dummy base class CUDAGraph
    """
    CUDAGraph()


adopt(globals())

"""`torch.npu.graphs`: recorded graphs of operators. pyACL has no functions for them yet: making one raises."""

from typing import Any, NoReturn

from mindtorch._naming import adopt

__all__ = ["NPUGraph", "graph", "graph_pool_handle", "is_current_stream_capturing", "make_graphed_callables"]


def is_current_stream_capturing() -> bool:
    """Return whether the current stream is being recorded as a graph: no, graphs are not supported."""
    return False


class NPUGraph:
    """A recorded graph of operators; making one raises."""

    def __init__(self, keep_graph: bool = False) -> None:
        _no_graphs()


class graph:
    """Context manager that records a graph; making one raises."""

    def __init__(self, npu_graph: Any, pool: Any = None, stream: Any = None, **options: Any) -> None:
        _no_graphs()


def graph_pool_handle() -> NoReturn:
    """Return the identity of a memory pool for graphs; raises."""
    _no_graphs()


def make_graphed_callables(
    callables: Any, sample_args: Any, num_warmup_iters: int = 3, allow_unused_input: bool = False, pool: Any = None
) -> NoReturn:
    """Return functions that replay recorded graphs; raises."""
    _no_graphs()


def _no_graphs() -> NoReturn:
    raise NotImplementedError("torch.npu: recording graphs is not supported; it needs functions that pyACL lacks")


adopt(globals())

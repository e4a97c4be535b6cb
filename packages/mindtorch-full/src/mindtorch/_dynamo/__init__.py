"""`torch._dynamo`: backends that are given graphs, what is known of these, and names by which libraries steer a tracer.

Calls are recorded as they run (see `_recorder`); no source is traced, so hints to a tracer leave things as they are.
"""

from typing import Any

from mindtorch._dynamo import config, eval_frame
from mindtorch._dynamo.eval_frame import OptimizedModule
from mindtorch._naming import adopt
from mindtorch.compiler._eager import (
    allow_in_graph,
    assume_constant_result,
    compile,
    disable,
    list_backends,
    lookup_backend,
    register_backend,
    set_stance,
    substitute_in_graph,
)
from mindtorch.compiler._phases import Phase, running
from mindtorch_autograd.function import recorder
from mindtorch_storage.lazy_import import LazyModule

_explaining = LazyModule("mindtorch._dynamo._explain", "only programs that ask about their graphs need it")
_breaks = LazyModule("mindtorch._dynamo._breaks", "only recordings break")
_backends = LazyModule("mindtorch._dynamo._backends", "only backends that are functions are given graphs")

__all__ = [
    "OptimizedModule",
    "allow_in_graph",
    "assume_constant_result",
    "config",
    "disable",
    "disallow_in_graph",
    "eval_frame",
    "explain",
    "forbid_in_graph",
    "graph_break",
    "is_compiling",
    "is_dynamo_supported",
    "list_backends",
    "lookup_backend",
    "mark_dynamic",
    "mark_static",
    "mark_static_address",
    "maybe_mark_dynamic",
    "optimize",
    "register_backend",
    "reset",
    "set_stance",
    "substitute_in_graph",
]


def is_compiling() -> bool:
    """Return whether this code is part of a compiled function, or being exported."""
    return running.phase is not Phase.NONE


def is_dynamo_supported() -> bool:
    """Return whether code can be traced here: False."""
    return False


def disallow_in_graph(fn: Any) -> Any:
    """Return ``fn`` unchanged: there is no graph to keep it out of."""
    return fn


def forbid_in_graph(fn: Any) -> Any:
    """Return ``fn`` unchanged: there is no graph to keep it out of."""
    return fn


def graph_break(msg: str = "") -> None:
    """End the graph that is being recorded, and begin another; without one nothing happens."""
    if recorder.apply is not None:
        recorder.apply.__self__.cut(_breaks.graph_break_text(msg))


def mark_dynamic(t: Any, index: Any, *args: Any, **kwargs: Any) -> None:
    """Say that a dimension, or several, vary: the first graph with the tensor is one for other sizes, too."""
    _mark(t, "_dynamo_dynamic_indices", index)


def maybe_mark_dynamic(t: Any, index: Any) -> None:
    """Say that a dimension, or several, may vary: the same as `mark_dynamic`, where no graph refuses it."""
    _mark(t, "_dynamo_weak_dynamic_indices", index)


def _mark(t: Any, name: str, index: Any) -> None:
    marked = {index} if isinstance(index, int) else set(index)
    setattr(t, name, getattr(t, name, set()) | marked)


def mark_static(t: Any, index: Any = None) -> None:
    """Say that a dimension is fixed; nothing is specialised to one."""


def mark_static_address(t: Any, guard: bool = False) -> None:
    """Say that a tensor stays where it is; nothing relies on it."""


def reset() -> None:
    """Forget every graph that was compiled."""
    _backends.reset()


def explain(f: Any, *extra_args: Any, **extra_kwargs: Any) -> Any:
    """Return what tells, called with the arguments of a call of `f`, of the graphs that the call gives and of their breaks.

    >>> torch._dynamo.explain(lambda x: x.sin() + 1)(torch.ones(2)).graph_count
    1
    """
    return _explaining.explain(f, *extra_args, **extra_kwargs)


def optimize(backend: Any = "inductor", *, nopython: bool = False, disable: bool = False, dynamic: Any = None) -> Any:
    """Return a decorator that compiles functions, as `torch.compile` with these settings."""
    return compile(backend=backend, fullgraph=nopython, disable=disable, dynamic=dynamic)


adopt(globals())

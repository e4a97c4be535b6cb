"""`torch.fx`: its types can be named and asked about, `wrap` works, tracing raises."""

from collections.abc import Callable
from typing import Any, NoReturn

from mindtorch._naming import adopt
from mindtorch.fx import proxy
from mindtorch.fx.proxy import Proxy
from mindtorch.nn.modules.module import Module

__all__ = ["Graph", "GraphModule", "Node", "Proxy", "Tracer", "has_side_effect", "proxy", "symbolic_trace", "wrap"]


class Graph:
    """A program as a graph; making one raises."""

    def __init__(self, owning_module: Any = None, tracer_cls: Any = None, tracer_extras: Any = None) -> NoReturn:
        raise NotImplementedError("torch.fx: there are no graphs")


class Node:
    """A step of a graph; making one raises."""

    def __init__(self, graph: Any, name: str, op: str, target: Any, args: Any, kwargs: Any, *rest: Any) -> NoReturn:
        raise NotImplementedError("torch.fx: there are no graphs")


class GraphModule(Module):
    """A module made of a graph; making one raises."""

    def __init__(self, root: Any, graph: Any, class_name: str = "GraphModule") -> NoReturn:
        raise NotImplementedError("torch.fx: there are no graphs")


class Tracer:
    """Makes graphs of programs; making one raises."""

    def __init__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError("torch.fx: there is no symbolic tracing")


def symbolic_trace(root: Any, concrete_args: dict[str, Any] | None = None) -> NoReturn:
    """Return a graph of ``root``; raises."""
    raise NotImplementedError("torch.fx.symbolic_trace(): there is no symbolic tracing")


def wrap(fn_or_name: str | Callable[..., Any]) -> str | Callable[..., Any]:
    """Mark a function to stay one step of a graph, and return it; there is no graph to see the mark."""
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError(
            f"Unsupported type for global function! Must be either a callable or string name, got {type(fn_or_name)}"
        )
    return fn_or_name


def has_side_effect(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a function to be kept in graphs, and return it."""
    return fn


adopt(globals())

"""`torch._dynamo`: names by which libraries steer a tracer. There is none, so they leave things as they are."""

from typing import Any

from mindtorch._dynamo import config, eval_frame
from mindtorch._dynamo.eval_frame import OptimizedModule
from mindtorch._naming import adopt
from mindtorch.compiler._eager import (
    allow_in_graph,
    assume_constant_result,
    disable,
    list_backends,
    set_stance,
    substitute_in_graph,
)

__all__ = [
    "OptimizedModule",
    "allow_in_graph",
    "assume_constant_result",
    "config",
    "disable",
    "disallow_in_graph",
    "eval_frame",
    "forbid_in_graph",
    "graph_break",
    "is_compiling",
    "is_dynamo_supported",
    "list_backends",
    "mark_dynamic",
    "mark_static",
    "mark_static_address",
    "maybe_mark_dynamic",
    "reset",
    "set_stance",
    "substitute_in_graph",
]


def is_compiling() -> bool:
    """Return whether this code is being traced: False, nothing is."""
    return False


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
    """Break the graph; there is none."""


def mark_dynamic(t: Any, index: Any, *args: Any, **kwargs: Any) -> None:
    """Say that a dimension varies; nothing is specialised to one."""


def maybe_mark_dynamic(t: Any, index: Any) -> None:
    """Say that a dimension may vary; nothing is specialised to one."""


def mark_static(t: Any, index: Any = None) -> None:
    """Say that a dimension is fixed; nothing is specialised to one."""


def mark_static_address(t: Any, guard: bool = False) -> None:
    """Say that a tensor stays where it is; nothing relies on it."""


def reset() -> None:
    """Forget what was traced; there is nothing."""


adopt(globals())

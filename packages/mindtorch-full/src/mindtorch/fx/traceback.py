"""`torch.fx.traceback`: what new nodes are told of where they come from."""

from __future__ import annotations

import copy
import functools
import re
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from typing import TYPE_CHECKING, Any

from mindtorch._naming import adopt

if TYPE_CHECKING:
    from mindtorch.fx.node import Node

__all__ = [
    "NodeSource",
    "NodeSourceAction",
    "annotate",
    "annotate_fn",
    "format_stack",
    "get_current_meta",
    "get_current_replay_node",
    "get_graph_provenance_json",
    "has_preserved_node_meta",
    "preserve_node_meta",
    "reset_grad_fn_seq_nr",
    "set_current_meta",
    "set_current_replay_node",
    "set_grad_fn_seq_nr",
    "set_stack_trace",
]

current_meta: dict[str, Any] = {}
current_replay_node: Any = None
should_preserve_node_meta = False


class NodeSourceAction(Enum):
    """What a pass did to make a node.

    >>> import torch.fx.traceback as traceback
    >>> [one.value for one in traceback.NodeSourceAction]
    ['create', 'replace']
    """

    CREATE = "create"
    REPLACE = "replace"


class NodeSource:
    """Where a node comes from: the node before it, the pass that made it and what that did.

    >>> import torch.fx.traceback as traceback
    >>> graph = torch.fx.symbolic_trace(lambda x: torch.relu(x + 1) * 2)
    >>> source = traceback.NodeSource(list(graph.graph.nodes)[1], "fuse", traceback.NodeSourceAction.CREATE)
    >>> source.pass_name, source.name
    ('fuse', 'add')
    """

    def __init__(
        self,
        node: Node | None,
        pass_name: str = "",
        action: NodeSourceAction | list[NodeSourceAction] | None = None,
    ) -> None:
        self.pass_name = pass_name
        self.action = action if isinstance(action, list) else [action] if action is not None else []
        self.name = node.name if node is not None else ""
        self.target = str(node.target) if node is not None else ""
        self.graph_id = id(node.graph) if node is not None else -1
        self.from_node = copy.deepcopy(node.meta.get("from_node", [])) if node is not None else []

    def __repr__(self) -> str:
        return self.print_readable()

    def print_readable(self, indent: int = 0) -> str:
        """Return the source and, indented, the sources before it."""
        shown = "+".join(one.name.lower() for one in self.action)
        lines = [
            f"{' ' * indent}(name={self.name}, pass_name={self.pass_name}, action={shown}, graph_id={self.graph_id})"
        ]
        lines += [one.print_readable(indent + 4) for one in self.from_node]
        return "\n".join(lines) + ("\n" if indent == 0 else "")

    def to_dict(self) -> dict[str, Any]:
        """Return the source as plain data."""
        return {
            "name": self.name,
            "target": self.target,
            "graph_id": self.graph_id,
            "pass_name": self.pass_name,
            "action": "+".join(one.name.lower() for one in self.action),
            "from_node": [one.to_dict() for one in self.from_node],
        }


@contextmanager
def preserve_node_meta(enable: bool = True) -> Iterator[None]:
    """Within the block new nodes get what `set_current_meta` says.

    >>> import torch.fx.traceback as traceback
    >>> with traceback.preserve_node_meta():
    ...     print(traceback.has_preserved_node_meta())
    True
    >>> traceback.has_preserved_node_meta()
    False
    """
    global should_preserve_node_meta, current_meta
    saved, saved_meta = should_preserve_node_meta, current_meta
    try:
        should_preserve_node_meta, current_meta = enable, current_meta.copy()
        yield
    finally:
        should_preserve_node_meta, current_meta = saved, saved_meta


def has_preserved_node_meta() -> bool:
    """Return whether new nodes get the current meta.

    >>> import torch.fx.traceback as traceback
    >>> traceback.has_preserved_node_meta()
    False
    """
    return should_preserve_node_meta


def set_stack_trace(stack: list[str]) -> None:
    """Let new nodes have this stack.

    >>> import torch.fx.traceback as traceback
    >>> with traceback.preserve_node_meta():
    ...     traceback.set_stack_trace(["line 1"])
    ...     print(traceback.format_stack())
    ['line 1']
    """
    if should_preserve_node_meta and stack:
        current_meta["stack_trace"] = "".join(stack)


def set_grad_fn_seq_nr(seq_nr: int) -> None:
    """Let new nodes say that they are the backward of the autograd node `seq_nr`."""
    if should_preserve_node_meta:
        current_meta["grad_fn_seq_nr"] = [*current_meta.get("grad_fn_seq_nr", []), seq_nr]
        current_meta["in_grad_fn"] = current_meta.get("in_grad_fn", 0) + 1


def reset_grad_fn_seq_nr() -> None:
    """Take back one `set_grad_fn_seq_nr`."""
    if should_preserve_node_meta:
        level = current_meta.get("in_grad_fn", 0)
        if level > 1:
            current_meta["in_grad_fn"] = level - 1
            current_meta["grad_fn_seq_nr"] = current_meta["grad_fn_seq_nr"][:-1]
        else:
            current_meta.pop("in_grad_fn", None)
            current_meta.pop("grad_fn_seq_nr", None)


def format_stack() -> list[str]:
    """Return the stack that new nodes get, or the stack of this call.

    >>> import torch.fx.traceback as traceback
    >>> with traceback.preserve_node_meta():
    ...     traceback.set_stack_trace(["line 1"])
    ...     print(traceback.format_stack())
    ['line 1']
    """
    if should_preserve_node_meta:
        return [current_meta.get("stack_trace", "")]
    return traceback.format_list(traceback.extract_stack()[:-1])


_INNER = re.compile(
    r"/fx/|/mindtorch_(dispatch|autograd|storage)/|/_overridable|/mindtorch/(nn/functional|tensor|functions|export|utils|amp|_higher_order_ops)/"
)
"""Files whose functions are not what a program's author wrote or called."""


def user_stack() -> list[str]:
    """Return the stack of this call without the frames of the tracer and those below a program and its modules."""
    frames = [one for one in traceback.extract_stack() if not _INNER.search(one.filename.replace("\\", "/"))]
    return traceback.format_list(frames)


@contextmanager
def set_current_meta(node: Node, pass_name: str = "") -> Iterator[None]:
    """Within the block new nodes get the meta of `node`.

    >>> import torch.fx.traceback as traceback
    >>> graph = torch.fx.symbolic_trace(lambda x: torch.relu(x + 1) * 2)
    >>> with traceback.preserve_node_meta(), traceback.set_current_meta(next(iter(graph.graph.nodes))):
    ...     print(sorted(traceback.get_current_meta()))
    []
    """
    global current_meta
    if not (should_preserve_node_meta and node.meta):
        yield
        return
    saved = current_meta
    try:
        current_meta = node.meta.copy()
        if "from_node" not in current_meta or current_meta["from_node"][-1].name != node.name:
            current_meta["from_node"] = [
                *current_meta.get("from_node", []),
                NodeSource(node, pass_name, NodeSourceAction.CREATE),
            ]
        yield
    finally:
        current_meta = saved


def get_current_meta() -> dict[str, Any]:
    """Return what new nodes get.

    >>> import torch.fx.traceback as traceback
    >>> traceback.get_current_meta()
    {}
    """
    return current_meta


@contextmanager
def set_current_replay_node(node: Node | None) -> Iterator[None]:
    """Within the block `node` is the one whose step is done again.

    >>> import torch.fx.traceback as traceback
    >>> graph = torch.fx.symbolic_trace(lambda x: torch.relu(x + 1) * 2)
    >>> with traceback.set_current_replay_node(next(iter(graph.graph.nodes))):
    ...     print(traceback.get_current_replay_node())
    x
    """
    global current_replay_node
    saved = current_replay_node
    try:
        current_replay_node = node
        yield
    finally:
        current_replay_node = saved


def get_current_replay_node() -> Node | None:
    """Return the node whose step is done again, if one is.

    >>> import torch.fx.traceback as traceback
    >>> print(traceback.get_current_replay_node())
    None
    """
    return current_replay_node


@contextmanager
def annotate(annotation_dict: dict[str, Any]) -> Iterator[None]:
    """Within the block new nodes get these entries in `meta["custom"]`.

    >>> import torch.fx.traceback as traceback
    >>> with traceback.preserve_node_meta(), traceback.annotate({"part": 1}):
    ...     print(traceback.get_current_meta()["custom"])
    {'part': 1}
    """
    had, saved = "custom" in current_meta, current_meta.get("custom")
    current_meta["custom"] = {**(saved or {}), **annotation_dict}
    try:
        yield
    finally:
        if had:
            current_meta["custom"] = saved
        else:
            current_meta.pop("custom", None)


def annotate_fn(annotation_dict: dict[str, Any]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that runs a function within `annotate`.

    >>> import torch.fx.traceback as traceback
    >>> @traceback.annotate_fn({"part": 2})
    ... def step(x):
    ...     return traceback.get_current_meta().get("custom")
    >>> with traceback.preserve_node_meta():
    ...     print(step(1))
    {'part': 2}
    """

    def decorator(fn: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(fn)
        def run(*args: Any, **kwargs: Any) -> Any:
            with annotate(annotation_dict):
                return fn(*args, **kwargs)

        return run

    return decorator


def get_graph_provenance_json(graph: Any) -> dict[str, Any]:
    """Return for each node of a graph that calls something where it comes from.

    >>> import torch.fx.traceback as traceback
    >>> graph = torch.fx.symbolic_trace(lambda x: torch.relu(x + 1) * 2)
    >>> sorted(traceback.get_graph_provenance_json(graph.graph))
    ['add', 'mul', 'relu']
    """
    found = {}
    for node in graph.nodes:
        if node.op == "call_function":
            found[node.name] = [one.to_dict() for one in node.meta.get("from_node", [])]
    return found


adopt(globals())

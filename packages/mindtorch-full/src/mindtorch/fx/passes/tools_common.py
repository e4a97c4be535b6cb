"""`torch.fx.passes.tools_common`: orders of nodes, and what nodes call."""

from __future__ import annotations

import collections
import heapq
import operator
from collections.abc import Callable, Mapping
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.fx._compatibility import compatibility
from mindtorch.fx._spelling import _get_qualified_name
from mindtorch.fx.graph import Graph
from mindtorch.fx.graph_module import GraphModule
from mindtorch.fx.node import Node
from mindtorch.fx.passes._fusion_groups import FxNetAccFusionsFinder
from mindtorch.nn import Module

__all__ = [
    "FxNetAccFusionsFinder",
    "get_acc_ops_name",
    "get_node_target",
    "is_node_output_tensor",
    "legalize_graph",
    "stable_topological_sort",
]

Tensors = tuple[torch.Tensor] | list[torch.Tensor]
TensorOrTensors = torch.Tensor | Tensors
NodeList = list[Node]
NodeSet = set[Node]
Names = list[str]
CALLABLE_NODE_OPS = {"call_module", "call_function", "call_method"}

_EARLY = (
    *(operator.add, operator.mul, operator.sub, operator.floordiv, operator.truediv, operator.mod),
    *(operator.le, operator.lt, operator.ge, operator.gt, operator.eq, operator.ne),
)
_EARLY_OPERATORS = {
    "aten.sym_constrain_range.default",
    "aten.sym_constrain_range_for_size.default",
    "aten._assert_async.msg",
    "aten.scalar_tensor.default",
    "aten._assert_scalar.default",
}
"""What `legalize_graph` places as soon as it can: checks, and the numbers that they look at."""


@compatibility(is_backward_compatible=False)
def get_acc_ops_name(k: str | type) -> str:
    """Return the name of a module's or function's type, under `acc_ops` for those of a module of that name.

    >>> from torch.fx.passes.tools_common import get_acc_ops_name
    >>> get_acc_ops_name(torch.relu)
    'torch.relu'
    """
    if isinstance(k, str):
        return k
    if k.__module__ and "acc_ops" in k.__module__:
        return f"acc_ops.{k.__name__}"
    return f"{k.__module__.replace('torch._ops', 'torch.ops')}.{k.__name__}"


@compatibility(is_backward_compatible=False)
def get_node_target(submodules: Mapping[str, Module], node: Node) -> str:
    """Return the name of what a node calls: a function's, a method's, or that of a module's class.

    Raises:
        AssertionError: the node calls nothing.

    >>> graph = torch.fx.symbolic_trace(lambda x: torch.relu(x + 1) * 2)
    >>> from torch.fx.passes.tools_common import get_node_target
    >>> [get_node_target({}, node) for node in graph.graph.nodes if node.op == "call_function"]
    ['_operator.add', 'torch.relu', '_operator.mul']
    """
    if node.op not in CALLABLE_NODE_OPS:
        raise AssertionError(f"Expect op types of {', '.join(CALLABLE_NODE_OPS)}, but found {node.op}")
    if node.op == "call_function":
        home = node.target.__module__
        if home is not None and "acc_ops" in home:
            return f"acc_ops.{node.target.__name__}"
        return _get_qualified_name(node.target)
    if not isinstance(node.target, str):
        raise AssertionError(f"Expected str target, got {type(node.target)}")
    if node.op == "call_method":
        return node.target
    called = submodules[node.target]
    return get_acc_ops_name(getattr(called, "_base_class_origin", type(called)))


@compatibility(is_backward_compatible=False)
def is_node_output_tensor(node: Node) -> bool:
    """Return whether shape propagation noted a tensor for the node.

    >>> graph = torch.fx.symbolic_trace(lambda x: torch.relu(x + 1) * 2)
    >>> from torch.fx.passes.shape_prop import ShapeProp
    >>> _ = ShapeProp(graph).propagate(torch.ones(2, 3))
    >>> node = next(iter(graph.graph.nodes))
    >>> torch.fx.passes.tools_common.is_node_output_tensor(node)
    True
    """
    kind = node.meta.get("type")
    return kind is not None and issubclass(kind, torch.Tensor)


def _sorted_copy(
    gm: GraphModule, push: Callable[[Node, bool], None], pop: Callable[[], Node | None]
) -> tuple[Graph, list[Node]]:
    """Copy the nodes, each when its arguments are there, in the order of a queue; return also those in a circle."""
    waiting = dict.fromkeys(gm.graph.nodes, 0)
    for node in gm.graph.nodes:
        for user in node.users:
            waiting[user] += 1
    for node, count in waiting.items():
        if count == 0:
            push(node, True)
    made = Graph()
    copies: dict[Node, Node] = {}
    while (node := pop()) is not None:
        copies[node] = made.node_copy(node, copies.__getitem__)
        for user in node.users:
            waiting[user] -= 1
            if waiting[user] == 0:
                push(user, False)
    made._codegen = gm.graph._codegen
    return made, [node for node, count in waiting.items() if count]


@compatibility(is_backward_compatible=False)
def legalize_graph(gm: GraphModule) -> GraphModule:
    """Put the nodes of a module's graph into an order in which each comes after its arguments; return the module.

    Raises:
        RuntimeError: there is none.

    >>> graph = torch.fx.symbolic_trace(lambda x: torch.relu(x + 1) * 2)
    >>> from torch.fx.passes.tools_common import legalize_graph
    >>> [node.name for node in legalize_graph(graph).graph.nodes]
    ['x', 'add', 'relu', 'mul', 'output']
    """
    queue: collections.deque[Node] = collections.deque()

    def push(node: Node, is_root: bool) -> None:
        early = node.op == "call_function" and (node.target in _EARLY or str(node.target) in _EARLY_OPERATORS)
        (queue.appendleft if early and not is_root else queue.append)(node)

    made, circle = _sorted_copy(gm, push, lambda: queue.popleft() if queue else None)
    if circle:
        raise RuntimeError(f"Input graph has cycles, unable to add {circle}")
    gm.graph = made
    return gm


@compatibility(is_backward_compatible=False)
def stable_topological_sort(gm: GraphModule) -> GraphModule:
    """As `legalize_graph`; nodes that do not depend on each other stay in their order.

    Raises:
        AssertionError: there is no order.

    >>> graph = torch.fx.symbolic_trace(lambda x: torch.relu(x + 1) * 2)
    >>> from torch.fx.passes.tools_common import stable_topological_sort
    >>> [node.name for node in stable_topological_sort(graph).graph.nodes]
    ['x', 'add', 'relu', 'mul', 'output']
    """
    place: dict[Any, int] = {node: index for index, node in enumerate(gm.graph.nodes)}
    heap: list[tuple[int, Node]] = []
    made, circle = _sorted_copy(
        gm,
        lambda node, is_root: heapq.heappush(heap, (place[node], node)),
        lambda: heapq.heappop(heap)[1] if heap else None,
    )
    if circle:
        raise AssertionError(f"Input graph has cycles, unable to add {circle}")
    gm.graph = made
    return gm


adopt(globals())

"""`torch.fx.passes.utils.source_matcher_utils`: the nodes that came of one function or module of a program."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from mindtorch._naming import adopt
from mindtorch.fx._compatibility import compatibility
from mindtorch.fx.graph import Graph
from mindtorch.fx.node import Node

__all__ = ["SourcePartition", "check_subgraphs_connected", "get_source_partitions"]

logger = logging.getLogger("torch.fx.passes.utils.source_matcher_utils")
logger.setLevel(os.environ.get("PYTORCH_MATCHER_LOGLEVEL", "WARNING").upper())


@compatibility(is_backward_compatible=False)
@dataclass
class SourcePartition:
    """The nodes of one call of a source.

    >>> from torch.fx.passes.utils.source_matcher_utils import SourcePartition
    >>> SourcePartition(nodes=[], source=torch.nn.Linear).input_nodes
    []
    """

    nodes: list[Node]
    source: Any
    input_nodes: list[Node] = field(default_factory=list)
    """Nodes outside whose values they use."""
    output_nodes: list[Node] = field(default_factory=list)
    """Those whose values are used outside."""
    params: list[Node] = field(default_factory=list)
    """Those that read attributes."""


@compatibility(is_backward_compatible=False)
def get_source_partitions(
    graph: Graph, wanted_sources: list[Any], filter_fn: Callable[[Node], bool] | None = None
) -> dict[Any, list[SourcePartition]]:
    """Return for each wanted source the partitions that came of it.

    Args:
        wanted_sources: functions, classes of modules, or names of functions.
        filter_fn: keep the partitions all of whose nodes it accepts.

    >>> graph = torch.export.export(torch.nn.Sequential(torch.nn.Linear(2, 1)), (torch.ones(1, 2),)).graph
    >>> from torch.fx.passes.utils.source_matcher_utils import get_source_partitions
    >>> {kind.__name__: len(found) for kind, found in get_source_partitions(graph, [torch.nn.Linear]).items()}
    {'Linear': 1}
    """
    found: dict[Any, dict[Any, list[Node]]] = {}
    for node in graph.nodes:
        place = _source(node, wanted_sources)
        if place is not None:
            source, name = place
            found.setdefault(source, {}).setdefault(name, []).append(node)
    return {
        source: [
            _partition(nodes, source) for nodes in by_name.values() if filter_fn is None or all(map(filter_fn, nodes))
        ]
        for source, by_name in found.items()
    }


def _source(node: Node, wanted: list[Any]) -> tuple[Any, Any] | None:
    """Return the wanted source of a node and the name of the call; None where it came of another."""
    stack = node.meta.get("source_fn_stack")
    if stack is not None:
        name, source = stack[-1][:2]
        return (source, name) if source in wanted else None
    called = node.meta.get("torch_fn")
    if called is not None and called[1].split(".")[1] in wanted:
        return called[1].split(".")[1], called[0]
    modules = node.meta.get("nn_module_stack")
    if node.op == "call_function" and modules:
        name, kind = list(modules.values())[-1]
        for source in wanted:
            if _is_of(kind, source):
                return source, name
    return None


def _is_of(kind: Any, source: Any) -> bool:
    if not isinstance(source, type):
        return kind == source
    if isinstance(kind, str):
        return kind == f"{source.__module__}.{source.__qualname__}"
    return isinstance(kind, type) and issubclass(kind, source)


def _partition(nodes: list[Node], source: Any) -> SourcePartition:
    inputs = {
        one: None
        for node in nodes
        for one in node.args
        if isinstance(one, Node) and one not in nodes and one.op != "get_attr"
    }
    params = [node for node in nodes if node.op == "get_attr"]
    outputs = [node for node in nodes if node.op != "get_attr" and any(user not in nodes for user in node.users)]
    return SourcePartition(nodes, source, list(inputs), outputs, params)


@compatibility(is_backward_compatible=False)
def check_subgraphs_connected(subgraph1: SourcePartition, subgraph2: SourcePartition) -> bool:
    """Return whether a node of the second partition uses one of the first."""
    return any(user in subgraph2.nodes for node in subgraph1.nodes for user in node.users)


adopt(globals())

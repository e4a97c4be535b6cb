"""`torch.fx.subgraph_rewriter`: replacing a pattern wherever it stands in a graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from mindtorch._naming import adopt
from mindtorch.fx._symbolic_trace import symbolic_trace
from mindtorch.fx.graph import Graph
from mindtorch.fx.graph_module import GraphModule
from mindtorch.fx.node import Node
from mindtorch.fx.passes.utils.matcher_utils import InternalMatch, SubgraphMatcher
from mindtorch.nn import Module

__all__ = ["Match", "ReplacedPatterns", "replace_pattern", "replace_pattern_with_filters"]


class Match(NamedTuple):
    """One place where a pattern stood: its last node, and the graph's node for each of the pattern's.

    >>> graph = torch.fx.symbolic_trace(lambda x: torch.relu(x + 1) * 2)
    >>> found = torch.fx.subgraph_rewriter.replace_pattern(graph, lambda x: torch.relu(x), lambda x: torch.abs(x))
    >>> [match.anchor.name for match in found]
    ['relu']
    """

    anchor: Node
    nodes_map: dict[Node, Node]


@dataclass
class ReplacedPatterns:
    """As `Match`, with the nodes that came in its place.

    >>> graph = torch.fx.symbolic_trace(lambda x: torch.relu(x + 1) * 2)
    >>> from torch.fx.subgraph_rewriter import replace_pattern_with_filters
    >>> (found,) = replace_pattern_with_filters(graph, lambda x: torch.relu(x), lambda x: torch.abs(x))
    >>> type(found).__name__, [node.name for node in found.replacements]
    ('ReplacedPatterns', ['abs_1'])
    """

    anchor: Node
    nodes_map: dict[Node, Node]
    replacements: list[Node]


Filter = Callable[[InternalMatch, Graph, Graph], bool]


def replace_pattern(
    gm: GraphModule, pattern: Callable[..., Any] | GraphModule, replacement: Callable[..., Any] | GraphModule
) -> list[Match]:
    """Replace a pattern, a function or module, wherever it stands in the graph of `gm`, and return the places.

    Parameters of the pattern match anything; the replacement gets them in the same order.

    >>> traced = torch.fx.symbolic_trace(lambda x: torch.relu(x))
    >>> _ = torch.fx.replace_pattern(traced, lambda x: torch.relu(x), lambda x: torch.neg(x))
    >>> traced(torch.ones(1))
    tensor([-1.])
    """
    found = replace_pattern_with_filters(gm, pattern, replacement)
    return [Match(anchor=one.anchor, nodes_map=one.nodes_map) for one in found]


def replace_pattern_with_filters(
    gm: GraphModule,
    pattern: Callable[..., Any] | Graph | GraphModule,
    replacement: Callable[..., Any] | Graph | GraphModule | None = None,
    match_filters: list[Filter] | None = None,
    ignore_literals: bool = False,
    replacement_callback: Callable[[InternalMatch, Graph, Graph], Graph] | None = None,
    node_name_match: str = "",
) -> list[ReplacedPatterns]:
    """As `replace_pattern`, for the places that every filter accepts.

    Args:
        match_filters: each gets the place, the graph and the pattern.
        ignore_literals: numbers and strings among arguments match any others.
        replacement_callback: makes the replacement for each place.

    Raises:
        AssertionError: no replacement, or one with another number of parameters.
        NotImplementedError: `node_name_match`.

    >>> graph = torch.fx.symbolic_trace(lambda x: torch.relu(x + 1) * 2)
    >>> from torch.fx.subgraph_rewriter import replace_pattern_with_filters
    >>> found = replace_pattern_with_filters(graph, lambda x: torch.relu(x), lambda x: torch.abs(x))
    >>> len(found), graph(torch.tensor([-3.0]))
    (1, tensor([4.]))
    """
    if node_name_match:
        raise NotImplementedError("replace_pattern_with_filters(): node_name_match is not offered")
    pattern_graph, replacement_graph = _graph_of(pattern), None if replacement is None else _graph_of(replacement)
    matcher = SubgraphMatcher(
        pattern_graph,
        match_output=False,
        match_placeholder=False,
        remove_overlapping_matches=True,
        ignore_literals=ignore_literals,
    )
    places = [
        one
        for one in matcher.match(gm.graph)
        if all(accepts(one, gm.graph, pattern_graph) for accepts in match_filters or [])
    ]
    done: list[ReplacedPatterns] = []
    moved: dict[Node, Node] = {}
    for place in places:
        used = replacement_graph
        if replacement_callback is not None:
            used = replacement_callback(place, gm.graph, pattern_graph)
        if used is None:
            raise AssertionError("Must provide either replacement GraphModule or replacement_callback")
        done.append(_replace(gm.graph, pattern_graph, used, place, moved))
    gm.recompile()
    if isinstance(replacement, Module):
        _take_attributes(gm, replacement)
    return done


def _graph_of(program: Any) -> Graph:
    if isinstance(program, GraphModule):
        return program.graph
    return program if isinstance(program, Graph) else symbolic_trace(program).graph


def _replace(
    graph: Graph, pattern: Graph, replacement: Graph, place: InternalMatch, moved: dict[Node, Node]
) -> ReplacedPatterns:
    """Put a copy of `replacement` where `pattern` stands; `moved` tells what replaced earlier places."""
    inputs = [node for node in replacement.nodes if node.op == "placeholder"]
    if len(place.placeholder_nodes) != len(inputs):
        raise AssertionError(f"Placeholder count mismatch: {len(place.placeholder_nodes)} vs {len(inputs)}")
    values: dict[Node, Any] = {}
    for wanted, given in zip(inputs, place.placeholder_nodes, strict=True):
        if isinstance(given, Node):
            current = moved.get(given, given)
            while current in moved:
                current = moved[current]
            values[wanted] = current
            for key, node in place.nodes_map.items():
                if node is given:
                    place.nodes_map[key] = current
        else:
            values[wanted] = given
    users = [user for node in place.returning_nodes for user in node.users]
    before = len(graph.nodes)
    at = min(users) if users else place.returning_nodes[0]
    with graph.inserting_before(at) if users else graph.inserting_after(at):
        result = graph.graph_copy(replacement, values)
    made = [node for old, node in values.items() if old not in inputs and isinstance(node, Node)]
    if len(graph.nodes) != before + len(made):
        raise AssertionError("the replacement was not copied whole")
    results = [result] if isinstance(result, Node) else list(result or ())
    if len(results) != len(place.returning_nodes):
        raise AssertionError(f"Expected {len(place.returning_nodes)} returning nodes, got {len(results)}")
    for old, new in zip(place.returning_nodes, results, strict=True):
        old.replace_all_uses_with(new)
        moved[old] = new
    for node in reversed(pattern.nodes):
        if node.op not in ("placeholder", "output"):
            graph.erase_node(place.nodes_map[node])
    return ReplacedPatterns(anchor=place.anchors[0], nodes_map=place.nodes_map, replacements=made)


def _take_attributes(gm: GraphModule, replacement: Module) -> None:
    """Give `gm` the submodules and attributes of the replacement that its graph refers to and it lacks."""
    gm.delete_all_unused_submodules()
    for node in gm.graph.nodes:
        if node.op not in ("call_module", "get_attr"):
            continue
        have, wanted = _attribute(gm, node.target), _attribute(replacement, node.target)
        if have is None and wanted is not None:
            if isinstance(wanted, Module):
                gm.add_submodule(node.target, wanted)
            else:
                setattr(gm, node.target, wanted)
        elif have is None:
            raise RuntimeError(
                f'Attempted to create a "{node.op}" node during subgraph rewriting with target {node.target}, but the '
                "referenced attribute does not exist in the replacement GraphModule"
            )
    gm.graph.lint()


def _attribute(module: Any, target: str) -> Any:
    for part in target.split("."):
        module = getattr(module, part, None)
    return module


adopt(globals())

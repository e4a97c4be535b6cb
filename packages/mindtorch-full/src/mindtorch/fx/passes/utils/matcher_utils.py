"""`torch.fx.passes.utils.matcher_utils`: finding a pattern in a graph."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

from mindtorch._naming import adopt
from mindtorch.fx.graph import Graph
from mindtorch.fx.node import Node
from mindtorch.nn import Module

__all__ = ["InternalMatch", "SubgraphMatcher"]


@dataclass
class InternalMatch:
    """One place of a pattern in a graph.

    >>> graph = torch.fx.symbolic_trace(lambda x: torch.relu(x + 1) * 2)
    >>> from torch.fx.passes.utils.matcher_utils import SubgraphMatcher
    >>> pattern = torch.fx.symbolic_trace(lambda x: torch.relu(x)).graph
    >>> [[node.name for node in match.returning_nodes] for match in SubgraphMatcher(pattern).match(graph.graph)]
    [['relu']]
    """

    anchors: list[Node]
    nodes_map: dict[Node, Node] = field(default_factory=dict)
    placeholder_nodes: list[Node] = field(default_factory=list)
    returning_nodes: list[Node] = field(default_factory=list)
    name_node_map: dict[str, Node] = field(default_factory=dict)

    def __copy__(self) -> InternalMatch:
        return InternalMatch(
            anchors=self.anchors,
            nodes_map=self.nodes_map.copy(),
            placeholder_nodes=self.placeholder_nodes.copy(),
            returning_nodes=self.returning_nodes.copy(),
        )


class SubgraphMatcher:
    """Finds the places where the nodes of a pattern, a graph, stand in another graph.

    Args:
        pattern: the graph to look for.
        match_output: the pattern's output must be the graph's.
        match_placeholder: the pattern's inputs match inputs only, not any value.
        remove_overlapping_matches: of places that share a node keep the first.
        ignore_literals: arguments that are no nodes match any others.

    >>> graph = torch.fx.symbolic_trace(lambda x: torch.relu(x + 1) * 2)
    >>> from torch.fx.passes.utils.matcher_utils import SubgraphMatcher
    >>> pattern = torch.fx.symbolic_trace(lambda x: torch.relu(x)).graph
    >>> len(SubgraphMatcher(pattern).match(graph.graph))
    1
    """

    def __init__(
        self,
        pattern: Graph,
        match_output: bool = False,
        match_placeholder: bool = False,
        remove_overlapping_matches: bool = True,
        ignore_literals: bool = False,
    ) -> None:
        self.pattern = pattern
        self.match_output = match_output
        self.match_placeholder = match_placeholder
        self.remove_overlapping_matches = remove_overlapping_matches
        self.ignore_literals = ignore_literals
        if len(pattern.nodes) == 0:
            raise ValueError("SubgraphMatcher cannot be initialized with an empty pattern")
        for node in pattern.nodes:
            if node.op != "output" and not node.users:
                raise AssertionError("SubgraphMatcher cannot be initialized with an pattern with dead code")
        self.pattern_placeholder_nodes = [node for node in pattern.nodes if node.op == "placeholder"]
        output = pattern.output_node()
        self.pattern_returning_nodes = output.all_input_nodes
        self.pattern_anchors = (
            [output] if match_output else [one for one in output.all_input_nodes if len(one.users) == 1]
        )

    def match(self, graph: Graph, node_name_match: str = "") -> list[InternalMatch]:
        """Return the places, in the order of the graph."""
        starts = [[node for node in graph.nodes if self._same_kind(anchor, node)] for anchor in self.pattern_anchors]
        found = self._extend(InternalMatch(anchors=self.pattern_anchors), 0, starts)
        kept = [one for one in found if self._is_contained(one)]
        for one in kept:
            one.placeholder_nodes = [
                one.nodes_map[node] for node in self.pattern_placeholder_nodes if node in one.nodes_map
            ]
            one.returning_nodes = [one.nodes_map[node] for node in self.pattern_returning_nodes]
        return self._apart(kept) if self.remove_overlapping_matches else kept

    def _extend(self, match: InternalMatch, index: int, starts: list[list[Node]]) -> list[InternalMatch]:
        """Return the ways to match the anchors from `index` on."""
        if index == len(self.pattern_anchors):
            return [match]
        found: list[InternalMatch] = []
        anchor = self.pattern_anchors[index]
        for node in starts[index]:
            attempt = copy.copy(match)
            if self._match_nodes(anchor, node, attempt):
                found += self._extend(attempt, index + 1, starts)
        return found

    def _same_kind(self, pattern: Node, node: Node) -> bool:
        if not self.match_placeholder and pattern.op == "placeholder":
            return True
        if pattern.op != node.op:
            return False
        if pattern.op in ("placeholder", "output"):
            return True
        if pattern.op == "get_attr":
            return pattern.target.rpartition(".")[2] == node.target.rpartition(".")[2] or self._same_module(
                pattern, node
            )
        if pattern.op == "call_module":
            return self._same_module(pattern, node)
        return pattern.target == node.target

    @staticmethod
    def _same_module(pattern: Node, node: Node) -> bool:
        """Return whether two targets are modules, or values, of one type."""
        values = []
        for one in (pattern, node):
            value: Any = one.graph.owning_module
            for part in one.target.split("."):
                value = getattr(value, part, None)
            values.append(value)
        if pattern.op == "call_module" and not all(isinstance(one, Module) for one in values):
            return pattern.target == node.target
        return values[0] is not None and type(values[0]) is type(values[1])

    def _match_nodes(self, pattern: Node, node: Node, match: InternalMatch) -> bool:
        if not isinstance(pattern, Node) or not isinstance(node, Node):
            raise AssertionError(f"pattern {pattern} and graph node {node} must be nodes")
        if pattern in match.nodes_map:
            return match.nodes_map[pattern] is node
        if node in match.nodes_map.values() and pattern.op != "placeholder":
            return False
        if not self._same_kind(pattern, node):
            return False
        saved = dict(match.nodes_map)
        match.nodes_map[pattern] = node
        if pattern.op == "placeholder":
            return True
        ours, theirs = _spread(pattern), _spread(node)
        if len(ours) == len(theirs) and all(
            self._match_values(one, other, match) for one, other in zip(ours, theirs, strict=True)
        ):
            return True
        match.nodes_map = saved
        return False

    def _match_values(self, ours: Any, theirs: Any, match: InternalMatch) -> bool:
        if isinstance(ours, Node) and not isinstance(theirs, Node):
            if ours.op == "placeholder" and not self.match_placeholder:
                if ours in match.nodes_map:
                    return match.nodes_map[ours] == theirs
                match.nodes_map[ours] = theirs
                return True
            return False
        if isinstance(ours, Node):
            return self._match_nodes(ours, theirs, match)
        if isinstance(theirs, Node):
            return False
        if isinstance(ours, list | tuple) and isinstance(theirs, list | tuple):
            return len(ours) == len(theirs) and all(
                self._match_values(one, other, match) for one, other in zip(ours, theirs, strict=True)
            )
        return self.ignore_literals or (type(ours) is type(theirs) and ours == theirs)

    def _is_contained(self, match: InternalMatch) -> bool:
        """Return whether nobody outside uses what the pattern does not give."""
        inside = {node for node in match.nodes_map.values() if isinstance(node, Node)}
        for pattern, node in match.nodes_map.items():
            if pattern.op == "placeholder" or pattern in self.pattern_returning_nodes:
                continue
            if any(user not in inside for user in node.users):
                return False
        return True

    @staticmethod
    def _apart(matches: list[InternalMatch]) -> list[InternalMatch]:
        kept: list[InternalMatch] = []
        taken: set[Node] = set()
        for match in matches:
            own = {node for pattern, node in match.nodes_map.items() if pattern.op not in ("placeholder", "output")}
            if not own & taken:
                taken |= own
                kept.append(match)
        return kept


def _spread(node: Node) -> list[Any]:
    """Return a node's arguments in one order, however they were passed."""
    return [*node.args, *(node.kwargs[name] for name in sorted(node.kwargs))]


adopt(globals())

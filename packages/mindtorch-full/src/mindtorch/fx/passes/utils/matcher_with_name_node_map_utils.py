"""`torch.fx.passes.utils.matcher_with_name_node_map_utils`: patterns that give some of their nodes names."""

from __future__ import annotations

from typing import Any

from mindtorch._naming import adopt
from mindtorch.fx._compatibility import compatibility
from mindtorch.fx.graph import Graph, _PyTreeInfo
from mindtorch.fx.graph_module import GraphModule
from mindtorch.fx.node import Node
from mindtorch.fx.passes.utils.matcher_utils import InternalMatch, SubgraphMatcher
from mindtorch.utils._pytree import tree_flatten, tree_unflatten

__all__ = ["SubgraphMatcherWithNameNodeMap"]


def _split_to_graph_and_name_node_map(gm: GraphModule) -> tuple[GraphModule, dict[str, Node]]:
    """Take the dict of named nodes, the last item of what the pattern gives, out of it, and return both."""
    output = gm.graph.output_node()
    spec = gm._out_spec
    if spec is None:
        raise AssertionError("gm._out_spec is None")
    given = tree_unflatten(output.args[0], spec)
    if not isinstance(given, tuple):
        raise AssertionError("Expecting the pattern graph to return a tuple")
    if len(given) < 2:
        raise AssertionError("Expecting the pattern graph to have at least two outputs")
    *values, names = given
    if not isinstance(names, dict):
        raise AssertionError("Expecting the input graph to have a dict output as the last element")
    leaves, rest = tree_flatten(values)
    output.args = (leaves,)
    codegen: Any = gm.graph._codegen
    known = codegen.pytree_info
    codegen.pytree_info = _PyTreeInfo(known.orig_args, known.in_spec, rest)
    gm.recompile()
    return gm, names


@compatibility(is_backward_compatible=False)
class SubgraphMatcherWithNameNodeMap(SubgraphMatcher):
    """Finds a pattern, an exported module that gives beside its values a dict of named nodes.

    A match's `name_node_map` has the graph's node for each name.
    """

    def __init__(
        self,
        pattern_gm: GraphModule,
        match_output: bool = False,
        match_placeholder: bool = False,
        remove_overlapping_matches: bool = True,
        ignore_literals: bool = False,
    ) -> None:
        pattern_gm, self.name_node_map = _split_to_graph_and_name_node_map(pattern_gm)
        super().__init__(pattern_gm.graph, match_output, match_placeholder, remove_overlapping_matches, ignore_literals)

    def match(self, graph: Graph, node_name_match: str = "") -> list[InternalMatch]:
        """Return the places, in the order of the graph."""
        found = super().match(graph, node_name_match)
        for one in found:
            one.name_node_map.update({name: one.nodes_map[node] for name, node in self.name_node_map.items()})
        return found


adopt(globals())

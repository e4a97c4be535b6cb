"""`torch.fx.passes.infra.partitioner`: the parts of a graph that a backend can run."""

from __future__ import annotations

import logging
import operator
from collections.abc import Iterable, Sequence

from mindtorch._naming import adopt
from mindtorch.fx._spelling import _get_qualified_name
from mindtorch.fx.graph_module import GraphModule
from mindtorch.fx.node import Node
from mindtorch.fx.passes.infra._merging import Merging
from mindtorch.fx.passes.infra._merging import _DependencyViewer as _DependencyViewer
from mindtorch.fx.passes.operator_support import OperatorSupportBase
from mindtorch.fx.passes.utils.fuser_utils import fuse_by_partitions

logger = logging.getLogger("torch.fx.passes.infra.partitioner")
logger.setLevel(logging.WARNING)

_FREE = frozenset({"torch.ops.aten.view", "_operator.getitem"})
"""What counts as no work when a part has one node alone."""


class Partition:
    """A part of a graph: its nodes, each with its place counted from the end of the graph."""

    def __init__(
        self,
        id: int | None = None,
        nodes: Iterable[Node] | None = None,
        node_orders: Iterable[int | None] | None = None,
    ) -> None:
        self.id = id
        self.nodes: dict[Node, int | None] = {}
        listed = list(nodes or ())
        orders = [None] * len(listed) if node_orders is None else list(node_orders)
        if len(listed) != len(orders):
            raise AssertionError("nodes and node_orders must have the same length")
        self.nodes = dict(zip(listed, orders, strict=True))

    def __repr__(self) -> str:
        return str(self.nodes)

    def add_node(self, node: Node, node_order: int | None = None) -> None:
        """Add a node."""
        self.nodes[node] = node_order

    def remove_node(self, node: Node) -> None:
        """Remove a node."""
        del self.nodes[node]

    def size(self) -> int:
        """Return the number of nodes."""
        return len(self.nodes)


class CapabilityBasedPartitioner:
    """Finds the largest parts of a graph that a backend can run, and puts them into submodules.

    Args:
        graph_module: the program.
        operator_support: which nodes the backend can run.
        allows_single_node_partition: keep parts with one node that does work.
        non_compute_ops: names of further functions that do no work.
        allowed_single_node_partition_ops: names of functions that make a part of their own.
        skip_horizontal_fusion: join only nodes that use each other.
    """

    def __init__(
        self,
        graph_module: GraphModule,
        operator_support: OperatorSupportBase,
        allows_single_node_partition: bool = False,
        non_compute_ops: Sequence[str] | None = None,
        allowed_single_node_partition_ops: Sequence[str] | None = None,
        skip_horizontal_fusion: bool = False,
    ) -> None:
        self.graph_module = graph_module
        self.operator_support = operator_support
        self.allows_single_node_partition = allows_single_node_partition
        self.non_compute_ops = [] if non_compute_ops is None else non_compute_ops
        self.allowed_single_node_partition_ops = (
            [] if allowed_single_node_partition_ops is None else allowed_single_node_partition_ops
        )
        self.skip_horizontal_fusion = skip_horizontal_fusion
        self.dependency_viewer = _DependencyViewer(graph_module)

    def _is_node_supported(self, node: Node) -> bool:
        return self.operator_support.is_node_supported(dict(self.graph_module.named_modules()), node)

    def propose_partitions(self) -> list[Partition]:
        """Return the parts; no two of them depend on each other in a circle."""
        logger.debug("Proposing partitions...")
        merging = Merging(self.dependency_viewer)
        for order, node in enumerate(reversed(self.graph_module.graph.nodes)):
            made = merging.open(node, order) if self._is_node_supported(node) else None
            candidates = [] if made is None else [made]
            if not self.skip_horizontal_fusion:
                candidates += merging.by_order()
            elif made is not None:
                candidates += [merging.owner[user] for user in node.users if user in merging.owner]
            merging.join(list(dict.fromkeys(candidates)))
        parts = {
            number: Partition(number, (pair[0] for pair in pairs), (pair[1] for pair in pairs))
            for number, nodes in merging.nodes.items()
            for pairs in [sorted(nodes.items(), key=operator.itemgetter(1), reverse=True)]
        }
        self._gather_items(merging.owner, parts)
        if not self.allows_single_node_partition:
            parts = {number: part for number, part in parts.items() if self._has_work(part)}
        for number, part in parts.items():
            logger.debug("partition #%s: %s", number, [node.name for node in part.nodes])
        return [part for part in parts.values() if part.size() > 0]

    def _gather_items(self, owner: dict[Node, int], parts: dict[int, Partition]) -> None:
        """Move what takes an item of a node's value into the node's part, where nothing else uses the value."""
        while True:
            moves: dict[Node, int | None] = {}
            for node in self.graph_module.graph.nodes:
                if all(_calls(user, ("_operator.getitem",)) for user in node.users):
                    home = owner.get(node)
                    moves.update({user: home for user in node.users if owner.get(user) != home})
            if not moves:
                return
            for node, home in moves.items():
                if node in owner:
                    parts[owner.pop(node)].remove_node(node)
                if home is not None:
                    owner[node] = home
                    parts[home].add_node(node)

    def _has_work(self, part: Partition) -> bool:
        """Return whether a part has more than one node that does work, or one that may stand alone."""
        free = _FREE.union(self.non_compute_ops)
        count = 0
        for node in part.nodes:
            if node.op == "call_function":
                name = _get_qualified_name(node.target)
                count += (name not in free) + (name in self.allowed_single_node_partition_ops)
        return count > 1

    def fuse_partitions(self, partitions: list[Partition], prefix: str = "fused_") -> GraphModule:
        """Put each part into a submodule, and return the module."""
        logger.debug("Fusing partitions...")
        return fuse_by_partitions(self.graph_module, [part.nodes for part in partitions], prefix=prefix)

    def remove_bookend_non_compute_ops(self, partitions: list[Partition]) -> None:
        """Take nodes that do no work out of the parts where they stand at the beginning or the end."""
        free = set(self.non_compute_ops)
        first: dict[Node, bool] = {}
        last: dict[Node, bool] = {}

        def at_edge(node: Node, inside: set[Node], removed: set[Node], known: dict[Node, bool], ahead: bool) -> bool:
            if node.op == "placeholder" or node not in inside or node in removed:
                return True
            if node not in known:
                known[node] = _calls(node, free) and all(
                    at_edge(one, inside, removed, known, ahead)
                    for one in (node.users if ahead else node.all_input_nodes)
                )
            return known[node]

        for part in partitions:
            removed: set[Node] = set()
            inside = set(part.nodes)
            for node in part.nodes:
                if _calls(node, free) and (
                    at_edge(node, inside, removed, first, False) or at_edge(node, inside, removed, last, True)
                ):
                    removed.add(node)
            for node in removed:
                part.remove_node(node)

    def partition_and_fuse(self, prefix: str = "fused_") -> GraphModule:
        """Put the parts into submodules, and return the module."""
        return self.fuse_partitions(self.propose_partitions(), prefix=prefix)


def _calls(node: Node, names: Iterable[str]) -> bool:
    return node.op == "call_function" and _get_qualified_name(node.target) in names


adopt(globals())

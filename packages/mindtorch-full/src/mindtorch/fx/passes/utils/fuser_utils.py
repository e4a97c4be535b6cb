"""`torch.fx.passes.utils.fuser_utils`: putting nodes of a graph into a submodule."""

from __future__ import annotations

import copy
import heapq
import operator

from mindtorch._naming import adopt
from mindtorch.fx._compatibility import compatibility
from mindtorch.fx.graph import Graph
from mindtorch.fx.graph_module import GraphModule
from mindtorch.fx.node import Node
from mindtorch.fx.passes.tools_common import stable_topological_sort
from mindtorch.fx.passes.utils.common import lift_subgraph_as_module

__all__ = [
    "erase_nodes",
    "fuse_as_graphmodule",
    "fuse_by_partitions",
    "insert_subgm",
    "topo_sort",
    "validate_partition",
]


@compatibility(is_backward_compatible=False)
def topo_sort(nodes: list[Node]) -> list[Node]:
    """Return the nodes, each after those it uses; others stay in their order.

    Raises:
        AssertionError: they use each other in a circle.

    >>> graph = torch.fx.symbolic_trace(lambda x: torch.relu(x + 1) * 2)
    >>> nodes = [node for node in graph.graph.nodes if node.op == "call_function"]
    >>> from torch.fx.passes.utils.fuser_utils import topo_sort
    >>> [node.name for node in topo_sort(nodes[::-1])]
    ['add', 'relu', 'mul']
    """
    place = {node: index for index, node in enumerate(nodes)}
    waiting = {node: sum(one in place for one in node.all_input_nodes) for node in nodes}
    heap = [(place[node], node) for node, count in waiting.items() if count == 0]
    heapq.heapify(heap)
    order: list[Node] = []
    while heap:
        node = heapq.heappop(heap)[1]
        order.append(node)
        for user in node.users:
            if user in waiting:
                waiting[user] -= 1
                if waiting[user] == 0:
                    heapq.heappush(heap, (place[user], user))
    if len(order) != len(nodes):
        raise AssertionError("topological sorted nodes doesn't have same length as input nodes")
    return order


@compatibility(is_backward_compatible=False)
def validate_partition(partition: list[Node]) -> bool:
    """Return whether no way leads from the nodes through others back to them.

    >>> graph = torch.fx.symbolic_trace(lambda x: torch.relu(x + 1) * 2)
    >>> nodes = [node for node in graph.graph.nodes if node.op == "call_function"]
    >>> from torch.fx.passes.utils.fuser_utils import validate_partition
    >>> validate_partition(nodes), validate_partition([nodes[0], nodes[2]])
    (True, False)
    """
    inside = set(partition)
    waiting = [user for node in partition for user in node.users if user not in inside]
    seen = set(waiting)
    while waiting:
        for user in waiting.pop().users:
            if user in inside:
                return False
            if user not in seen:
                seen.add(user)
                waiting.append(user)
    return True


@compatibility(is_backward_compatible=False)
def fuse_as_graphmodule(
    gm: GraphModule,
    nodes: list[Node],
    module_name: str,
    partition_lookup_table: dict[Node, int | None] | None = None,
    *,
    always_return_tuple: bool = False,
) -> tuple[GraphModule, tuple[Node, ...], tuple[Node, ...]]:
    """Return a module of copies of nodes of `gm`, the nodes it takes, and the nodes whose values it gives.

    Args:
        nodes: each after those it uses.
        module_name: the name of the module's class.
        partition_lookup_table: has the nodes as keys.
        always_return_tuple: a single value is given as a tuple too.

    Raises:
        AssertionError: a node is not in `gm`, or the nodes depend on each other through others.

    >>> graph = torch.fx.symbolic_trace(lambda x: torch.relu(x + 1) * 2)
    >>> nodes = [node for node in graph.graph.nodes if node.op == "call_function"]
    >>> from torch.fx.passes.utils.fuser_utils import fuse_as_graphmodule
    >>> fused, inputs, outputs = fuse_as_graphmodule(graph, nodes[:2], "fused")
    >>> fused(torch.ones(1)), [node.name for node in inputs]
    (tensor([2.]), ['x'])
    """
    present = set(gm.graph.nodes)
    for node in nodes:
        if node.graph.owning_module is not gm:
            raise AssertionError(f"{node} doesn't belong to passed in graph module {gm._get_name()}")
        if node._erased:
            raise AssertionError(f"{node} has been removed from owning graph")
        if node not in present:
            raise AssertionError(f"{node} is not found in graph module {gm._get_name()}")
    if not validate_partition(nodes):
        raise AssertionError("Invalid partition, found dependency cycles")
    inside = partition_lookup_table if partition_lookup_table is not None else dict.fromkeys(nodes)
    subgraph = Graph()
    inputs: dict[Node, Node] = {}
    copies: dict[Node, Node] = {}

    def value(used: Node) -> Node:
        if used in inside:
            return copies[used]
        if used not in inputs:
            inputs[used] = subgraph.placeholder(used.name, type_expr=used.type)
            inputs[used].meta = copy.copy(used.meta)
        return inputs[used]

    for node in nodes:
        copies[node] = subgraph.node_copy(node, value)
    outputs = [node for node in nodes if any(user not in inside for user in node.users)]
    given = tuple(copies[node] for node in outputs)
    subgraph.output(given[0] if len(given) == 1 and not always_return_tuple else given)
    subgraph.lint()
    made, _ = lift_subgraph_as_module(gm, subgraph, comp_name="", class_name=module_name)
    return made, tuple(inputs), tuple(outputs)


@compatibility(is_backward_compatible=False)
def insert_subgm(
    gm: GraphModule,
    sub_gm: GraphModule,
    orig_inputs: tuple[Node, ...],
    orig_outputs: tuple[Node, ...],
    insertion_point: Node | None = None,
) -> GraphModule:
    """Call a module made by `fuse_as_graphmodule` after a node of `gm`, and let users of the old values use its.

    Args:
        insertion_point: the node; without it the last whose value the module gives.

    Raises:
        AssertionError: the module gives nothing and no node is named.
    """
    name = type(sub_gm).__name__
    gm.add_submodule(name, sub_gm)
    if insertion_point is None:
        insertion_point = max(orig_outputs, default=None)
        if insertion_point is None:
            raise AssertionError(
                "Cannot determine insertion point: no insertion_point provided and orig_outputs is empty. Pass the last "
                "partition node as insertion_point."
            )
    with gm.graph.inserting_after(insertion_point):
        called = gm.graph.call_module(name, args=orig_inputs)
    if not orig_outputs:
        return gm
    if len(orig_outputs) == 1 and not isinstance(sub_gm.graph.output_node().args[0], tuple):
        orig_outputs[0].replace_all_uses_with(called, propagate_meta=True)
        return gm
    with gm.graph.inserting_before(called.next):
        for index, old in enumerate(orig_outputs):
            item = gm.graph.call_function(operator.getitem, (called, index))
            old.replace_all_uses_with(item, propagate_meta=True)
    called.meta["val"] = tuple(old.meta.get("val") for old in orig_outputs)
    return gm


@compatibility(is_backward_compatible=False)
def erase_nodes(gm: GraphModule, nodes: list[Node]) -> None:
    """Remove nodes, the last first."""
    for node in reversed(nodes):
        gm.graph.erase_node(node)


@compatibility(is_backward_compatible=False)
def fuse_by_partitions(
    gm: GraphModule,
    partitions: list[dict[Node, int | None]],
    prefix: str = "fused_",
    always_return_tuple: bool = False,
) -> GraphModule:
    """Put the nodes of each partition into a submodule of `gm`, called by the prefix and a number; return `gm`.

    >>> graph = torch.fx.symbolic_trace(lambda x: torch.relu(x + 1) * 2)
    >>> nodes = [node for node in graph.graph.nodes if node.op == "call_function"]
    >>> from torch.fx.passes.utils.fuser_utils import fuse_by_partitions
    >>> made = fuse_by_partitions(graph, [dict.fromkeys(nodes[:2])])
    >>> [node.name for node in made.graph.nodes]
    ['x', 'fused_0', 'mul', 'output']
    """
    for number, partition in enumerate(partitions):
        nodes = topo_sort(list(partition))
        made, inputs, outputs = fuse_as_graphmodule(
            gm, nodes, f"{prefix}{number}", partition, always_return_tuple=always_return_tuple
        )
        insert_subgm(gm, made, inputs, outputs, nodes[-1])
        erase_nodes(gm, nodes)
    stable_topological_sort(gm)
    gm.graph.lint()
    return gm


adopt(globals())

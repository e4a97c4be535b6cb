"""Names in the graphs of `torch.cond`'s functions: an input is called what the graph around it gives."""

from __future__ import annotations

from typing import Any

from mindtorch import fx
from mindtorch._higher_order_ops.cond import CondOp


def name_inner_inputs(root: Any, graph: fx.Graph) -> None:
    """Name the inputs of the functions that a graph calls, and of those that these call; `root` keeps their modules."""
    for node in graph.nodes:
        if isinstance(node.target, CondOp):
            names = [one.name for one in node.args[3]]
            for branch in node.args[1:3]:
                setattr(root, branch.target, _named(getattr(root, branch.target), names))


def _named(module: fx.GraphModule, names: list[str]) -> fx.GraphModule:
    graph = fx.Graph()
    nodes: dict[fx.Node, fx.Node] = {}
    for node, name in zip(module.graph.find_nodes(op="placeholder"), names, strict=True):
        nodes[node] = graph.placeholder(name)
        nodes[node].meta = dict(node.meta)
    results, output = graph.graph_copy(module.graph, nodes, return_output_node=True)
    graph.output(results).meta = dict(output.meta)
    name_inner_inputs(module, graph)
    return fx.GraphModule(module, graph)

"""`torch._functorch.partitioners`: a graph of a forward and its backward as two, and what the first saves for the second."""

from __future__ import annotations

from typing import Any

from mindtorch import fx
from mindtorch._naming import adopt

__all__ = ["default_partition"]


def default_partition(
    joint_module: fx.GraphModule, _joint_inputs: Any, *, num_fwd_outputs: int, **kwargs: Any
) -> tuple[fx.GraphModule, fx.GraphModule]:
    """Return the graph of the forward and that of the backward.

    The forward has what its outputs need; it returns, after these, the values that the backward reads.
    """
    graph = joint_module.graph
    output = next(node for node in graph.nodes if node.op == "output")
    outs = list(output.args[0])
    forward_outs, gradients = outs[:num_fwd_outputs], outs[num_fwd_outputs:]
    primals = [node for node in graph.nodes if node.op == "placeholder" and not _is_tangent(node)]
    tangents = [node for node in graph.nodes if _is_tangent(node)]
    late = _after(graph, tangents)
    written = [node for node in graph.nodes if _writes(node) and node not in late]
    first = _needed([one for one in (*forward_outs, *written) if isinstance(one, fx.Node)]) | set(primals)
    second = _needed([one for one in gradients if isinstance(one, fx.Node)]) - first
    saved: list[fx.Node] = []
    for node in graph.nodes:
        read = [one for one in node.all_input_nodes if node in second] + (gradients if node is output else [])
        saved += [one for one in read if isinstance(one, fx.Node) and one in first and one not in saved]
    saved.sort(key={node: place for place, node in enumerate(graph.nodes)}.__getitem__)
    forward = _extracted(graph, primals, first, (*forward_outs, *saved))
    backward = _extracted(graph, [*saved, *tangents], second, tuple(gradients))
    return fx.GraphModule(joint_module, forward), fx.GraphModule(joint_module, backward)


def min_cut_rematerialization_partition(joint_module: fx.GraphModule, _joint_inputs: Any, **kwargs: Any) -> Any:
    """Return the graphs of `default_partition`: what is saved is not chosen by its size, numbers are the same."""
    return default_partition(joint_module, _joint_inputs, num_fwd_outputs=kwargs["num_fwd_outputs"])


def _is_tangent(node: fx.Node) -> bool:
    return node.op == "placeholder" and node.name.startswith("tangents_")


def _writes(node: fx.Node) -> bool:
    schema = getattr(node.target, "_schema", None)
    return schema is not None and schema.is_mutable


def _after(graph: fx.Graph, start: list[fx.Node]) -> set[fx.Node]:
    """Return the nodes that depend on `start`."""
    found = set(start)
    for node in graph.nodes:
        if any(one in found for one in node.all_input_nodes):
            found.add(node)
    return found


def _needed(outs: list[fx.Node]) -> set[fx.Node]:
    found: set[fx.Node] = set()
    waiting = list(outs)
    while waiting:
        node = waiting.pop()
        if node not in found:
            found.add(node)
            waiting += node.all_input_nodes
    return found


def _extracted(graph: fx.Graph, inputs: list[fx.Node], body: set[fx.Node], outs: tuple[Any, ...]) -> fx.Graph:
    made = fx.Graph()
    nodes: dict[fx.Node, fx.Node] = {}
    for node in inputs:
        nodes[node] = made.placeholder(node.name)
        nodes[node].meta = dict(node.meta)
    for node in graph.nodes:
        if node in body and node not in nodes and node.op not in ("placeholder", "output"):
            nodes[node] = made.node_copy(node, nodes.__getitem__)
    made.output(fx.node.map_arg(outs, nodes.__getitem__))
    made.eliminate_dead_code(lambda node: node.op in ("placeholder", "output") or _writes(node))
    return made


adopt(globals())

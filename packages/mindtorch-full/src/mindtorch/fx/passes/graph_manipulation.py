"""`torch.fx.passes.graph_manipulation`: other targets for nodes, and the sizes of their values."""

from __future__ import annotations

from typing import Any, NamedTuple

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.fx._compatibility import compatibility
from mindtorch.fx.graph import Graph
from mindtorch.fx.graph_module import GraphModule
from mindtorch.fx.node import Node, map_arg
from mindtorch.fx.passes.shape_prop import ShapeProp, TensorMetadata

__all__ = ["get_size_of_all_nodes", "get_size_of_node", "get_tensor_meta", "replace_target_nodes_with", "size_bytes"]


@compatibility(is_backward_compatible=False)
def replace_target_nodes_with(
    fx_module: GraphModule, old_op: str, old_target: Any, new_op: str, new_target: Any
) -> None:
    """Let every node of an op and target be of another op and target.

    >>> graph = torch.fx.symbolic_trace(lambda x: torch.relu(x + 1) * 2)
    >>> from torch.fx.passes.graph_manipulation import replace_target_nodes_with
    >>> replace_target_nodes_with(graph, "call_function", torch.relu, "call_function", torch.abs)
    >>> _ = graph.recompile()
    >>> graph(torch.tensor([-3.0]))
    tensor([4.])
    """
    made = Graph()
    copies: dict[Node, Node] = {}
    for node in fx_module.graph.nodes:
        if node.op == old_op and node.target == old_target:
            args, kwargs = map_arg((node.args, node.kwargs), copies.__getitem__)
            copies[node] = made.create_node(new_op, new_target, args, kwargs, node.name)
        else:
            copies[node] = made.node_copy(node, copies.__getitem__)
    fx_module.graph = made


@compatibility(is_backward_compatible=False)
class size_bytes(NamedTuple):
    """The bytes of a node's value, and with the parameters of the module it calls.

    >>> from torch.fx.passes.graph_manipulation import size_bytes
    >>> size_bytes(output_size=48, total_size=60)
    size_bytes(output_size=48, total_size=60)
    """

    output_size: int
    total_size: int


@compatibility(is_backward_compatible=False)
def get_size_of_all_nodes(fx_module: GraphModule, args: list[torch.Tensor] | None = None) -> None:
    """Write each node's sizes into its attribute `size_bytes`, after running the program on `args` if they are given."""
    if args is not None:
        ShapeProp(fx_module).propagate(*args)
    for node in fx_module.graph.nodes:
        if node.op == "output":
            break
        node.size_bytes = get_size_of_node(fx_module, node)


@compatibility(is_backward_compatible=False)
def get_tensor_meta(node: Node) -> TensorMetadata:
    """Return what shape propagation noted of a node's value.

    Raises:
        RuntimeError: nothing.

    >>> graph = torch.fx.symbolic_trace(lambda x: torch.relu(x + 1) * 2)
    >>> from torch.fx.passes.shape_prop import ShapeProp
    >>> _ = ShapeProp(graph).propagate(torch.ones(2, 3))
    >>> node = next(iter(graph.graph.nodes))
    >>> torch.fx.passes.graph_manipulation.get_tensor_meta(node).dtype
    torch.float32
    """
    found = node.meta.get("tensor_meta")
    if not found:
        raise RuntimeError(
            f"Node {node} has no tensor metadata associated with it! Check that shape propagation has run."
        )
    return found


@compatibility(is_backward_compatible=False)
def get_size_of_node(fx_module: GraphModule, node: Node) -> size_bytes:
    """Return a node's sizes; parameters count as items of the value's dtype.

    >>> graph = torch.fx.symbolic_trace(lambda x: torch.relu(x + 1) * 2)
    >>> from torch.fx.passes.shape_prop import ShapeProp
    >>> _ = ShapeProp(graph).propagate(torch.ones(2, 3))
    >>> node = next(iter(graph.graph.nodes))
    >>> torch.fx.passes.graph_manipulation.get_size_of_node(graph, node)
    size_bytes(output_size=24, total_size=24)
    """
    meta = get_tensor_meta(node)
    given = meta.shape.numel()
    held = 0
    if node.op == "call_module":
        held = sum(one.numel() for one in fx_module.get_submodule(node.target).parameters())
    width = torch.empty(0, dtype=meta.dtype).element_size()
    return size_bytes(width * given, width * (given + held))


adopt(globals())

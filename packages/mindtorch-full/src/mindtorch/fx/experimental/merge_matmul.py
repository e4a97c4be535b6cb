"""`torch.fx.experimental.merge_matmul`: products with one right-hand side as one product."""

from __future__ import annotations

import itertools
import operator
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.fx._symbolic_trace import symbolic_trace
from mindtorch.fx.graph_module import GraphModule
from mindtorch.fx.node import Node
from mindtorch.fx.passes.tools_common import legalize_graph
from mindtorch.fx.proxy import Proxy
from mindtorch.nn import Module

__all__ = ["are_nodes_independent", "may_depend_on", "merge_matmul", "split_result_tensors"]


def split_result_tensors(result: torch.Tensor, inputs: list[torch.Tensor]) -> tuple[torch.Tensor, ...]:
    """Return the rows of `result` that belong to each of the inputs; a traced result has no sizes, so these are zeros.

    >>> from torch.fx.experimental.merge_matmul import split_result_tensors
    >>> split_result_tensors(torch.arange(3.0).reshape(3, 1), [torch.ones(1, 1), torch.ones(2, 1)])
    (tensor([[0.]]), tensor([[1.],
            [2.]]))
    """
    sizes = [0] * len(inputs) if isinstance(result, Proxy) else [one.shape[0] for one in inputs]
    return torch.split(result, sizes)


def may_depend_on(a: Node, b: Node, search_depth: int = 6) -> bool:
    """Return whether `a` depends on `b`; what is more than `search_depth` nodes away counts as such.

    >>> graph = torch.fx.symbolic_trace(lambda x: torch.relu(x + 1) * 2)
    >>> from torch.fx.experimental.merge_matmul import may_depend_on
    >>> nodes = list(graph.graph.nodes)
    >>> may_depend_on(nodes[2], nodes[1]), may_depend_on(nodes[1], nodes[2])
    (True, False)
    """
    if a == b:
        return True
    if not a.all_input_nodes:
        return False
    return search_depth == 0 or any(may_depend_on(one, b, search_depth - 1) for one in a.all_input_nodes)


def are_nodes_independent(nodes: list[Node]) -> bool:
    """Return whether none of the nodes depends on another.

    >>> graph = torch.fx.symbolic_trace(lambda x: torch.relu(x + 1) * 2)
    >>> from torch.fx.experimental.merge_matmul import are_nodes_independent
    >>> are_nodes_independent(list(graph.graph.nodes)[1:3])
    False
    """
    return not any(may_depend_on(a, b) or may_depend_on(b, a) for a, b in itertools.combinations(nodes, 2))


def merge_matmul(in_mod: Module) -> GraphModule:
    """Return the traced module with independent products `A @ C`, `B @ C` computed as one, of A and B stacked.

    >>> from torch.fx.experimental.merge_matmul import merge_matmul
    >>> class Model(torch.nn.Module):
    ...     def forward(self, a, b, w):
    ...         return torch.matmul(a, w) + torch.matmul(b, w)
    >>> made = merge_matmul(Model())
    >>> sum(node.target is torch.matmul for node in made.graph.nodes)
    1
    """
    gm = symbolic_trace(in_mod)
    by_rhs: dict[Any, list[Node]] = {}
    for node in gm.graph.nodes:
        if node.op == "call_function" and node.target is torch.matmul:
            by_rhs.setdefault(_operand(node.args[1]), []).append(node)
    for rhs, products in by_rhs.items():
        if len(products) >= 2 and are_nodes_independent(products):
            _merge(gm, rhs, products)
    gm.recompile()
    gm.graph.lint()
    return gm


def _operand(node: Node) -> Any:
    """Return what an operand is known by: an attribute read twice is one."""
    return node.target if node.op == "get_attr" else node


def _merge(gm: GraphModule, rhs: Any, products: list[Node]) -> None:
    graph = gm.graph
    operands = [_operand(one.args[0]) for one in products]
    lefts = [graph.get_attr(one) if isinstance(one, str) else one for one in operands]
    right = graph.get_attr(rhs) if isinstance(rhs, str) else rhs
    stacked = graph.call_function(torch.cat, (lefts,), {})
    product = graph.call_function(torch.matmul, (stacked, right), {})
    parts = graph.call_function(split_result_tensors, (product, lefts), {})
    items = [graph.call_function(operator.getitem, (parts, index), {}) for index in range(len(lefts))]
    for old, new in zip(products, items, strict=True):
        old.replace_all_uses_with(new)
        graph.erase_node(old)
    legalize_graph(gm)


adopt(globals())

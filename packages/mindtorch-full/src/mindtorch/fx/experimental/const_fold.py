"""`torch.fx.experimental.const_fold`: computing once what depends on attributes alone."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.fx._symbolic_trace import symbolic_trace
from mindtorch.fx.graph import Graph
from mindtorch.fx.graph_module import GraphModule
from mindtorch.fx.node import Node, map_arg
from mindtorch.fx.passes.split_module import split_module
from mindtorch.nn import Module, Parameter, ParameterList

__all__ = ["FoldedGraphModule", "get_unique_attr_name_in_module", "split_const_subgraphs"]


class FoldedGraphModule(GraphModule):
    """A module with a second graph that runs before the first call and whose values become an attribute.

    Args:
        const_subgraph: that graph; None where there is nothing to compute.
        fx_const_folded_attrs_name: the attribute.
        device_for_folded_attrs: where integers among the values go, as tensors.
    """

    def __init__(
        self,
        root: Module,
        graph: Graph,
        const_subgraph: Graph | None = None,
        fx_const_folded_attrs_name: str | None = None,
        device_for_folded_attrs: str = "cuda",
    ) -> None:
        super().__init__(root, graph)
        self.const_subgraph_module = None if const_subgraph is None else GraphModule(root, const_subgraph)
        self.has_folding_been_run = False
        self.fx_const_folded_attrs_name = fx_const_folded_attrs_name
        self.device_for_folded_attrs = device_for_folded_attrs

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the module; keyword arguments are not passed on."""
        if not self.has_folding_been_run:
            self.run_folding()
        return super().__call__(*args)

    def run_folding(self) -> None:
        """Compute the attribute.

        Raises:
            AssertionError: it was computed before.
        """
        if self.const_subgraph_module is None or self.fx_const_folded_attrs_name is None:
            return
        if self.has_folding_been_run:
            raise AssertionError("Folding has already been run")
        self.has_folding_been_run = True
        values = self.const_subgraph_module()
        folded = (
            ParameterList([self._parameter(one) for one in values])
            if isinstance(values, tuple)
            else self._parameter(values)
        )
        setattr(self, self.fx_const_folded_attrs_name, folded)

    def _parameter(self, value: Any) -> Parameter:
        if isinstance(value, int):
            return Parameter(torch.Tensor([value]).to(device=self.device_for_folded_attrs), requires_grad=False)
        return Parameter(value.detach().clone(), requires_grad=value.requires_grad)


def _inline_module(gm: GraphModule, inline_mod_name: str, run_dce: bool = True) -> dict[Node, Any]:
    """Put the nodes of a submodule's graph in the place of its call, and return what stands for each of them."""
    inner = dict(gm.named_modules())[inline_mod_name]
    if not isinstance(inner, GraphModule):
        raise AssertionError(f"Expected GraphModule, got {type(inner)}")
    call = next(iter(gm.graph.find_nodes(op="call_module", target=inline_mod_name)), None)
    if call is None:
        raise AssertionError(f"Could not find call_module node for {inline_mod_name}")
    values: dict[Node, Any] = {}

    def value(node: Node) -> Any:
        found = values[node]
        found.meta = node.meta.copy()
        return found

    given = iter(call.args)
    for node in inner.graph.nodes:
        if node.op == "placeholder":
            positional = next(given, None)
            values[node] = call.kwargs.get(node.name, positional)
        elif node.op == "output":
            _replace_call(gm.graph, call, map_arg(node.args[0], value), values)
        else:
            with gm.graph.inserting_before(call):
                values[node] = gm.graph.node_copy(node, value)
    gm.graph.erase_node(call)
    if run_dce:
        gm.graph.eliminate_dead_code()
    return values


def _replace_call(graph: Graph, call: Node, results: Any, values: dict[Node, Any]) -> None:
    """Let the users of a call use what it gives; those that take an item of several values use the item."""
    users = list(call.users) if isinstance(results, list | tuple) else []
    items = [
        user
        for user in users
        if user.op == "call_function" and user.target is operator.getitem and isinstance(user.args[1], int)
    ]
    for user in items:
        values[user] = results[user.args[1]]
        user.replace_all_uses_with(values[user])
        graph.erase_node(user)
    call.replace_all_uses_with(results)


def get_unique_attr_name_in_module(mod_traced: GraphModule, name: str) -> str:
    """Return a name that is one of Python's and that the module has no attribute of, as near to `name` as can be.

    >>> from torch.fx.experimental.const_fold import get_unique_attr_name_in_module
    >>> get_unique_attr_name_in_module(torch.nn.Linear(2, 1), "weight")
    'weight_1'
    """
    name = re.sub("[^0-9a-zA-Z_]+", "_", name)
    if name[0].isdigit():
        name = f"_{name}"
    while hasattr(mod_traced, name):
        numbered = re.match(r"(.*)_(\d+)$", name)
        name = f"{name}_1" if numbered is None else f"{numbered[1]}_{int(numbered[2]) + 1}"
    return name


def _has_impure_call(module: GraphModule) -> bool:
    """Return whether a graph, or one that it calls, has a node that does more than give its value."""
    for node in module.graph.nodes:
        if node.op == "call_function" and node.is_impure():
            return True
        if node.op == "call_module":
            called = module.get_submodule(node.target)
            if isinstance(called, GraphModule):
                return _has_impure_call(called)
    return False


def _constant_nodes(gm: GraphModule, skip: Callable[[Node], bool] | None) -> set[Node]:
    """Return the nodes that depend on attributes alone and may be computed once."""
    found: set[Node] = set()
    for node in gm.graph.nodes:
        if node.op in ("placeholder", "output"):
            continue
        if node.op != "get_attr" and not found.issuperset(node.all_input_nodes):
            continue
        if (skip is not None and skip(node)) or node.is_impure():
            continue
        called = gm.get_submodule(node.target) if node.op == "call_module" else None
        if isinstance(called, GraphModule) and _has_impure_call(called):
            continue
        found.add(node)
    return found


def _with_attributes(split: GraphModule, const_gm: GraphModule, arguments: tuple[Any, ...]) -> tuple[Graph, bool]:
    """Let the constant part read the attributes that it was given; return its graph and whether it gives several values."""
    made = GraphModule(split, const_gm.graph)
    graph = made.graph
    inputs = [node for node in graph.nodes if node.op == "placeholder"]
    if len(inputs) > len(arguments):
        raise AssertionError(f"Placeholder index {len(arguments)} out of range for args (len={len(arguments)})")
    for node, given in zip(inputs, arguments, strict=False):
        if given.op != "get_attr":
            raise AssertionError(f"Expected get_attr, got {given.op}")
        with graph.inserting_before(node):
            read = graph.get_attr(given.target)
        read.meta = node.meta.copy()
        node.replace_all_uses_with(read)
        graph.erase_node(node)
    return graph, isinstance(graph.output_node().args[0], tuple)


def split_const_subgraphs(
    module: Module | GraphModule,
    skip_folding_node_fn: Callable[[Node], bool] | None = None,
    device_for_folded_attrs: str = "cpu",
) -> FoldedGraphModule:
    """Return the traced module with what depends on attributes alone computed before the first call.

    Args:
        skip_folding_node_fn: which nodes to leave where they are.
        device_for_folded_attrs: where integers among the computed values go, as tensors.

    >>> class Model(torch.nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.w = torch.nn.Parameter(torch.ones(1))
    ...     def forward(self, x):
    ...         return x + (self.w + 1)
    >>> from torch.fx.experimental.const_fold import split_const_subgraphs
    >>> folded = split_const_subgraphs(Model())
    >>> folded.run_folding()
    >>> folded(torch.ones(1)).detach(), type(folded).__name__
    (tensor([3.]), 'GraphModule')
    """
    traced = module if isinstance(module, GraphModule) else symbolic_trace(module)
    constant = _constant_nodes(traced, skip_folding_node_fn)
    if all(node.op == "get_attr" for node in constant):
        return FoldedGraphModule(traced, traced.graph)
    split = split_module(traced, module, lambda node: 0 if node in constant else 1)
    const_gm: Any = split.submod_0
    rest = getattr(split, "submod_1", None)
    for part in (rest, const_gm):
        for node in part.graph.nodes if part is not None else ():
            if node.op == "call_module":
                setattr(split, node.target, getattr(part, node.target))
    call = next(iter(split.graph.find_nodes(op="call_module", target="submod_0")), None)
    if call is None:
        raise AssertionError("Could not find call_module node for const_gm")
    const_graph, several = _with_attributes(split, const_gm, call.args)
    name = get_unique_attr_name_in_module(traced, "_FX_CONST_FOLDED_ATTRS")
    setattr(split, name, ParameterList() if several else Parameter())
    with split.graph.inserting_before(call):
        folded = split.graph.get_attr(name)
    folded.meta = call.meta.copy()
    call.replace_all_uses_with(folded)
    if rest is not None:
        _inline_module(split, "submod_1")
    split.graph.eliminate_dead_code()
    return FoldedGraphModule(split, split.graph, const_graph, name, device_for_folded_attrs)


adopt(globals())

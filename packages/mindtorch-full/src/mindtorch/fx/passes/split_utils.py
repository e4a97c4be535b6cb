"""`torch.fx.passes.split_utils`: cutting a graph by tags on its nodes."""

from __future__ import annotations

import copy
import operator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from mindtorch._naming import adopt
from mindtorch.fx._compatibility import compatibility
from mindtorch.fx.graph import Graph
from mindtorch.fx.graph_module import GraphModule
from mindtorch.fx.node import Node, map_arg
from mindtorch.fx.passes._boundary import move_non_tensor_nodes_on_boundary
from mindtorch.fx.passes.utils.common import HolderModule, lift_subgraph_as_module
from mindtorch.nn import ModuleList

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Component", "getattr_recursive", "move_non_tensor_nodes_on_boundary", "setattr_recursive", "split_by_tags"]


@compatibility(is_backward_compatible=False)
def getattr_recursive(obj: Any, name: str) -> Any:
    """Return the attribute of a dotted name, None where there is none.

    >>> from torch.fx.passes.split_utils import getattr_recursive
    >>> model = torch.nn.Sequential(torch.nn.Sequential(torch.nn.ReLU()))
    >>> getattr_recursive(model, "0.0")
    ReLU()
    """
    for part in name.split("."):
        obj = obj._modules.get(part) if isinstance(obj, ModuleList) else getattr(obj, part, None)
        if obj is None:
            return None
    return obj


@compatibility(is_backward_compatible=False)
def setattr_recursive(obj: Any, attr: str, value: Any) -> None:
    """Set the attribute of a dotted name.

    >>> from torch.fx.passes.split_utils import setattr_recursive
    >>> model = torch.nn.Sequential(torch.nn.Sequential(torch.nn.ReLU()))
    >>> setattr_recursive(model, "0.0", torch.nn.Tanh())
    >>> model[0][0]
    Tanh()
    """
    *path, last = attr.split(".")
    for part in path:
        obj = getattr(obj, part)
    setattr(obj, last, value)


@compatibility(is_backward_compatible=False)
@dataclass
class Component:
    """A submodule in the making."""

    graph: Graph
    order: int
    name: str
    input_placeholders: list[Node] = field(default_factory=list)
    orig_inputs: list[Node] = field(default_factory=list)
    orig_outputs: list[Node] = field(default_factory=list)
    getattr_maps: dict[Node, Node] = field(default_factory=dict)
    constructor_args: list[str] = field(default_factory=list)
    gm: GraphModule | None = None


class _Split:
    """The graph that calls the components, and what stands for each node of the old graph."""

    def __init__(self, gm: GraphModule, tags: list[str]) -> None:
        self.gm = gm
        self.components = {tag: Component(Graph(), index, tag) for index, tag in enumerate(tags)}
        self.owner: dict[Node, Component] = {}
        self.copies: dict[Node, Node] = {}
        self.main = Graph()
        self.values: dict[Node, Node] = {}
        self.needed: dict[Node, None] = {}
        """Nodes whose values leave their component, or the program."""
        self.renamed: dict[str, str] = {}

    def assign(self, node: Node) -> None:
        """Copy a node into the component of its tag."""
        if not hasattr(node, "tag"):
            raise AssertionError(f"Node does not have tag: {node.format_node()}")
        comp = self.owner[node] = self.components[node.tag]
        before = (self.owner[one].order for one in node.all_input_nodes if one.op not in ("placeholder", "get_attr"))
        latest = max(before, default=0)
        if comp.order < latest:
            raise AssertionError(
                f"Component {comp.name} order must be >= max of its upstream components, order={comp.order} and max={latest}"
            )
        made: Any = comp.graph.node_copy(node, lambda used: self._value_in(comp, used))
        made.tag = node.tag
        self.copies[node] = made

    def _value_in(self, comp: Component, used: Node) -> Node:
        if used.op == "get_attr":
            if used not in comp.getattr_maps:
                comp.getattr_maps[used] = made = comp.graph.get_attr(used.target, type_expr=used.type)
                made.meta = copy.copy(used.meta)
            return comp.getattr_maps[used]
        if used.op != "placeholder" and self.owner[used] is comp:
            return self.copies[used]
        if used not in comp.orig_inputs:
            comp.orig_inputs.append(used)
            made = comp.graph.placeholder(used.name, type_expr=used.type)
            made.meta = copy.copy(used.meta)
            comp.input_placeholders.append(made)
            self.needed[used] = None
        return comp.input_placeholders[comp.orig_inputs.index(used)]

    def close(self, comp: Component, return_tuple: bool) -> None:
        """Make the component's module and call it."""
        given = tuple(self.copies[node] for node in comp.orig_outputs)
        single = len(given) == 1 and not return_tuple
        comp.graph.output(given[0] if single else given)
        comp.gm, renamed = lift_subgraph_as_module(self.gm, subgraph=comp.graph, comp_name=comp.name)
        self.renamed.update(renamed)
        called = self.main.call_module(comp.name, args=tuple(self.values[node] for node in comp.orig_inputs))
        for index, node in enumerate(comp.orig_outputs):
            self.values[node] = called if single else self.main.call_function(operator.getitem, (called, index))


@compatibility(is_backward_compatible=False)
def split_by_tags(
    gm: GraphModule,
    tags: list[str],
    return_fqn_mapping: bool = False,
    return_tuple: bool = False,
    GraphModuleCls: type[GraphModule] = GraphModule,
) -> GraphModule | tuple[GraphModule, dict[str, str]]:
    """Return a module that calls a submodule for each tag, made of the nodes whose attribute `tag` it is.

    Inputs are passed in; attributes are copied to where they are read.

    Args:
        tags: in the order in which the submodules run.
        return_fqn_mapping: return also what each attribute and submodule is called afterwards.
        return_tuple: submodules give a tuple also when it has one item.
        GraphModuleCls: the class of the module.

    Raises:
        AssertionError: a node has no tag, or uses what comes later.
        RuntimeError: the graph has no output, or several.

    >>> graph = torch.fx.symbolic_trace(lambda x: torch.relu(x + 1) * 2)
    >>> from torch.fx.passes.split_utils import split_by_tags
    >>> for node in graph.graph.nodes:
    ...     if node.op == "call_function":
    ...         node.tag = "first" if node.name == "add" else "second"
    >>> parts = split_by_tags(graph, ["first", "second"])
    >>> [name for name, _ in parts.named_children()], parts(torch.ones(1))
    (['first', 'second'], tensor([4.]))
    """
    split = _Split(gm, tags)
    output: Node | None = None
    for node in gm.graph.nodes:
        if node.op == "output":
            if output is not None:
                raise RuntimeError("Multiple output nodes in graph!")
            output = node
        elif node.op == "placeholder":
            split.values[node] = made = split.main.placeholder(node.name, type_expr=node.type)
            made.meta = copy.copy(node.meta)
        elif node.op != "get_attr":
            split.assign(node)
    if output is None:
        raise RuntimeError("Graph had no output node!")
    read = _read_by(output.all_input_nodes)
    for node in output.all_input_nodes:
        if node in read:
            split.values[node] = split.main.get_attr(node.name, type_expr=node.type)
        else:
            split.needed[node] = None
    for node in split.needed:
        if node.op != "placeholder":
            split.owner[node].orig_outputs.append(node)
    for comp in split.components.values():
        split.close(comp, return_tuple)
    split.main.output(map_arg(output.args[0], split.values.__getitem__))
    split.main._codegen = gm.graph._codegen
    root = HolderModule({comp.name: comp.gm for comp in split.components.values()})
    for node in read:
        setattr(root, node.name, getattr_recursive(gm, node.target))
    made_module = GraphModuleCls(root, split.main)
    return (made_module, split.renamed) if return_fqn_mapping else made_module


def _read_by(nodes: Iterable[Node]) -> list[Node]:
    return [node for node in nodes if node.op == "get_attr"]


adopt(globals())

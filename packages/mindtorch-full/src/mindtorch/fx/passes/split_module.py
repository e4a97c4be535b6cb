"""`torch.fx.passes.split_module`: cutting a graph into submodules."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from typing import Any

from mindtorch._naming import adopt
from mindtorch.fx.graph import Graph
from mindtorch.fx.graph_module import GraphModule
from mindtorch.fx.node import Node, map_arg
from mindtorch.nn import Module

__all__ = ["Partition", "split_module", "split_module_simple"]


class Partition:
    """A submodule in the making: what it takes, what it gives, its graph.

    >>> torch.fx.passes.split_module.Partition("1").name
    '1'
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.submod_name = f"submod_{name}"
        self.node_names: list[str] = []
        self.inputs: dict[str, Node] = {}
        self.outputs: dict[str, Node] = {}
        self.dependencies: dict[str, None] = {}
        self.dependents: dict[str, None] = {}
        self.graph = Graph()
        self.environment: dict[Node, Node] = {}
        self.targets: dict[str, Any] = {}

    def __repr__(self) -> str:
        return (
            f"name: {self.name},\n nodes: {self.node_names},\n inputs: {self.inputs},\n outputs: {self.outputs},\n "
            f"partitions depended on: {self.dependencies},\n partition dependents: {self.dependents}"
        )


def split_module(
    m: GraphModule,
    root_m: Module,
    split_callback: Callable[[Node], int],
    qualname_map: dict[str, str] | None = None,
    keep_original_order: bool | None = False,
    keep_original_node_name: bool | None = False,
    keep_original_input_name: bool = True,
    *,
    partition_affix: str | None = None,
    tuple_return: bool = False,
) -> GraphModule:
    """Return a module that calls submodules `submod_N`, one for each number that `split_callback` gives the nodes.

    Inputs and attributes stay outside and are passed in.

    Args:
        qualname_map: gets for each submodule's target its target before.
        keep_original_order: the submodules run in the order of their first nodes.
        keep_original_node_name: nodes keep their names.
        keep_original_input_name: inputs of submodules are called as the nodes that give them.
        partition_affix: stands before the numbers in the submodules' names.
        tuple_return: submodules give a tuple also when it has one item.

    Raises:
        RuntimeError: the parts depend on each other in a circle.

    >>> graph = torch.fx.symbolic_trace(lambda x: torch.relu(x + 1) * 2)
    >>> from torch.fx.passes.split_module import split_module
    >>> parts = split_module(graph, graph, lambda node: 0 if node.name == "add" else 1)
    >>> [name for name, _ in parts.named_children()], parts(torch.ones(1))
    (['submod_0', 'submod_1'], tensor([4.]))
    """
    parts, owner = _assign(m, split_callback, partition_affix)
    _connect(m, parts, owner)
    order = list(parts) if keep_original_order else _ordered(parts)
    for part in parts.values():
        _open(part, keep_original_input_name)
    for node in m.graph.nodes:
        if node in owner:
            _copy_in(m, node, parts[owner[node]], qualname_map, bool(keep_original_node_name))
    return _stitch(m, root_m, parts, order, tuple_return, bool(keep_original_order))


def split_module_simple(
    m: GraphModule, node_to_partition: dict[Node, int], *, partition_affix: str | None = None
) -> GraphModule:
    """As `split_module`, by a table of nodes; the parts run in the order of their first nodes."""
    return split_module(m, m, node_to_partition.__getitem__, keep_original_order=True, partition_affix=partition_affix)


def _assign(
    m: GraphModule, split_callback: Callable[[Node], int], affix: str | None
) -> tuple[dict[str, Partition], dict[Node, str]]:
    parts: dict[str, Partition] = {}
    owner: dict[Node, str] = {}
    for node in m.graph.nodes:
        if node.op in ("placeholder", "get_attr", "output"):
            continue
        number = str(split_callback(node))
        name = number if affix is None else f"{affix}_{number}"
        part = parts.setdefault(name, Partition(name))
        part.node_names.append(node.name)
        owner[node] = name
    return parts, owner


def _connect(m: GraphModule, parts: dict[str, Partition], owner: dict[Node, str]) -> None:
    """Note which values go from where to where."""
    for node in m.graph.nodes:
        for used in node.all_input_nodes:
            source, sink = owner.get(used), owner.get(node)
            if source == sink:
                continue
            if source is not None:
                parts[source].outputs.setdefault(used.name, used)
            if sink is not None:
                parts[sink].inputs.setdefault(used.name, used)
            if source is not None and sink is not None:
                parts[source].dependents.setdefault(sink)
                parts[sink].dependencies.setdefault(source)


def _ordered(parts: dict[str, Partition]) -> list[str]:
    """Return the parts, each after those that it needs."""
    waiting = {name: len(part.dependencies) for name, part in parts.items()}
    ready = [name for name, count in waiting.items() if count == 0]
    done: list[str] = []
    while ready:
        name = ready.pop()
        done.append(name)
        for dependent in parts[name].dependents:
            waiting[dependent] -= 1
            if waiting[dependent] == 0:
                ready.append(dependent)
    if len(done) != len(parts):
        raise RuntimeError("cycle exists between partitions!")
    return done


def _open(part: Partition, keep_names: bool) -> None:
    for number, (name, node) in enumerate(part.inputs.items()):
        made = part.graph.placeholder(name if keep_names else f"arg_{number}", type_expr=node.type)
        made.meta = node.meta.copy()
        part.environment[node] = made


def _value(m: Module, target: str) -> Any:
    found: Any = m
    for name in target.split("."):
        if not hasattr(found, name):
            raise AttributeError(f"Node referenced nonexistent target {target}!")
        found = getattr(found, name)
    return found


def _copy_in(m: GraphModule, node: Node, part: Partition, qualname_map: dict[str, str] | None, keep_name: bool) -> None:
    target = node.target
    if node.op == "call_module":
        target = node.target.replace(".", "_")
        part.targets[target] = _value(m, node.target)
        if qualname_map is not None:
            qualname_map[f"{part.submod_name}.{target}"] = node.target
    args = map_arg(node.args, lambda one: part.environment[one])
    kwargs = map_arg(node.kwargs, lambda one: part.environment[one])
    made = part.graph.create_node(
        op=node.op, target=target, args=args, kwargs=kwargs, type_expr=node.type, name=node.name if keep_name else None
    )
    made.meta = node.meta.copy()
    part.environment[node] = made


def _close(part: Partition, tuple_return: bool) -> None:
    values = tuple(part.environment[node] for node in part.outputs.values())
    if values:
        part.graph.output(values if tuple_return or len(values) > 1 else values[0])
    else:
        part.graph.output(() if tuple_return else None)


def _stitch(
    m: GraphModule,
    root_m: Module,
    parts: dict[str, Partition],
    order: list[str],
    tuple_return: bool,
    late: bool,
) -> GraphModule:
    """Return the module around the parts; attributes are read where they are first needed if `late`, else at the start."""
    base = Graph()
    values: dict[Node, Node] = {}
    attributes: dict[str, Any] = {}

    def place(node: Node) -> None:
        if node in values:
            return
        if node.op == "placeholder":
            default = node.args[0] if node.args else inspect.Signature.empty
            made = base.placeholder(node.target, type_expr=node.type, default_value=default)
        else:
            made = base.get_attr(node.target)
            attributes[node.target] = _value(root_m, node.target)
        made.meta = node.meta.copy()
        values[node] = made

    first = ("placeholder",) if late else ("placeholder", "get_attr")
    for node in m.graph.nodes:
        if node.op in first:
            place(node)
    for name in order:
        part = parts[name]
        for node in part.inputs.values():
            if node.op == "get_attr":
                place(node)
        _close(part, tuple_return)
        attributes[part.submod_name] = GraphModule(part.targets, part.graph)
        called = base.call_module(part.submod_name, tuple(values[node] for node in part.inputs.values()))
        if len(part.outputs) > 1 or (tuple_return and part.outputs):
            for number, node in enumerate(part.outputs.values()):
                values[node] = base.call_function(operator.getitem, (called, number))
        elif part.outputs:
            values[next(iter(part.outputs.values()))] = called
    output = m.graph.output_node()
    for node in output.all_input_nodes:
        if node.op == "get_attr":
            place(node)
    base.output(map_arg(output.args[0], lambda one: values[one]), type_expr=output.type)
    return GraphModule(attributes, base)


adopt(globals())

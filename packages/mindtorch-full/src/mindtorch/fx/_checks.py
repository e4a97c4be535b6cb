"""What a graph must keep to."""

from __future__ import annotations

import warnings
from typing import Any

from mindtorch.fx._protocols import GraphLike
from mindtorch.fx._spelling import _get_qualified_name
from mindtorch.fx.node import Node
from mindtorch.nn import Module, Parameter

_OPS = ("placeholder", "call_method", "call_module", "call_function", "get_attr", "output")


def attribute_exists(module: Any, qualified_name: str) -> bool:
    """Return whether a module has a submodule, parameter or buffer of that dotted name; warns when its owner is none."""
    path, _, name = qualified_name.rpartition(".")
    try:
        owner = module.get_submodule(path)
    except AttributeError:
        warnings.warn(f"Failed to fetch module {path}!", stacklevel=4)
        return False
    if not hasattr(owner, name):
        return False
    return isinstance(getattr(owner, name), Module | Parameter) or name in owner._buffers


def lint(graph: GraphLike) -> None:
    """Raise RuntimeError with what is wrong in a graph, if anything is."""
    seen: set[Node] = set()
    names: set[str] = set()
    for node in graph.nodes:
        if node.op not in _OPS:
            raise RuntimeError(f"Node {node} had unknown opcode {node.op}!")
        if node.graph is not graph:
            raise RuntimeError(f"Node '{node}' does not belong to this Graph!")
        for used in node.all_input_nodes:
            _check_order(graph, node, used, seen)
        seen.add(node)
        if node.name in names:
            raise RuntimeError(f"Node redefined name {node.name}!")
        names.add(node.name)
    for node in graph.nodes if graph.owning_module is not None else ():
        if node.op == "call_function":
            if not callable(node.target):
                raise ValueError(
                    f"Node {node} target {node.target} has type {type(node.target).__name__} but a Callable is expected"
                )
        else:
            _check_string_target(node)
            if node.op in ("get_attr", "call_module"):
                _check_reference(graph.owning_module, node)


def _check_order(graph: GraphLike, node: Node, used: Node, seen: set[Node]) -> None:
    if used.graph is not graph:
        raise RuntimeError(
            f"Argument '{used}' of Node '{node}' does not belong to this Graph, but was used as an argument! If you are "
            "copying nodes from another graph, make sure to use ``arg_transform`` on node_copy() to remap values\n"
            f"{graph}"
        )
    if used not in seen:
        raise RuntimeError(
            f"Argument '{used}' of Node '{node}' was used before it has been defined! Please check that Nodes in the "
            f"graph are topologically ordered\n{graph}"
        )


def _check_string_target(node: Node) -> None:
    if not isinstance(node.target, str):
        shown = _get_qualified_name(node.target)
        raise ValueError(f"Node {node} target {node.target} has type {shown} but a str is expected")


def _check_reference(module: Any, node: Node) -> None:
    """Follow a dotted target from the owning module."""
    parts = node.target.split(".")
    found = module
    for index, part in enumerate(parts):
        above = ".".join(parts[:index])
        if not hasattr(found, part):
            raise RuntimeError(f"Node {node} target {node.target} references nonexistent attribute {part} of {above}")
        owner, found = found, getattr(found, part)
        if node.op == "call_module" and not isinstance(found, Module):
            raise RuntimeError(f"Node {node} target {node.target} {part} of {above} does not reference an nn.Module")
        last = index == len(parts) - 1
        if last and node.op == "get_attr" and not isinstance(found, Module | Parameter) and part not in owner._buffers:
            warnings.warn(
                f"Node {node} target {node.target} {part} of {above} does not reference an nn.Module, nn.Parameter, or "
                "buffer, which is what 'get_attr' Nodes typically target",
                stacklevel=4,
            )

"""Graphs with those of the functions and methods that they call in the place of the calls."""

from __future__ import annotations

from typing import Any

from .graph import Block, Graph, Node, Value


def inlined(graph: Graph) -> Graph:
    """Return a copy of a graph in which nothing of the program is called."""
    made = Graph()
    known: dict[int, Value] = {}
    _copy_block(graph, made, made, known)
    made.drop_unused_constants()
    return made


def _constants(source: Graph, made: Graph, known: dict[int, Value]) -> None:
    for key, node in source.constants.items():
        if key not in made.constants:
            copied = made.constants[key] = Node(node.name, [], node.place, **node.shown)
            copied.add_output(node.output.kind)
        known[id(node.output)] = made.constants[key].output


def _copy_block(source: Block, into: Block, graph: Graph, known: dict[int, Value]) -> None:
    if isinstance(source, Graph):
        _constants(source, graph, known)
    for one in source.inputs:
        if id(one) not in known:
            known[id(one)] = Value(one.kind, None, one.hint)
            into.inputs.append(known[id(one)])
    for node in source.nodes:
        _copy_node(node, into, graph, known)
    if into is not graph or not graph.outputs:
        into.outputs = [known[id(one)] for one in source.outputs]


def _copy_node(node: Node, into: Block, graph: Graph, known: dict[int, Value]) -> None:
    called: Any = node.shown.get("_made")
    if called is not None and called.graph is not None:
        given = node.inputs[1:] if node.name == "prim::CallFunction" else node.inputs
        inner = {id(own): known[id(one)] for own, one in zip(called.graph.inputs, given, strict=True)}
        _constants(called.graph, graph, inner)
        for one in called.graph.nodes:
            _copy_node(one, into, graph, inner)
        known[id(node.output)] = inner[id(called.graph.outputs[0])]
        return
    copied = Node(node.name, [known[id(one)] for one in node.inputs], node.place, **node.shown)
    copied.schema = node.schema
    for one in node.outputs:
        known[id(one)] = copied.add_output(one.kind, one.hint)
    for block in node.blocks:
        copied.blocks.append(Block())
        _copy_block(block, copied.blocks[-1], graph, known)
    into.nodes.append(copied)

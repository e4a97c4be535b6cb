"""What is known while a function is compiled: operators on constants, and conditions that are constants."""

from __future__ import annotations

from typing import Any

from mindtorch.jit._operators import PLAIN, PRIMS

from .graph import Block, Graph, Node
from .types import BOOL, FLOAT, INT

_PLAIN = frozenset((
    "add sub mul div floordiv remainder pow neg lt le gt ge eq ne sqrt floor ceil exp log log2 log10 log1p sin cos tan tanh "
    "round degrees radians __and__ __or__ __xor__ __lshift__ __rshift__"
).split())  # fmt: skip
_PRIMS = frozenset(("abs", "min", "max"))
_KINDS: dict[Any, type] = {INT: int, FLOAT: float, BOOL: bool}


def fold(graph: Graph) -> bool:
    """Compute what is known. Returns whether anything was."""
    return _fold_block(graph, graph)


def _value(node: Node, place: int) -> Any:
    made = node.inputs[place].node
    return made.shown["value"] if made is not None and made.name == "prim::Constant" else None


def _fold_block(graph: Graph, block: Block) -> bool:
    changed = False
    for node in list(block.nodes):
        if node.name == "prim::If" and isinstance(_value(node, 0), bool):
            _take_branch(graph, block, node, node.blocks[0 if _value(node, 0) else 1])
            return True
        if node.name == "prim::If" and _same_outputs(graph, node):
            return True
        if node.name == "aten::__not__" and isinstance(_value(node, 0), bool):
            graph.replace(node.output, graph.constant(BOOL, not _value(node, 0), node.place))
            block.nodes.remove(node)
            changed = True
        elif len(node.outputs) == 1 and node.schema is None and _compute(graph, block, node):
            changed = True
        for inner in node.blocks:
            if _fold_block(graph, inner):
                return True
    return changed


def _same_outputs(graph: Graph, node: Node) -> bool:
    """Leave out what is the same whichever branch runs."""
    for place, (one, other) in enumerate(zip(node.blocks[0].outputs, node.blocks[1].outputs, strict=True)):
        if one is other:
            graph.replace(node.outputs[place], one)
            del node.outputs[place]
            for block in node.blocks:
                del block.outputs[place]
            return True
    return False


def _take_branch(graph: Graph, block: Block, node: Node, taken: Block) -> None:
    place = block.nodes.index(node)
    block.nodes[place : place + 1] = taken.nodes
    for old, new in zip(node.outputs, taken.outputs, strict=True):
        graph.replace(old, new)


def _compute(graph: Graph, block: Block, node: Node) -> bool:
    namespace, _, short = node.name.partition("::")
    kind = _KINDS.get(node.output.kind)
    if kind is None or (short not in (_PLAIN if namespace == "aten" else _PRIMS)) or not node.inputs:
        return False
    given = [_value(node, place) for place in range(len(node.inputs))]
    if not all(type(one) in (int, float, bool) for one in given):
        return False
    try:
        made = (PLAIN if namespace == "aten" else PRIMS)[short](*given)
    except (ArithmeticError, ValueError):
        return False
    graph.replace(node.output, graph.constant(node.output.kind, kind(made), node.place))
    block.nodes.remove(node)
    return True

"""Which expressions stand inside of others in code, and nodes that nobody needs."""

from __future__ import annotations

from .folding import fold
from .graph import Block, Graph, Node, Value

_EFFECTS = frozenset((
    "prim::SetAttr", "prim::RaiseException", "prim::Print", "prim::CallFunction", "prim::CallMethod", "aten::append",
    "aten::extend", "aten::insert", "aten::pop", "aten::clear", "aten::reverse", "aten::sort", "aten::remove", "aten::update",
    "aten::_set_item", "aten::Delete", "aten::setdefault", "aten::warn", "aten::manual_seed", "aten::backward",
))  # fmt: skip


def has_effect(node: Node) -> bool:
    """Whether a node does something beside giving its outputs."""
    short = node.name.partition("::")[2]
    if node.name in _EFFECTS or not node.outputs:
        return node.name != "prim::If" or any(has_effect(one) for block in node.blocks for one in block.nodes)
    if node.name.startswith("aten::") and (short.endswith("_") and not short.endswith("__")):
        return True
    if not node.name.startswith(("aten::", "prim::")):
        return True
    if node.name in ("prim::If", "prim::Loop"):
        return any(has_effect(one) for block in node.blocks for one in block.nodes) or (node.name == "prim::Loop" and (
            _may_not_end(node)))  # fmt: skip
    return node.schema is not None and "!)" in node.schema.text


def _may_not_end(node: Node) -> bool:
    made = node.inputs[1].node
    return made is None or made.name != "prim::Constant"


def clean(graph: Graph) -> None:
    """Take out what is needed by nothing, until nothing is left to take out."""
    changed = True
    while changed:
        changed = fold(graph)
        changed |= _clean_block(graph, _used(graph))
    graph.drop_unused_constants()


def _used(graph: Graph) -> set[int]:
    """Return the values that something needs: what a condition gives is needed where that is used."""
    used = {id(one) for one in graph.outputs}
    for block in graph.all_blocks():
        for node in block.nodes:
            used.update(map(id, node.inputs))
    before = -1
    while before != len(used):
        before = len(used)
        for node in graph.walk():
            for block in node.blocks:
                if node.name == "prim::Loop":
                    used.update(map(id, block.outputs))
                else:
                    pairs = zip(block.outputs, node.outputs, strict=True)
                    used.update(id(one) for one, output in pairs if id(output) in used)
    return used


def _clean_block(block: Block, used: set[int]) -> bool:
    changed = False
    for node in list(block.nodes):
        if not has_effect(node) and not any(id(one) in used for one in node.outputs):
            block.nodes.remove(node)
            changed = True
            continue
        for inner in node.blocks:
            changed |= _clean_block(inner, used)
        if node.name == "prim::If":
            changed |= _drop_outputs(node, used)
        elif node.name == "prim::Loop":
            changed |= _drop_carried(node, used)
    return changed


def _drop_outputs(node: Node, used: set[int]) -> bool:
    keep = [id(one) in used for one in node.outputs]
    if all(keep):
        return False
    for block in node.blocks:
        block.outputs = [one for one, kept in zip(block.outputs, keep, strict=True) if kept]
    node.outputs = [one for one, kept in zip(node.outputs, keep, strict=True) if kept]
    return True


def _drop_carried(node: Node, used: set[int]) -> bool:
    body = node.blocks[0]
    readers: dict[int, int] = {}
    for inner in body.all_blocks():
        for one in inner.nodes:
            for value in one.inputs:
                readers[id(value)] = readers.get(id(value), 0) + 1
        for value in inner.outputs:
            readers[id(value)] = readers.get(id(value), 0) + 1
    keep = []
    for place, (inside, outside) in enumerate(zip(body.inputs[1:], node.outputs, strict=True)):
        back = body.outputs[1 + place] is inside
        keep.append(id(outside) in used or readers.get(id(inside), 0) > int(back))
    if all(keep):
        return False
    body.inputs = [body.inputs[0], *(one for one, kept in zip(body.inputs[1:], keep, strict=True) if kept)]
    body.outputs = [body.outputs[0], *(one for one, kept in zip(body.outputs[1:], keep, strict=True) if kept)]
    node.inputs = [*node.inputs[:2], *(one for one, kept in zip(node.inputs[2:], keep, strict=True) if kept)]
    node.outputs = [one for one, kept in zip(node.outputs, keep, strict=True) if kept]
    return True


class Inlined:
    """The nodes whose only output is used once, by what directly follows: code has them in place."""

    def __init__(self, graph: Graph) -> None:
        self.nodes: set[Node] = set()
        self._uses: dict[int, list[Node | Block]] = {}
        self._owner: dict[Node, Block] = {}
        self._place: dict[Node, int] = {}
        for block in graph.all_blocks():
            for place, node in enumerate(block.nodes):
                self._owner[node], self._place[node] = block, place
                for one in node.inputs:
                    self._uses.setdefault(id(one), []).append(node)
            for one in block.outputs:
                self._uses.setdefault(id(one), []).append(block)
        self._scan(graph)

    def _scan(self, block: Block) -> None:
        point = len(block.nodes)
        for one in reversed(block.outputs):
            point = self._value(block, point, one, block)
        for place in range(len(block.nodes) - 1, -1, -1):
            node = block.nodes[place]
            if node not in self.nodes:
                self._inputs(block, node)
            for inner in node.blocks:
                self._scan(inner)

    def _inputs(self, block: Block, node: Node) -> int:
        point = self._place[node]
        for one in reversed(node.inputs):
            point = self._value(block, point, one, node)
        return point

    def _value(self, block: Block, point: int, value: Value, user: Node | Block) -> int:
        node = value.node
        if node is None or node.name in ("prim::Constant", "prim::Uninitialized"):
            return point
        if self._can_be(value, node, block, user) and self._place[node] == point - 1:
            self.nodes.add(node)
            return self._inputs(block, node)
        return point

    def _can_be(self, value: Value, node: Node, block: Block, user: Node | Block) -> bool:
        if (
            (value.hint and isinstance(user, Node))
            or node.blocks
            or len(node.outputs) != 1
            or self._owner.get(node) is not block
        ):
            return False
        if node.name in ("prim::TupleUnpack", "prim::ListUnpack", "prim::unchecked_cast"):
            return False
        if isinstance(user, Node) and user.name == "prim::Loop":
            return len(self._uses[id(value)]) == 1 and value in user.inputs[:2]
        return len(self._uses[id(value)]) == 1

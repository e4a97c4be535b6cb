"""Graphs of TorchScript: values, nodes with blocks inside of them, and their text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .types import Type


class Value:
    """What a node or a block gives, used by others."""

    def __init__(self, kind: Type, node: Node | None = None, hint: str = "") -> None:
        self.kind = kind
        self.node = node
        self.hint = hint


class Node:
    """An operator or a statement: inputs, outputs and blocks. `shown` are its attributes, as graphs print them."""

    def __init__(self, name: str, inputs: list[Value], place: str = "", /, **shown: Any) -> None:
        self.name = name
        self.inputs = inputs
        self.outputs: list[Value] = []
        self.blocks: list[Block] = []
        self.place = place
        self.shown = shown
        self.schema: Any = None
        """The arguments that the operator declares, where it has a schema."""

    def add_output(self, kind: Type, hint: str = "") -> Value:
        """Return a new output."""
        value = Value(kind, self, hint)
        self.outputs.append(value)
        return value

    @property
    def output(self) -> Value:
        """The only output."""
        return self.outputs[0]


class Block:
    """Nodes that run one after the other. `inputs` are what a loop gives, `outputs` what comes out of the block."""

    def __init__(self) -> None:
        self.inputs: list[Value] = []
        self.nodes: list[Node] = []
        self.outputs: list[Value] = []

    def walk(self) -> Iterator[Node]:
        """Return all nodes, those of inner blocks too."""
        for node in self.nodes:
            yield node
            for block in node.blocks:
                yield from block.walk()

    def all_blocks(self) -> Iterator[Block]:
        """Return this block and those inside."""
        yield self
        for node in self.nodes:
            for block in node.blocks:
                yield from block.all_blocks()


class Graph(Block):
    """The graph of a function."""

    def __init__(self) -> None:
        super().__init__()
        self.constants: dict[Any, Node] = {}

    def constant(self, kind: Type, value: Any, place: str = "") -> Value:
        """Return the constant of a value: there is one node for equal ones."""
        key = (kind, type(value), repr(value) if isinstance(value, (float, complex)) else value)
        if key not in self.constants:
            node = self.constants[key] = Node("prim::Constant", [], place, value=value)
            node.add_output(kind)
        return self.constants[key].output

    def drop_unused_constants(self) -> None:
        """Keep the constants that a node or a block uses."""
        used = {id(one) for block in self.all_blocks() for one in block.outputs}
        used |= {id(one) for node in self.walk() for one in node.inputs}
        self.constants = {key: node for key, node in self.constants.items() if id(node.output) in used}

    def replace(self, old: Value, new: Value) -> None:
        """Use one value wherever another was."""
        for block in self.all_blocks():
            block.outputs = [new if one is old else one for one in block.outputs]
            for node in block.nodes:
                node.inputs = [new if one is old else one for one in node.inputs]

    def __str__(self) -> str:
        return _Printer().write(self)


def constant_text(value: Any) -> str:
    """Return a constant as graphs write it."""
    if isinstance(value, bool):
        return str(int(value))
    if isinstance(value, float):
        return f"{value:.6g}" + ("." if value == int(value) and "e" not in f"{value:.6g}" else "") if (
            value == value and abs(value) != float("inf")) else str(value)  # fmt: skip
    if isinstance(value, str):
        quote = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
        return f'"{quote}"'
    return str(value)


class _Printer:
    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self._taken: set[str] = set()
        self._count = 0
        self._suffixes: dict[str, int] = {}

    def _name(self, value: Value) -> str:
        if id(value) not in self._names:
            if value.hint:
                name = value.hint
                while name in self._taken or (name == value.hint and value.hint in self._suffixes):
                    self._suffixes[value.hint] = self._suffixes.get(value.hint, 0) + 1
                    name = f"{value.hint}.{self._suffixes[value.hint]}"
            else:
                name = str(self._count)
            self._count += 1
            self._taken.add(name)
            self._names[id(value)] = name
        return f"%{self._names[id(value)]}"

    def write(self, graph: Graph) -> str:
        given = ",\n      ".join(f"{self._name(one)} : {one.kind.in_graphs}" for one in graph.inputs)
        lines = [f"graph({given}):", *(f"  {self._node(one)}" for one in graph.constants.values())]
        self._block(graph, lines, "  ")
        return "\n".join([*lines, f"  return ({', '.join(map(self._name, graph.outputs))})", ""])

    def _block(self, block: Block, lines: list[str], indent: str) -> None:
        for node in block.nodes:
            lines.append(f"{indent}{self._node(node)}")
            for place, inner in enumerate(node.blocks):
                given = ", ".join(f"{self._name(one)} : {one.kind.in_graphs}" for one in inner.inputs)
                lines.append(f"{indent}  block{place}({given}):")
                self._block(inner, lines, indent + "    ")
                lines.append(f"{indent}    -> ({', '.join(map(self._name, inner.outputs))})")

    def _node(self, node: Node) -> str:
        made = ", ".join(f"{self._name(one)} : {one.kind.in_graphs}" for one in node.outputs)
        shown = ", ".join(
            f"{name}={constant_text(one)}" for name, one in node.shown.items() if one is not None and name[0] != "_"
        )
        given = ", ".join(map(self._name, node.inputs))
        place = f" # {node.place}" if node.place else ""
        return f"{made}{' = ' if made else ''}{node.name}{f'[{shown}]' if shown else ''}({given}){place}"

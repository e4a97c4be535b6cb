"""The text of a graph as code of TorchScript."""

from __future__ import annotations

from typing import Any

from mindtorch.jit._tracing.text import _RESERVED, is_plain_name, literal, number

from .graph import Block, Graph, Node, Value
from .inlining import Inlined
from .types import NONE, Type

_LONG = 40
_WORDS = {
    "aten::Int": "int",
    "aten::Float": "float",
    "aten::Bool": "bool",
    "aten::str": "str",
    "aten::Complex": "complex",
}
_CASTS = {"aten::IntImplicit": "int", "aten::FloatImplicit": "float", "aten::ScalarImplicit": "number"}


class FunctionName(str):
    """The name of a function of the program, as a constant."""


class ConstantPlace(int):
    """The place of a tensor among the constants of an archive."""


class CodeText:
    """Writes one function or method."""

    def __init__(self, graph: Graph, name: str, arguments: list[Any], returns: Type, owner: str | None = None) -> None:
        self._graph = graph
        self._name, self._arguments, self._returns, self._owner = name, arguments, returns, owner
        self._inlined = Inlined(graph)
        self._texts: dict[int, str] = {}
        self._named: set[int] = set()
        self._taken: set[str] = set(_RESERVED)
        self._next: dict[str, int] = {}
        self._lines: list[str] = []
        self._level = 1

    def write(self) -> str:
        """Return the definition; `self` has its type where the owner is named."""
        given = []
        inputs = list(self._graph.inputs)
        if self._owner is not None:
            first = inputs.pop(0)
            self._texts[id(first)] = "self"
            self._named.add(id(first))
            given.append(f"self: {self._owner}")
        for value, argument in zip(inputs, self._arguments, strict=True):
            name = self._assign(value, argument.name)
            default = "" if argument.required else f"={self.constant(argument.default, argument.kind)}"
            given.append(f"{name}: {value.kind}{default}")
        for node in self._graph.constants.values():
            self._constant(node)
        self._block(self._graph)
        for value in self._graph.outputs:
            self._split(self._graph.outputs)
            self._line(f"return {self._use(value)}")
        parameters = ",\n    ".join(given)
        body = "".join(f"{line}\n" for line in self._lines) or "  pass\n"
        return f"def {self._name}({parameters}) -> {self._returns}:\n{body}"

    def _line(self, text: str) -> None:
        self._lines.append("  " * self._level + text)

    def _fresh(self, hint: str) -> str:
        hint = hint if is_plain_name(hint) and not hint.startswith("__") else ""
        name = hint or "_"
        while name in self._taken or name == "_":
            count = self._next.get(hint or "_", 0)
            self._next[hint or "_"] = count + 1
            name = f"{hint or '_'}{count}"
        self._taken.add(name)
        return name

    def _assign(self, value: Value, hint: str | None = None) -> str:
        name = self._fresh(value.hint if hint is None else hint)
        self._texts[id(value)] = name
        self._named.add(id(value))
        return name

    def _use(self, value: Value) -> str:
        return self._texts[id(value)]

    def _is_long(self, text: str) -> bool:
        return len(text) + self._level * 2 >= _LONG

    def _constant(self, node: Node) -> None:
        value = node.output
        if node.name == "prim::Uninitialized":
            self._define(value, f"uninitialized({value.kind})")
            return
        text = self.constant(node.shown["value"], value.kind)
        if self._is_long(text):
            self._define(value, text)
        else:
            self._texts[id(value)] = text
            self._named.add(id(value))

    def constant(self, value: Any, kind: Type) -> str:
        """Return a constant as code writes it."""
        if isinstance(value, ConstantPlace):
            return f"CONSTANTS.c{int(value)}"
        if isinstance(value, FunctionName):
            return str(value)
        if value is None:
            return "None"
        if isinstance(value, bool):
            return str(value)
        if isinstance(value, str):
            return literal(value)
        if isinstance(value, (list, tuple)):
            inner = kind.element if kind.name in ("List", "Optional") and kind.args else kind
            parts = [self.constant(one, inner.element if inner.name == "List" else inner) for one in value]
            if isinstance(value, tuple) and kind.name == "Tuple":
                return f"({''.join(f'{one}, ' for one in parts)})"
            return f"[{', '.join(parts)}]" if parts else f"annotate({kind}, [])"
        if isinstance(value, float) and value == value and abs(value) != float("inf"):
            return float_text(value)
        return number(float(value) if kind.name == "float" else value)

    def _define(self, value: Value, text: str) -> None:
        name = self._assign(value)
        kind = f": {value.kind}" if value.node is not None and "_annotated" in value.node.shown else ""
        self._line(f"{name}{kind} = {text}")

    def _split(self, values: list[Value]) -> None:
        """Name the expressions among these that would make a line too long, and those before them."""
        last = -1
        for place, value in enumerate(values):
            if id(value) not in self._named and self._is_long(self._use(value)):
                last = place
        for value in values[: last + 1]:
            if id(value) not in self._named:
                self._define(value, self._use(value))

    def _block(self, block: Block) -> None:
        for node in block.nodes:
            if node.name == "prim::If":
                self._condition(node)
            elif node.name == "prim::Loop":
                self._loop(node)
            else:
                self._node(node)

    def _node(self, node: Node) -> None:
        self._split(node.inputs)
        if node.name == "prim::SetAttr":
            name = node.shown["name"]
            self._line(f"{self._attribute(node.inputs[0], name)} = {self._use(node.inputs[1])}")
            return
        text = self._expression(node)
        if not node.outputs:
            if node.name.startswith("prim::RaiseException") or node.name in ("prim::Print",):
                self._line(text)
            else:
                self._line(f"{self._fresh('')} = {text}" if node.schema is not None else text)
        elif len(node.outputs) == 1 and node.name not in ("prim::TupleUnpack", "prim::ListUnpack"):
            if node in self._inlined.nodes:
                self._texts[id(node.output)] = text
            else:
                self._define(node.output, text)
        else:
            names = [self._assign(one) for one in node.outputs]
            self._line(f"{''.join(f'{one}, ' for one in names)[:-1]} = {text}"
                       if node.name in ("prim::TupleUnpack", "prim::ListUnpack") else f"{', '.join(names)} = {text}")  # fmt: skip

    def _attribute(self, owner: Value, name: str) -> str:
        text = self._use(owner)
        return f"{text}.{name}" if is_plain_name(name) else f"getattr({text}, {literal(name)})"

    def _expression(self, node: Node) -> str:
        given = [self._use(one) for one in node.inputs]
        name = node.name
        if name in _WORDS:
            return f"{_WORDS[name]}({given[0]})"
        if name in _CASTS:
            return f"annotate({_CASTS[name]}, {given[0]})"
        special = getattr(self, f"_{name.partition('::')[2]}_text", None) if name.startswith("prim::") else None
        if special is not None:
            return str(special(node, given))
        if name == "aten::__getitem__":
            owner = given[0] if is_plain_name(given[0]) else f"({given[0]})"
            return f"{owner}[{given[1]}]"
        if node.schema is not None:
            given = self._without_defaults(node, given)
        namespace, _, short = name.partition("::")
        function = f"torch.{short}" if namespace == "aten" else f"ops.{namespace}.{short}"
        return f"{function}({', '.join(given)})"

    def _without_defaults(self, node: Node, given: list[str]) -> list[str]:
        """Leave out what is the default at the end; name what goes by name."""
        made: list[str] = []
        for argument, value, text in reversed(list(zip(node.schema.arguments, node.inputs, given, strict=True))):
            if not made and not argument.required and _is_default(value, argument.default):
                continue
            made.append(f"{argument.name}={text}" if argument.by_name else text)
        return made[::-1]

    def _ListConstruct_text(self, node: Node, given: list[str]) -> str:
        text = f"[{', '.join(given)}]"
        kind = node.output.kind
        plain = given and all(one.kind == kind.element for one in node.inputs)
        return text if plain else f"annotate({kind}, {text})"

    def _TupleConstruct_text(self, node: Node, given: list[str]) -> str:
        if node.output.kind.name.startswith("__torch__."):
            return f"{node.output.kind.name}({', '.join(given)})"
        return f"({', '.join(given)}{',' if len(given) == 1 else ''})"

    def _DictConstruct_text(self, node: Node, given: list[str]) -> str:
        pairs = ", ".join(f"{key}: {one}" for key, one in zip(given[::2], given[1::2], strict=True))
        kind = node.output.kind
        plain = given and all(one.kind == kind.args[place % 2] for place, one in enumerate(node.inputs))
        return f"{{{pairs}}}" if plain else f"annotate({kind}, {{{pairs}}})"

    def _TupleUnpack_text(self, node: Node, given: list[str]) -> str:
        return given[0]

    _ListUnpack_text = _TupleUnpack_text

    def _GetAttr_text(self, node: Node, given: list[str]) -> str:
        return self._attribute(node.inputs[0], node.shown["name"])

    def _CallFunction_text(self, node: Node, given: list[str]) -> str:
        return f"{given[0]}({''.join(f'{one}, ' for one in given[1:])})"

    def _CallMethod_text(self, node: Node, given: list[str]) -> str:
        return f"({given[0]}).{node.shown['name']}({''.join(f'{one}, ' for one in given[1:])})"

    def _CreateObject_text(self, node: Node, given: list[str]) -> str:
        name = node.output.kind.name
        return f"{name}.__new__({name})"

    def _unchecked_cast_text(self, node: Node, given: list[str]) -> str:
        if "_annotated" in node.shown:
            return given[0] if node.inputs[0].kind != NONE else "None"
        return f"unchecked_cast({node.output.kind}, {given[0]})"

    def _isinstance_text(self, node: Node, given: list[str]) -> str:
        kinds = node.shown["_types"]
        said = str(kinds[0]) if len(kinds) == 1 else f"[{', '.join(map(str, kinds))}]"
        return f"isinstance({given[0]}, {said})"

    def _RaiseException_text(self, node: Node, given: list[str]) -> str:
        shown = [one for one, value in zip(given, node.inputs, strict=True) if value.kind != NONE]
        return f"ops.prim.RaiseException({', '.join(shown)})"

    def _Print_text(self, node: Node, given: list[str]) -> str:
        return f"print({', '.join(given)})"

    # Blocks

    def _condition(self, node: Node) -> None:
        self._split(node.inputs)
        test = self._use(node.inputs[0])
        names = [self._assign(one) for one in node.outputs]
        for word, block in (("if " + test, node.blocks[0]), ("else", node.blocks[1])):
            self._line(f"{word}:")
            self._level += 1
            before = len(self._lines)
            self._block(block)
            self._set(names, block.outputs)
            if len(self._lines) == before:
                self._line("pass")
            self._level -= 1

    def _set(self, names: list[str], values: list[Value]) -> None:
        if names:
            self._split(values)
            self._line(f"{', '.join(names)} = {', '.join(map(self._use, values))}")

    def _loop(self, node: Node) -> None:
        body = node.blocks[0]
        counted = body.outputs[0].node is not None and body.outputs[0].node.name == "prim::Constant" and bool(
            body.outputs[0].node.shown["value"]) and node.inputs[1] is body.outputs[0]  # fmt: skip
        carried = body.inputs[1:]
        self._split(node.inputs)
        names = []
        for inner, outer, start in zip(carried, node.outputs, node.inputs[2:], strict=True):
            name = self._assign(inner)
            self._texts[id(outer)] = name
            self._named.add(id(outer))
            kind = f": {inner.kind}" if start.kind != inner.kind else ""
            names.append(name)
            self._line(f"{name}{kind} = {self._use(start)}")
        if counted:
            self._line(f"for {self._assign(body.inputs[0])} in range({self._use(node.inputs[0])}):")
        else:
            test = self._fresh("")
            self._line(f"{test} = {self._use(node.inputs[1])}")
            self._line(f"while {test}:")
            names.insert(0, test)
        self._level += 1
        before = len(self._lines)
        self._block(body)
        self._set(names, body.outputs[1:] if counted else body.outputs)
        if len(self._lines) == before:
            self._line("pass")
        self._level -= 1


def float_text(value: float) -> str:
    """Return a float with the digits that code writes: as many as tell it apart, at most seventeen."""
    text = f"{value:.17g}"
    return text if any(one in text for one in ".en") else f"{text}."


def _is_default(value: Value, default: Any) -> bool:
    node = value.node
    if node is None:
        return False
    if node.name == "prim::Constant":
        return bool(node.shown["value"] == default and (type(node.shown["value"]) is bool) == (type(default) is bool))
    if node.name == "prim::ListConstruct":
        wanted = list(default) if isinstance(default, (list, tuple)) else [default] * len(node.inputs)
        return len(wanted) == len(node.inputs) and all(map(_is_default, node.inputs, wanted)) and default is not None
    return False

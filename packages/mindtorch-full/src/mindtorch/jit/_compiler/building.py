"""The graph in the making: the current block and place, and nodes put into it."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Iterator
from typing import Any

import mindtorch
from mindtorch.jit._overloads import number_of
from mindtorch_storage.device import device as Device

from .annotations import meaning, type_of_annotation
from .frontend import NotCompiled, Source
from .graph import Block, Graph, Node, Value
from .scopes import Missing, ModuleValue, PythonObject, Scope
from .types import BOOL, COMPLEX, DEVICE, FLOAT, INT, NONE, NUMBER, STR, TENSOR, Type, goes_for, list_of, tuple_of

_KINDS: dict[type, Type] = {bool: BOOL, int: INT, float: FLOAT, str: STR, complex: COMPLEX, type(None): NONE}


class Building:
    """A function that is compiled: its source, its graph, and what its names mean."""

    def __init__(self, unit: Any, source: Source) -> None:
        self.unit = unit
        self.source = source
        self.graph = Graph()
        self.block: Block = self.graph
        self.scope = Scope()
        self.place = ""
        self.returned: Type | None = None
        self._unset: dict[Type, Value] = {}
        self._node: ast.AST = source.syntax

    @contextlib.contextmanager
    def at(self, node: ast.AST) -> Iterator[None]:
        """What is put into the graph in here is from this part of the source."""
        before = self.place, self._node
        self.place, self._node = self.source.place(node), node
        try:
            yield
        finally:
            self.place, self._node = before

    @contextlib.contextmanager
    def inside(self, node: Node) -> Iterator[None]:
        """Put nodes into a new block of a node."""
        before, self.block = self.block, Block()
        node.blocks.append(self.block)
        try:
            yield
        finally:
            self.block = before

    def emit(self, name: str, inputs: list[Value], kind: Type, /, hint: str = "", **shown: Any) -> Value:
        """Put a node into the block and return what it gives."""
        node = Node(name, inputs, self.place, **shown)
        self.block.nodes.append(node)
        return node.add_output(kind, hint)

    def emit_nothing(self, name: str, inputs: list[Value]) -> None:
        """Put a node that gives nothing into the block."""
        self.block.nodes.append(Node(name, inputs, self.place))

    def constant(self, value: Any, kind: Type | None = None) -> Value:
        """Return a constant of the graph."""
        value = number_of(value)
        if isinstance(value, Device):
            return self.emit("aten::device", [self.constant(str(value))], DEVICE)
        if isinstance(value, tuple):
            return self.make_tuple([self.constant(one) for one in value])
        if isinstance(value, list) and value:
            return self.make_list([self.constant(one) for one in value])
        if isinstance(value, mindtorch.Tensor):
            return self.unit.tensor_constant(self, value)
        kind = kind or _KINDS.get(type(value))
        if kind is None:
            raise NotCompiled(f"a constant of {type(value).__name__}")
        return self.graph.constant(kind, value, self.place)

    def uninitialized(self, kind: Type) -> Value:
        """Return the value of a variable on a path where nobody reads it."""
        if kind not in self._unset:
            node = Node("prim::Uninitialized", [], "")
            self._unset[kind] = node.add_output(kind)
            self.graph.constants[("unset", kind)] = node
        return self._unset[kind]

    def make_tuple(self, parts: list[Value]) -> Value:
        """Return the tuple of values."""
        return self.emit("prim::TupleConstruct", parts, tuple_of(*(one.kind for one in parts)))

    def make_list(self, parts: list[Value], kind: Type | None = None) -> Value:
        """Return the list of values of one type."""
        return self.emit("prim::ListConstruct", parts, list_of(kind or parts[0].kind))

    def as_value(self, given: Any, node: ast.AST) -> Value:
        """Return the value of the graph that something is; things of Python become constants where they can."""
        if isinstance(given, Value):
            return given
        if isinstance(given, bool):
            return self.constant(given)
        if isinstance(given, ModuleValue):
            return given.value
        if isinstance(given, Missing):
            raise self.source.error(node, given.why)
        if isinstance(given, PythonObject):
            made = self.unit.constant_of(self, given.held)
            if made is not None:
                return made
            raise self.source.error(
                node,
                f"Python value of type '{type(given.held).__name__}' cannot be used as a value. Perhaps it is a closed over "
                "global variable? If so, please consider passing it in as an argument or use a local varible instead.",
            )
        raise NotCompiled(f"{type(given).__name__} as a value")

    def as_type(self, given: Value, wanted: Type, node: ast.AST) -> Value:
        """Return a value as one of a type: tensors become numbers, tuples lists. Raises where it cannot be."""
        made = self.converted(given, wanted)
        if made is None:
            raise self.source.error(
                node,
                f"Variable annotated with type {wanted} is being assigned to a value of type {given.kind}"
                if isinstance(node, ast.AnnAssign)
                else f"Expected a value of type '{wanted}' but instead found type '{given.kind}'",
            )
        return made

    def converted(self, given: Value, wanted: Type, size: int = 0) -> Value | None:
        """Return a value as one of a type, None where it cannot be."""
        if goes_for(given.kind, wanted):
            return given
        bare = wanted.element if wanted.name == "Optional" else wanted
        if bare.name == "List":
            return self._as_list(given, bare, size)
        if given.kind == TENSOR and bare in (INT, FLOAT, NUMBER, BOOL):
            name = {INT: "IntImplicit", FLOAT: "FloatImplicit", NUMBER: "ScalarImplicit", BOOL: "Bool"}[bare]
            return self.emit(f"aten::{name}", [given], bare)
        if given.kind == NUMBER and bare in (INT, FLOAT):
            return self.emit(f"aten::{bare.name.title()}", [given], bare)
        if given.kind == STR and bare == DEVICE:
            return self.emit("aten::device", [given], DEVICE)
        return None

    def _as_list(self, given: Value, wanted: Type, size: int) -> Value | None:
        of = wanted.element
        if given.kind.name == "List":
            node = given.node
            fresh = node is not None and node.name == "prim::ListConstruct" and node in self.block.nodes
            if fresh and all(goes_for(one.kind, of) for one in node.inputs):  # type: ignore[union-attr]
                given.kind = wanted
                return given
            if of.name == "Optional" and given.kind.element == of.element:
                return given
            return None
        if given.kind.name == "Tuple" and given.kind.args:
            parts = self.unpack(given)
            if all(goes_for(one.kind, of) for one in parts):
                return self.make_list(parts, of)
            return None
        if size and goes_for(given.kind, of):
            return self.make_list([given] * size, of)
        return None

    def unpack(self, given: Value) -> list[Value]:
        """Return the parts of a tuple."""
        made = given.node
        if made is not None and made.name == "prim::TupleConstruct":
            return list(made.inputs)
        kinds = self.unit.fields_of(given.kind) or given.kind.args
        node = Node("prim::TupleUnpack", [given], self.place)
        self.block.nodes.append(node)
        return [node.add_output(kind) for kind in kinds]

    def annotation(self, node: ast.expr) -> Type:
        """Return the type that an annotation in the function means."""
        used = {one.id: self._python_name(one.id) for one in ast.walk(node) if isinstance(one, ast.Name)}
        try:
            said = meaning(ast.unparse(node), {name: value for name, value in used.items() if value is not None})
        except RuntimeError as error:
            raise self.source.error(node, str(error)) from error
        return type_of_annotation(said, self.unit.class_type)

    def _python_name(self, name: str) -> Any:
        try:
            return self.source.find(name)
        except KeyError:
            return None

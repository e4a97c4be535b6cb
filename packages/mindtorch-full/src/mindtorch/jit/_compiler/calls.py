"""Calls: of operators, of functions and methods of the program, and of what Python calls `len` or `int`."""

from __future__ import annotations

import ast
import builtins
import enum
from typing import Any

import mindtorch
from mindtorch.jit import _marks

from .annotations import type_of_annotation
from .attributes import Attributes
from .frontend import NotCompiled
from .graph import Node, Value
from .plain_schemas import method_of_dict, method_of_list
from .schemas import DTYPES_OF_METHODS
from .scopes import Condition, Method, ModuleValue, Operator, Parts, PythonObject
from .types import (
    ANY,
    BOOL,
    FLOAT,
    INT,
    NONE,
    NUMBER,
    NUMBERS,
    STR,
    TENSOR,
    Type,
    goes_for,
    list_of,
    optional,
    unify,
)

_CASTS = {int: ("Int", INT), float: ("Float", FLOAT), bool: ("Bool", BOOL), complex: ("Complex", Type("complex"))}
_RETURNS_NOTHING = frozenset(("extend", "insert", "clear", "reverse", "sort", "remove", "update"))


class Calls(Attributes):
    """Compiles calls."""

    def known_call(self, node: ast.Call) -> Condition | None:
        """Return a call that is known, or proves something, while the function is compiled; None for any other."""
        if not isinstance(node.func, (ast.Name, ast.Attribute)):
            return None
        if isinstance(node.func, ast.Name) and node.func.id in self.scope.names:
            return None
        held = self._python_of(node.func)
        if held is None:
            return None
        if held in (mindtorch.jit.is_scripting, _marks.is_scripting):
            return Condition(True)
        name = getattr(held, "__name__", "")
        overridden = ("has_torch_function", "has_torch_function_unary", "has_torch_function_variadic")
        if held is mindtorch.jit.is_tracing or name in ("is_compiling", *overridden):
            return Condition(False)
        if held in (builtins.isinstance, mindtorch.jit.isinstance):
            return self._is_instance(node)
        if held is builtins.hasattr:
            return self._has_attribute(node)
        if held is builtins.callable:
            return Condition(not isinstance(self.expression(node.args[0]), Value))
        return None

    def _python_of(self, node: ast.expr) -> Any:
        if isinstance(node, ast.Name):
            return self._python_name(node.id) if node.id not in self.scope.names else None
        if isinstance(node, ast.Attribute):
            owner = self._python_of(node.value)
            return getattr(owner, node.attr, None) if type(owner).__name__ == "module" or _lazy(owner) else None
        return None

    def _is_instance(self, node: ast.Call) -> Condition:
        asked = self.expression(node.args[0])
        types = self._types_in(node.args[1])
        if isinstance(asked, (ModuleValue, PythonObject)):
            held = asked.kind.cls if isinstance(asked, ModuleValue) else type(asked.held)
            python = [one for one in types if isinstance(one, type)]
            return Condition(any(issubclass(held, one) for one in python))
        kinds = []
        value = self.as_value(asked, node)
        for one in types:
            if one in (list, tuple, dict):
                if value.kind.name.lower() == one.__name__:
                    return Condition(True)
                continue
            kinds.append(type_of_annotation(one, self.unit.class_type))
        if any(goes_for(value.kind, kind) for kind in kinds):
            return Condition(True)
        members = value.kind.args if value.kind.name == "Union" else (
            (value.kind.element, NONE) if value.kind.name == "Optional" else ())  # fmt: skip
        matching = [one for one in members if any(goes_for(one, kind) for kind in kinds)]
        if value.kind == ANY:
            matching = kinds
        if not matching:
            return Condition(False)
        made = self.emit("prim::isinstance", [value], BOOL, _types=kinds)
        name = node.args[0].id if isinstance(node.args[0], ast.Name) else ""
        rest = [one for one in members if one not in matching]
        holds = {name: matching[0] if len(matching) == 1 else Type("Union", tuple(matching))} if name else {}
        fails = {name: rest[0] if len(rest) == 1 else Type("Union", tuple(rest))} if name and rest else {}
        return Condition(made, holds, fails)

    def _types_in(self, node: ast.expr) -> list[Any]:
        if isinstance(node, ast.Tuple):
            return [one for part in node.elts for one in self._types_in(part)]
        said = eval(compile(ast.Expression(node), "", "eval"), self._names_in(node))
        return list(said) if isinstance(said, tuple) else [said]

    def _names_in(self, node: ast.AST) -> dict[str, Any]:
        return {one.id: self._python_name(one.id) for one in ast.walk(node) if isinstance(one, ast.Name)}

    def _has_attribute(self, node: ast.Call) -> Condition:
        owner, name = self.expression(node.args[0]), ast.literal_eval(node.args[1])
        if isinstance(owner, ModuleValue):
            return Condition(hasattr(owner.kind.module, name))
        if isinstance(owner, PythonObject):
            return Condition(hasattr(owner.held, name))
        assert isinstance(owner, Value)
        return Condition(name in (self.unit.attributes_of(owner) if owner.kind.name.startswith("__torch__") else ()))

    # Calls

    def call(self, function: Any, node: ast.Call) -> Any:
        """Return what a call gives."""
        if any(keyword.arg is None for keyword in node.keywords):
            raise self.source.unsupported(node, "keyword-arg expansion is not supported")
        if isinstance(function, PythonObject):
            return self._call_python(function, node)
        args, kwargs = self.arguments(node)
        if isinstance(function, Operator):
            return self._call_operator(function, args, kwargs, node)
        if isinstance(function, ModuleValue):
            return self.unit.call_module(self, function, args, kwargs, node)
        if isinstance(function, Method):
            return self._call_method(function, args, kwargs, node)
        if isinstance(function, Value) and self.unit.find_method(function.kind, "__call__"):
            return self.unit.call_method(self, function, "__call__", args, kwargs, node)
        raise self.source.error(node, "expected something that can be called, but got a value")

    def arguments(self, node: ast.Call) -> tuple[list[Any], dict[str, Any]]:
        """Return the arguments of a call by place and by name."""
        args: list[Any] = []
        for one in node.args:
            if isinstance(one, ast.Starred):
                spread = self.expression(one.value)
                if isinstance(spread, Value) and spread.kind.name == "List":
                    args.append(spread)
                    continue
                args += self.parts_of(spread, 0, node)
            else:
                args.append(self.expression(one))
        return args, {one.arg: self.expression(one.value) for one in node.keywords if one.arg}

    def _call_operator(self, function: Operator, args: list[Any], kwargs: dict[str, Any], node: ast.AST) -> Any:
        values = [self.as_value(one, node) for one in args]
        named = {name: self.as_value(one, node) for name, one in kwargs.items()}
        name = function.name
        if name == "device" and values and values[0].kind == Type("Device"):
            return values[0]
        if name == "Size":
            return values[0]
        return self._spread_sizes(name, values, named, node, function.namespace)

    def _spread_sizes(
        self, name: str, values: list[Value], named: dict[str, Value], node: ast.AST, namespace: str = "aten"
    ) -> Value:
        """Call an operator; the sizes that Python may give one by one are a list."""
        try:
            return self.operator(name, values, named, node, namespace)
        except RuntimeError as given:
            first = next((place for place, one in enumerate(values) if one.kind == INT), None)
            if first is None or first > 1 or any(one.kind != INT for one in values[first:]):
                raise
            sizes = self.make_list(values[first:])
            try:
                return self.operator(name, [*values[:first], sizes], named, node, namespace)
            except RuntimeError as error:
                raise given from error

    def _call_method(self, function: Method, args: list[Any], kwargs: dict[str, Any], node: ast.AST) -> Any:
        owner: Any = function.owner
        if isinstance(owner, ModuleValue):
            return self.unit.call_module_method(self, owner, function.name, args, kwargs, node)
        values = [self.as_value(one, node) for one in args]
        named = {name: self.as_value(one, node) for name, one in kwargs.items()}
        kind, name = owner.kind, function.name
        if kind.name in ("List", "Dict"):
            return self._container_method(owner, name, values, node)
        if kind == STR and name == "format":
            return self.emit("aten::format", [owner, *values], STR)
        if kind == TENSOR:
            made = self._tensor_method(owner, name, values, named, node)
            if made is not None:
                return made
        if kind.name.startswith("__torch__."):
            return self.unit.call_method(self, owner, name, values, named, node)
        return self._spread_sizes(name, [owner, *values], named, node)

    def _tensor_method(
        self, owner: Value, name: str, values: list[Value], named: dict[str, Value], node: ast.AST
    ) -> Value | None:
        if name in DTYPES_OF_METHODS and not values:
            return self.operator("to", [owner, self.constant(DTYPES_OF_METHODS[name])], node=node)
        if name in ("tolist", "new_tensor"):
            raise NotCompiled(f"Tensor.{name}")
        if name == "size" and "dim" not in named and not values:
            made = Node("aten::size", [owner], self.place)
            self.block.nodes.append(made)
            return made.add_output(list_of(INT))
        if name == "type" and values:
            return self.operator("to", [owner, *values], named, node)
        return None

    def _container_method(self, owner: Value, name: str, values: list[Value], node: ast.AST) -> Value:
        known = (method_of_list if owner.kind.name == "List" else method_of_dict)(name, owner.kind)
        if known is None:
            raise self.source.error(node, f"'{owner.kind}' object has no attribute or method '{name}'.")
        kinds, gives, needed = known
        if name == "append" and owner.kind.element == TENSOR and values[0].kind != TENSOR:
            fresh = owner.node is not None and owner.node.name == "prim::ListConstruct" and not owner.node.inputs
            if fresh and values[0].kind not in NUMBERS:
                raise self.source.error(node, self._no_append(owner, values[0]))
        if not needed <= len(values) <= len(kinds):
            raise self.source.error(node, f"Expected at most {len(kinds)} arguments but found {len(values)}")
        given = []
        for one, kind in zip(values, kinds, strict=False):
            made = self.converted(one, kind)
            if made is None:
                raise self.source.error(node, self._no_append(owner, one) if name == "append" else
                                        f"Expected a value of type '{kind}' but instead found type '{one.kind}'.")  # fmt: skip
            given.append(made)
        if name == "pop" and owner.kind.name == "List" and not given:
            given = [self.constant(-1)]
        if name == "sort" and not given:
            given = [self.constant(False)]
        if name == "get" and len(given) == 1:
            gives = optional(gives) if gives is not None else None
        if gives is None or name in _RETURNS_NOTHING:
            self.emit_nothing(f"aten::{name}", [owner, *given])
            return self.constant(None)
        return self.emit(f"aten::{name}", [owner, *given], gives)

    def _no_append(self, owner: Value, given: Value) -> str:
        return (
            "Arguments for call are not valid.\nThe following variants are available:\n  \n  aten::append.t(t[](a!) self, "
            f"t(c -> *) el) -> t[](a!):\n  Could not match type {given.kind} to t in argument 'el': Type variable 't' "
            f"previously matched to type {owner.kind.element} is matched to type {given.kind}.\n\nThe original call is"
        )

    # Things of Python

    def _call_python(self, function: PythonObject, node: ast.Call) -> Any:
        held = function.held
        if held is mindtorch.jit.annotate:
            kind = self.annotation(node.args[0])
            given = self.value(node.args[1], kind)
            return self.as_type(given, kind, node) if given.kind != NONE else self.constant(None, kind)
        if held is mindtorch.jit._marks.make_attribute:
            return self.value(node.args[0])
        if self.unit.marked(held) == "unused":
            raise NotCompiled("a call of an unused function")
        args, kwargs = self.arguments(node)
        if held in _CASTS and len(args) == 1:
            return self._cast(self.as_value(args[0], node), held, node)
        name = getattr(held, "__name__", "")
        if getattr(builtins, name, None) is held:
            return self._call_builtin(name, args, kwargs, node)
        if held is mindtorch.device:
            return self._call_operator(Operator("device"), args, kwargs, node)
        if isinstance(held, type) and issubclass(held, (enum.Enum, BaseException)):
            raise NotCompiled(f"a call of {held.__name__}")
        if isinstance(held, type):
            return self.unit.make_object(self, held, args, kwargs, node)
        found = self.unit.operator_named(held)
        if found is not None:
            return self._call_operator(Operator(*found), args, kwargs, node)
        return self.unit.call_function(self, held, args, kwargs, node)

    def _cast(self, given: Value, to: type, node: ast.AST) -> Value:
        name, kind = _CASTS[to]
        if given.kind == kind:
            return given
        if given.kind not in (TENSOR, STR, BOOL, *NUMBERS):
            raise self.source.error(node, f"Cannot cast type {given.kind} to {kind}")
        return self.emit(f"aten::{name}", [given], kind)

    def _call_builtin(self, name: str, args: list[Any], kwargs: dict[str, Any], node: ast.Call) -> Any:
        if name == "len" and isinstance(args[0], (ModuleValue, Parts)):
            held = args[0]
            return self.constant(len(held.kind.module if isinstance(held, ModuleValue) else held.items))
        if name == "getattr":
            return self.attribute(args[0], ast.literal_eval(node.args[1]), node)
        if name == "print":
            self.emit_nothing("prim::Print", [self.as_value(one, node) for one in args])
            return self.constant(None)
        values = [self.as_value(one, node) for one in args]
        kinds = [one.kind for one in values]
        if name == "len":
            if kinds[0].name == "Tuple":
                return self.constant(len(kinds[0].args))
            return (
                self.operator("len", values, node=node)
                if kinds[0] in (TENSOR,)
                else self.emit("aten::len", values, INT)
            )
        if name == "str":
            return self.as_text(values[0]) if values else self.constant("")
        if name in ("min", "max"):
            return self._extreme(name, values, node)
        if name == "abs":
            return (
                self.operator("abs", values, node=node)
                if kinds[0] == TENSOR
                else self.emit("prim::abs", values, kinds[0])
            )
        if name in (
            "list",
            "sorted",
            "sum",
            "tuple",
            "ord",
            "chr",
            "round",
            "any",
            "all",
            "divmod",
            "pow",
            "hash",
            "dict",
        ):
            return self._of_containers(name, values, kwargs, node)
        raise self.source.error(
            node, f"Python builtin <built-in function {name}> is currently not supported in Torchscript"
        )

    def _extreme(self, name: str, values: list[Value], node: ast.AST) -> Value:
        kinds = [one.kind for one in values]
        if TENSOR in kinds:
            return self.operator(name, values, node=node)
        if len(values) == 1 and kinds[0].name == "List":
            return self.emit(f"prim::{name}", values, kinds[0].element)
        made = values[0]
        for one in values[1:]:
            kind = unify(made.kind, one.kind) or (FLOAT if {made.kind, one.kind} <= {INT, FLOAT} else NUMBER)
            made = self.emit(f"prim::{name}", [made, one], kind)
        return made

    def _of_containers(self, name: str, values: list[Value], kwargs: dict[str, Any], node: ast.AST) -> Value:
        if name == "dict" or not values:
            raise NotCompiled(f"{name}() with nothing, or of pairs")
        first = values[0]
        if name == "list":
            if first.kind.name == "Tuple":
                return self.make_list(self.unpack(first))
            if first.kind.name == "Dict":
                return self.emit("aten::keys", values, list_of(first.kind.args[0]))
            return self.emit("aten::list", values, list_of(STR) if first.kind == STR else first.kind)
        if name == "sorted":
            return self.emit("aten::sorted", values, first.kind)
        if name == "sum" and first.kind.name == "List":
            return self.emit("aten::sum", values, first.kind.element)
        if name == "tuple" and first.kind.name == "Tuple":
            return first
        if name in ("ord", "chr"):
            return self.emit(f"aten::{name}", values, INT if name == "ord" else STR)
        if name in ("round", "any", "all", "pow") or first.kind == TENSOR:
            return self.operator(name, values, node=node)
        raise NotCompiled(f"{name} of {first.kind}")


def _lazy(owner: Any) -> bool:
    return hasattr(type(owner), "__getattr__") and hasattr(owner, "__name__") and not isinstance(owner, type)

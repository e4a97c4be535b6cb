"""Calls of operators: the overload is chosen by the types of the values."""

from __future__ import annotations

import ast
from typing import Any

from .building import Building
from .graph import Node, Value
from .plain_schemas import overloads
from .schemas import EXACT, IMPLICIT, Argument, Schema, scalar_result, takes
from .types import INT, NONE, NUMBERS, TENSOR, list_of

_SWAPPED = {"add": "add", "mul": "mul", "eq": "eq", "ne": "ne", "lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}


class Operators(Building):
    """Puts calls of operators into the graph."""

    def operator(
        self,
        name: str,
        args: list[Value],
        kwargs: dict[str, Value] | None = None,
        node: ast.AST | None = None,
        namespace: str = "aten",
    ) -> Value:
        """Return what an operator gives for values. Raises RuntimeError where no overload takes them."""
        kwargs = kwargs or {}
        node = node or self._node
        if namespace == "aten" and not kwargs:
            kind = scalar_result(name, tuple(one.kind for one in args))
            if kind is not None:
                return self.emit(f"aten::{name}", args, kind)
            if len(args) == 2 and args[0].kind in NUMBERS and args[1].kind == TENSOR:
                made = self._reflected(name, args[0], args[1], node)
                if made is not None:
                    return made
        found = overloads(name, namespace)
        for level in (EXACT, IMPLICIT):
            for schema in found:
                matched = _match(schema, args, kwargs, level)
                if matched is not None:
                    return self._call_schema(f"{namespace}::{name}", schema, matched)
        raise self.source.error(node, self._refusal(name, namespace, found, args, kwargs))

    def _reflected(self, name: str, first: Value, second: Value, node: ast.AST) -> Value | None:
        if name in _SWAPPED:
            return self.operator(_SWAPPED[name], [second, first], node=node)
        if name == "sub":
            return self.operator("add", [self.operator("neg", [second], node=node), first], node=node)
        if name == "div":
            return self.operator("mul", [self.operator("reciprocal", [second], node=node), first], node=node)
        return None

    def _call_schema(self, name: str, schema: Schema, matched: list[Any]) -> Value:
        given = []
        for argument, one in zip(schema.arguments, matched, strict=True):
            if one is None:
                given.append(self._default(argument))
            elif isinstance(one, list):
                given.append(self.make_list(one))
            else:
                value = self.converted(one, argument.kind, argument.size)
                assert value is not None
                given.append(value)
        node = Node(name, given, self.place)
        node.schema = schema
        self.block.nodes.append(node)
        if not schema.returns or schema.returns == [NONE]:
            return self.constant(None)
        outputs = [node.add_output(kind) for kind in schema.returns]
        return outputs[0] if len(outputs) == 1 else self.make_tuple(outputs)

    def _default(self, argument: Argument) -> Value:
        if isinstance(argument.default, list):
            kind = argument.kind.element if argument.kind.name in ("List", "Optional") else argument.kind
            kind = kind.element if kind.name == "List" else kind
            return self.make_list([self.constant(one) for one in argument.default], kind)
        if argument.size and argument.default is not None and not isinstance(argument.default, (list, tuple)):
            return self.make_list([self.constant(argument.default)] * argument.size)
        if argument.kind.name == "float" and isinstance(argument.default, int):
            return self.constant(float(argument.default))
        return self.constant(argument.default)

    def _refusal(
        self, name: str, namespace: str, found: list[Schema], args: list[Value], kwargs: dict[str, Value]
    ) -> str:
        if not found:
            given = ", ".join(str(one.kind) for one in args)
            return f"Unknown builtin op: {namespace}::{name}({given})"
        lines = ["Arguments for call are not valid.", "The following variants are available:", "  "]
        for schema in found:
            lines += [f"  {schema.text}:", f"  {_why(schema, args, kwargs)}", "  "]
        lines[-1] = ""
        return "\n".join([*lines, "The original call is"])


def _match(schema: Schema, args: list[Any], kwargs: dict[str, Value], level: int) -> list[Any] | None:
    """Return the values in the order of the arguments, None for those that are left out; None where they do not fit.

    Sizes may be given one by one where the last argument is a list: they are gathered in one.
    """
    by_place = [one for one in schema.arguments if not one.by_name]
    args = list(args)
    last = len(by_place) - 1
    if by_place and last < len(args) and by_place[-1].size == 0 and by_place[-1].kind == list_of(INT):
        sizes = args[last:]
        if all(one.kind == INT for one in sizes):
            args[last:] = [sizes]
    if len(args) > len(by_place):
        return None
    matched: list[Any] = []
    used = set()
    for place, argument in enumerate(schema.arguments):
        if place < len(args) and not argument.by_name:
            given: Any = args[place]
            if argument.name in kwargs:
                return None
        else:
            given = kwargs.get(argument.name)
            used.add(argument.name)
        if given is None:
            if argument.required:
                return None
        elif not isinstance(given, list) and not takes(given.kind, argument, level):
            return None
        matched.append(given)
    return matched if set(kwargs) <= used else None


def _why(schema: Schema, args: list[Value], kwargs: dict[str, Value]) -> str:
    by_place = [one for one in schema.arguments if not one.by_name]
    for place, argument in enumerate(schema.arguments):
        given = args[place] if place < len(args) and not argument.by_name else kwargs.get(argument.name)
        if given is None:
            if argument.required:
                return f"Argument {argument.name} not provided."
        elif not takes(given.kind, argument, EXACT):
            return (
                f"Expected a value of type '{argument.kind}' for argument '{argument.name}' but instead found type "
                f"'{given.kind}'."
            )
    for name in kwargs:
        if name not in {one.name for one in schema.arguments}:
            return f"Keyword argument {name} unknown."
    return f"Expected at most {len(by_place)} arguments but found {len(args)} positional arguments."

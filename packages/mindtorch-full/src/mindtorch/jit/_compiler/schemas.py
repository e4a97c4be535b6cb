"""Operators that compiled code calls: their arguments, and which of them takes the values of a call."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Any

import mindtorch
from mindtorch.jit._overloads import number_of

from .types import BOOL, FLOAT, INT, NONE, NUMBER, NUMBERS, STR, TENSOR, Type, goes_for, parse

_SIZED = re.compile(r"\w+\[(\d+)\]\??$")


@dataclass
class Argument:
    """An argument of a schema or of a function of the program. `size` is how long a list a single number stands for."""

    name: str
    kind: Type
    default: Any = None
    required: bool = True
    by_name: bool = False
    size: int = 0


@dataclass
class Schema:
    """An overload: how it is written, its arguments and what it returns."""

    text: str
    arguments: list[Argument]
    returns: list[Type]


DTYPES_OF_METHODS = {
    name: number_of(getattr(mindtorch, {"byte": "uint8", "char": "int8"}.get(name, name)))
    for name in "float double half int long bool short byte char bfloat16".split()
}
"""The numbers of the element types that methods of tensors convert to."""


@functools.cache
def schemas_of(name: str, namespace: str = "aten") -> tuple[Schema, ...]:
    """Return the overloads of an operator, none where there is no such operator."""
    packet = getattr(getattr(mindtorch.ops, namespace), name, None) if name.isidentifier() else None
    if packet is None or not hasattr(packet, "overloads"):
        return ()
    return tuple(_schema(getattr(packet, one)._schema) for one in packet.overloads())


def _schema(declared: Any) -> Schema:
    text = str(declared)
    sizes = {}
    for part in text.partition("(")[2].rpartition(") -> ")[0].split(", "):
        words = part.partition("=")[0].split()
        found = _SIZED.match(words[0]) if len(words) == 2 else None
        if found:
            sizes[words[1]] = int(found[1])
    arguments = [
        Argument(one.name, parse(str(one.real_type)), number_of(one.default_value) if one.has_default_value() else None,
                 not one.has_default_value(), one.kwarg_only, sizes.get(one.name, 0))
        for one in declared.arguments
    ]  # fmt: skip
    return Schema(text, arguments, [parse(str(one.real_type)) for one in declared.returns])


EXACT, IMPLICIT = range(2)


def takes(given: Type, wanted: Argument, level: int) -> bool:
    """Whether a value of a type can be given for an argument."""
    kind = wanted.kind
    if goes_for(given, kind):
        return True
    bare = kind.element if kind.name == "Optional" else kind
    if bare.name == "List":
        if wanted.size and given in (INT, FLOAT) and goes_for(given, bare.element):
            return True
        if given.name == "Tuple" and given.args and all(goes_for(one, bare.element) for one in given.args):
            return True
        if given.name == "List" and not given.args:
            return True
        if given.name == "List" and bare.element.name == "Optional" and given.element == bare.element.element:
            return True
        if given.name == "List" and bare.element == FLOAT and given.element == INT:
            return level == IMPLICIT
    if bare == Type("Device") and given == STR:
        return True
    if level == IMPLICIT:
        if given == TENSOR and bare in (INT, FLOAT, BOOL, NUMBER):
            return True
        if given == NUMBER and bare in (INT, FLOAT):
            return True
    return False


def scalar_result(name: str, kinds: tuple[Type, ...]) -> Type | None:
    """Return what an operator gives for plain values, None where it takes none such."""
    if name in ("add", "sub", "mul", "div", "floordiv", "remainder", "pow") and len(kinds) == 2:
        return _arithmetic(name, *kinds)
    if name in ("lt", "le", "gt", "ge", "eq", "ne") and len(kinds) == 2:
        return _comparison(name, *kinds)
    if name in ("__and__", "__or__", "__xor__", "__lshift__", "__rshift__") and len(kinds) == 2:
        return kinds[0] if kinds[0] == kinds[1] and kinds[0] in (INT, BOOL) else None
    if name in ("neg", "abs") and len(kinds) == 1:
        return kinds[0] if kinds[0] in NUMBERS else None
    if name == "bitwise_not" and kinds == (INT,):
        return INT
    return None


def _arithmetic(name: str, first: Type, second: Type) -> Type | None:
    if first in NUMBERS and second in NUMBERS:
        if NUMBER in (first, second):
            return NUMBER
        if Type("complex") in (first, second):
            return Type("complex")
        if name in ("div", "pow"):
            return FLOAT
        return FLOAT if FLOAT in (first, second) else INT
    if name == "add" and first == second and (first == STR or first.name == "List"):
        return first
    if name == "mul" and first.name == "List" and second == INT:
        return first
    if name == "mul" and first == INT and second.name == "List":
        return second
    return None


def _comparison(name: str, first: Type, second: Type) -> Type | None:
    if first in NUMBERS and second in NUMBERS:
        return BOOL
    if first == second and first not in (TENSOR, NONE):
        return BOOL if first in (STR,) or first.name == "List" or name in ("eq", "ne") else None
    return None

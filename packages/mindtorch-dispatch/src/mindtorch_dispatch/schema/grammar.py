"""The parser of aten grammar."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import count
from typing import Any

from .diagnosis import diagnose, is_known_type
from .model import (
    DTYPE_NUMBERS,
    ENUM_NUMBERS,
    ESCAPES,
    NO_DEFAULT,
    Alias,
    Argument,
    EnumName,
    Schema,
    SchemaError,
    Type,
)

_ENUM_KINDS = {
    "ScalarType": {number: name for name, number in DTYPE_NUMBERS.items()},
    "MemoryFormat": {0: "contiguous_format", 1: "preserve_format", 2: "channels_last", 3: "channels_last_3d"},
    "Layout": {0: "strided", 1: "sparse_coo", 2: "sparse_csr"},
}
_WORDS = {"None": None, "True": True, "False": False, "Mean": 1, "Sum": 2, "true": True, "false": False}
_HEAD = re.compile(r"\s*((?:\w+::)?\w+)(?:\.(\w+))?\s*\(")
# One item of a comma separated list: plain characters, or a bracketed or quoted piece (two levels of parentheses).
_ITEM = re.compile(r"""(?:[^,()\[\]"']+|\[[^\]]*\]|\((?:[^()]|\([^()]*\))*\)|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')+""")
_ARROW = re.compile(r"\)\s*->\s*")
_TYPE = re.compile(r"([\w.]+(?:\((?:[^()]|\([^()]*\))*\))?|\((?:[^()]|\([^()]*\))*\))((?:\?|\[\d*\]|\([^()]*\))*)")
_NAME = re.compile(r"\s+(\w+)\s*(?:=\s*(.*\S)\s*)?", re.S)
_SUFFIX = re.compile(r"\?|\[(\d*)\]|\(([^()]*)\)")
_ALIAS = re.compile(r"\s*(\*|\w+(?:\|\w+)*)\s*(!?)\s*(?:->\s*(\*|\w+(?:\|\w+)*)\s*)?")
_FRESH = re.compile(r"(\$\d+)! -> ")
# A quoted default, a set with a name, and a write that names none: `Tensor! out`.
_UNNAMED = re.compile(
    r"""("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|(?<=[\w\]?])\(\s*[\w|*]+\s*!?\s*(?:->\s*[\w|*]+\s*)?\))|(?<=[\w\]?])\s*!"""
)
_CONTAINERS = ("Dict", "Future", "Await", "RRef", "Union")


def parse_schema(text: str, namespace: str = "aten", *, strict: bool = False, type_variables: bool = True) -> Schema:
    """Parse a signature. A name without `::` gets `namespace` (`""` leaves it bare).

    Raises RuntimeError with torch's text for what is no signature. The table's own rows are read without looking
    for mistakes that do no harm (a comma at the end); `strict` finds those too, as a user's schema deserves. Without
    `type_variables` names in small letters are types or nothing: operators have none, schemas of TorchScript do.
    """
    if strict:
        _raise_diagnosis(text, None, type_variables)
    try:
        return _parse(text, namespace)
    except SchemaError as error:
        _raise_diagnosis(text, error)
        named = _with_fresh_sets(text)
        if named == text:
            raise
        return _parse(named, namespace)


def _with_fresh_sets(text: str) -> str:
    """The text with a set of its own, `$0`, `$1`, for each write that names none: `Tensor($0! -> ) out`."""
    number = count()
    return _UNNAMED.sub(lambda found: found.group(1) or f"(${next(number)}! -> )", text)


def _raise_diagnosis(text: str, error: SchemaError | None, type_variables: bool = True) -> None:
    message = diagnose(text, type_variables)
    if message is not None:
        raise RuntimeError(message) from error


def _parse(text: str, namespace: str) -> Schema:
    head = _HEAD.match(text)
    if head is None:
        raise SchemaError(f"expected an operator name and '(' at the start of a schema, got {text!r}")
    name, overload = head.groups()
    if namespace and "::" not in name:
        name = f"{namespace}::{name}"
    start = head.end()
    # The arrow that follows the argument list is the last `) ->` outside of an alias annotation.
    end = _closing(text, start)
    arrow = _ARROW.match(text, end)
    if arrow is None:
        raise SchemaError(f"expected '->' after the arguments of {name}, got {text[end + 1 :]!r} in {text!r}")
    arguments, is_vararg = _parse_arguments(text[start:end], text)
    returns, is_varret = _parse_returns(text[arrow.end() :].strip(), text)
    return Schema(name, overload or "", arguments, returns, is_vararg, is_varret)


def _closing(text: str, start: int) -> int:
    """Index of the parenthesis that closes the one just before `start`."""
    position = start
    while position < len(text) and text[position] != ")":
        item = _ITEM.match(text, position)
        if item is None:
            if text[position] != ",":
                break
            position += 1
        else:
            position = item.end()
    if position >= len(text) or text[position] != ")":
        raise SchemaError(f"unbalanced parentheses in schema {text!r}")
    return position


def _parse_arguments(text: str, whole: str) -> tuple[tuple[Argument, ...], bool]:
    """The parameter list without its parentheses, and whether it ends in `...`."""
    arguments: list[Argument] = []
    kwarg_only = False
    for piece in _ITEM.findall(text):
        item = piece.strip()
        if item == "*":
            kwarg_only = True
        elif item == "...":
            return tuple(arguments), True
        else:
            try:
                arguments.append(_argument(item, kwarg_only))
            except SchemaError as error:
                raise SchemaError(f"{error} in schema {whole!r}") from None
    positional = [argument.has_default for argument in arguments if not argument.kwarg_only]
    if positional != sorted(positional):
        late = arguments[positional.index(False, positional.index(True))]
        raise SchemaError(f"Non-default positional argument follows default argument. Parameter {late.name} in {whole}")
    return tuple(arguments), False


def _parse_returns(text: str, whole: str) -> tuple[tuple[Argument, ...], bool]:
    """What follows the arrow, and whether it is `...`."""
    if text == "...":
        return (), True
    if text.startswith("(") and _closing(text, 1) == len(text) - 1:
        text = text[1:-1]
    try:
        return tuple(_return(piece.strip()) for piece in _ITEM.findall(text)), False
    except SchemaError as error:
        raise SchemaError(f"{error} in schema {whole!r}") from None


@lru_cache(maxsize=4096)
def _argument(text: str, kwarg_only: bool) -> Argument:
    """`int[2] stride=1`. Cached: a few hundred texts make up most of the operator table."""
    head = _TYPE.match(text)
    tail = head and _NAME.fullmatch(text, head.end())
    if head is None or tail is None:
        raise SchemaError(f"expected 'type name' or 'type name=default', got {text!r}")
    type_, alias = _type(head.group())
    name, default = tail.groups()
    value = NO_DEFAULT if default is None else _parse_default(default, type_)
    return Argument(name, type_, value, None, kwarg_only, alias)


@lru_cache(maxsize=512)
def _return(text: str) -> Argument:
    """`Tensor(a!) values`, `Tensor`."""
    head = _TYPE.match(text)
    name = text[head.end() :].strip() if head else ""
    if head is None or (name and not name.isidentifier()):
        raise SchemaError(f"expected a return type, got {text!r}")
    type_, alias = _type(head.group())
    return Argument(name, type_, alias=alias)


@lru_cache(maxsize=512)
def _type(text: str) -> tuple[Type, Alias | None]:
    """Type and alias annotation of `Tensor(a!)[]`, `int[2]?`, `Dict(str, Tensor)`."""
    match = _TYPE.fullmatch(text)
    if match is None:
        raise SchemaError(f"expected a type, got {text!r}")
    head, suffixes = match.groups()
    alias: Alias | None = None
    kind, paren, inner = head.partition("(")
    if paren and kind and kind not in _CONTAINERS:
        alias = _alias(inner[:-1], False)
    else:
        kind = head
    if not kind.startswith("(") and not is_known_type(kind.partition("(")[0]):
        raise SchemaError(f"unknown type {kind!r}")
    is_list = optional = elem_optional = False
    size: int | None = None
    for suffix in _SUFFIX.finditer(suffixes):
        if suffix.group() == "?":
            optional = True
        elif suffix.group().startswith("("):
            alias = _alias(suffix.group(2), is_list)
        else:
            if is_list:  # a list of lists: the inner one becomes part of the kind
                kind = str(Type(kind, True, size, False, elem_optional))
            is_list, elem_optional, optional = True, optional, False
            size = int(suffix.group(1)) if suffix.group(1) else None
    return Type(kind, is_list, size, optional, elem_optional), alias


def _alias(text: str, on_list: bool) -> Alias:
    fresh = _FRESH.fullmatch(text)
    if fresh is not None:
        return Alias(fresh.group(1), "", True, on_list)
    match = _ALIAS.fullmatch(text)
    if match is None:
        raise SchemaError(f"expected an alias annotation such as (a!), got ({text})")
    before, bang, after = match.groups()
    return Alias(before, after or before, bool(bang), on_list)


def _parse_default(text: str, type_: Type) -> Any:
    """The value of a default; a single value for a sized list fills it (`int[2] stride=1`)."""
    if text[0] == "[":
        if text[-1] != "]":
            raise SchemaError(f"unbalanced brackets in default {text!r}")
        return tuple(_parse_constant(piece.strip(), type_) for piece in _ITEM.findall(text[1:-1]))
    value = _parse_constant(text, type_)
    if type_.is_list and type_.size is not None and value is not None:
        return (value,) * type_.size
    return value


def _parse_constant(text: str, type_: Type) -> Any:
    if text in _WORDS:
        return _WORDS[text]
    if text[0] in "\"'":
        if len(text) < 2 or text[-1] != text[0]:
            raise SchemaError(f"unterminated string in default {text!r}")
        return re.sub(r"\\(.)", lambda m: ESCAPES.get(m[1], m[1]), text[1:-1], flags=re.S)
    if type_.kind == "Device":
        return text
    if text in ENUM_NUMBERS:
        return EnumName(text)
    try:
        value = int(text)
    except ValueError:
        try:
            return complex(text) if text.endswith("j") else float(text)
        except ValueError:
            raise SchemaError(f"default {text!r} is no constant of the grammar") from None
    if type_.kind in _ENUM_KINDS:
        return EnumName(_ENUM_KINDS[type_.kind].get(value, text))
    return value

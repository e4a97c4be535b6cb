"""Operator signatures in aten grammar.

    schema = parse_schema("add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor")
    schema.name, schema.overload            # "aten::add", "Tensor"
    [a.name for a in schema.arguments]      # ["self", "other", "alpha"]
    str(schema)                             # torch's form, "aten::add.Tensor(Tensor self, ...) -> Tensor"
    str(schema.as_inplace())                # "aten::add_.Tensor(Tensor(a!) self, ...) -> Tensor(a!)"
    str(schema.as_out("out"))               # "aten::add.out(..., *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)"

Defaults are Python values: numbers, bools, strings, `None`, tuples for lists. Defaults of the enumerations
(`ScalarType`, `Layout`, `MemoryFormat`) are `EnumName` strings (`"long"`, `"contiguous_format"`), because a schema
knows names, not objects; the argument parser turns them into objects.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

__all__ = ["Alias", "Argument", "EnumName", "Schema", "SchemaError", "Type", "parse_schema"]


class SchemaError(RuntimeError):
    """A signature that is not in aten grammar."""


class EnumName(str):
    """The name of an enumeration value used as a default, as in `MemoryFormat memory_format=contiguous_format`."""

    __slots__ = ()


# c10 numbers of the names that may stand as a default; torch prints the number.
_ENUM_NUMBERS = {
    "contiguous_format": 0,
    "preserve_format": 1,
    "channels_last": 2,
    "channels_last_3d": 3,
    "strided": 0,
    "sparse_coo": 1,
    "sparse": 1,
    "sparse_csr": 2,
    "mkldnn": 3,
    "sparse_csc": 4,
    "jagged": 7,
    "uint8": 0,
    "int8": 1,
    "int16": 2,
    "short": 2,
    "int32": 3,
    "int": 3,
    "int64": 4,
    "long": 4,
    "float16": 5,
    "half": 5,
    "float32": 6,
    "float": 6,
    "float64": 7,
    "double": 7,
    "complex64": 9,
    "complex128": 10,
    "bool": 11,
    "bfloat16": 15,
}
_ENUM_KINDS = {
    "ScalarType": {4: "long", 6: "float", 7: "double", 11: "bool"},
    "MemoryFormat": {0: "contiguous_format", 1: "preserve_format", 2: "channels_last", 3: "channels_last_3d"},
    "Layout": {0: "strided", 1: "sparse_coo", 2: "sparse_csr"},
}
_WORDS = {"None": None, "True": True, "False": False, "Mean": 1, "Sum": 2, "true": True, "false": False}
_ESCAPES = {"n": "\n", "t": "\t", "f": "\f", "v": "\v", "r": "\r", "a": "\a", "b": "\b"}
_ESCAPED = {v: k for k, v in _ESCAPES.items()} | {'"': '"', "'": "'", "\\": "\\"}
NO_DEFAULT: Any = type("NoDefault", (), {"__repr__": lambda self: "NO_DEFAULT", "__slots__": ()})()


class _Frozen:
    """Base of the value classes: slots filled once by `_fill`, then read-only; equality by content."""

    __slots__ = ()

    def _fill(self, *values: Any) -> None:
        for name, value in zip(self.__slots__, values, strict=True):
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable")

    __delattr__ = __setattr__  # type: ignore[assignment]

    def _key(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.__slots__)

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other._key() == self._key()  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash(self._key())

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._key()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


class Type(_Frozen):
    """A type of the grammar: `kind` with an optional list suffix, `Tensor?[]`, `int[2]?`, `Scalar`."""

    __slots__ = ("kind", "is_list", "size", "optional", "elem_optional")

    def __init__(
        self,
        kind: str,
        is_list: bool = False,
        size: int | None = None,
        optional: bool = False,
        elem_optional: bool = False,
    ) -> None:
        self._fill(kind, is_list, size, optional, elem_optional)

    def __str__(self) -> str:
        return self.with_alias(None)

    def with_alias(self, alias: Alias | None) -> str:
        """The type as text, with the alias annotation in its place."""
        inner, outer = (alias or "", "") if alias is None or not alias.on_list else ("", alias)
        text = f"{self.kind}{inner}{'?' if self.elem_optional else ''}"
        if self.is_list:
            text += f"[{'' if self.size is None else self.size}]{outer}"
        return text + "?" if self.optional else text

    @property
    def is_tensor(self) -> bool:
        """True for `Tensor` and `Tensor?`, False for lists."""
        return self.kind == "Tensor" and not self.is_list


class Alias(_Frozen):
    """An annotation `(a! -> b)`: `before` and `after` are set names joined by `|`, `is_write` is the `!`."""

    __slots__ = ("before", "after", "is_write", "on_list")

    def __init__(self, before: str, after: str, is_write: bool, on_list: bool = False) -> None:
        self._fill(before, after, is_write, on_list)

    def __str__(self) -> str:
        arrow = "" if self.after == self.before else f" -> {self.after}"
        return f"({self.before}{'!' if self.is_write else ''}{arrow})"


class Argument(_Frozen):
    """One parameter or return value. `default` is meaningful only when `has_default`."""

    __slots__ = ("name", "type", "default", "has_default", "kwarg_only", "alias")

    def __init__(
        self,
        name: str,
        type: Type,
        default: Any = NO_DEFAULT,
        has_default: bool | None = None,
        kwarg_only: bool = False,
        alias: Alias | None = None,
    ) -> None:
        present = default is not NO_DEFAULT if has_default is None else has_default
        self._fill(name, type, default if present else None, present, kwarg_only, alias)

    @property
    def alias_set(self) -> str | None:
        """Name of the alias set (`"a"`), or None."""
        return None if self.alias is None else self.alias.before

    @property
    def is_write(self) -> bool:
        """True when the operator writes into this argument."""
        return self.alias is not None and self.alias.is_write

    def replace(self, **changes: Any) -> Argument:
        """A copy with some fields changed."""
        fields = dict(zip(self.__slots__, self._key(), strict=True))
        fields.update(changes)
        if "has_default" not in changes and "default" in changes:
            fields["has_default"] = True
        return Argument(**fields)

    def __str__(self) -> str:
        text = self.type.with_alias(self.alias)
        if self.name:
            text += f" {self.name}"
        return f"{text}={_default_text(self.default, self.type)}" if self.has_default else text


class Schema(_Frozen):
    """A parsed signature. `name` is qualified (`"aten::add"`), `overload` is `""` for the default overload."""

    __slots__ = ("name", "overload", "arguments", "returns", "is_vararg", "is_varret")

    def __init__(
        self,
        name: str,
        overload: str,
        arguments: tuple[Argument, ...],
        returns: tuple[Argument, ...],
        is_vararg: bool = False,
        is_varret: bool = False,
    ) -> None:
        self._fill(name, overload, tuple(arguments), tuple(returns), is_vararg, is_varret)

    @property
    def namespace(self) -> str:
        """`"aten"` of `aten::add`."""
        return self.name.rpartition("::")[0]

    @property
    def base_name(self) -> str:
        """`"add"` of `aten::add`."""
        return self.name.rpartition("::")[2]

    @property
    def qualified_name(self) -> str:
        """`"aten::add.Tensor"`; without a dot for the default overload."""
        return f"{self.name}.{self.overload}" if self.overload else self.name

    @property
    def is_inplace(self) -> bool:
        """True when the first argument is written and named `self`, as in `add_`."""
        return bool(self.arguments) and self.arguments[0].name == "self" and self.arguments[0].is_write

    @property
    def out_arguments(self) -> tuple[Argument, ...]:
        """The keyword-only arguments that an `out=` overload writes."""
        return tuple(a for a in self.arguments if a.is_write and a.kwarg_only)

    def replace(self, **changes: Any) -> Schema:
        """A copy with some fields changed."""
        fields = dict(zip(self.__slots__, self._key(), strict=True))
        fields.update(changes)
        return Schema(**fields)

    def as_inplace(self) -> Schema:
        """The in-place form: `add.Tensor` gives `add_.Tensor`, which writes and returns `self`."""
        if not self.arguments or self.arguments[0].type.kind != "Tensor" or self.arguments[0].type.optional:
            raise SchemaError(f"{self.qualified_name} has no in-place form: its first argument is not a Tensor")
        first = self.arguments[0]
        written = first.replace(alias=_WRITES[0])
        returns = () if first.type.is_list else (Argument("", first.type, alias=_WRITES[0]),)
        return self.replace(name=f"{self.name}_", arguments=(written, *self.arguments[1:]), returns=returns)

    def as_out(self, overload: str | None = None, names: tuple[str, ...] | None = None) -> Schema:
        """The `out=` form. `names` are the out arguments' names where they differ from torch's usual ones
        (`out`, the names of the returns, or `out0, out1, ...`)."""
        outs, returns = [], []
        if names is None:
            several = tuple(r.name or f"out{i}" for i, r in enumerate(self.returns))
            names = ("out",) if len(self.returns) == 1 else several
        for name, result, alias in zip(names, self.returns, _WRITES, strict=False):
            outs.append(Argument(name, result.type, kwarg_only=True, alias=alias))
            if not result.type.is_list:
                returns.append(Argument(result.name if len(self.returns) > 1 else "", result.type, alias=alias))
        # An out= call takes dtype, layout, device from `out`.
        factory = {"dtype", "layout", "device", "pin_memory"}
        is_factory = factory <= {a.name for a in self.arguments}
        kept = [a.replace(alias=None) for a in self.arguments if not (is_factory and a.name in factory)]
        if overload is None:
            overload = f"{self.overload}_out" if self.overload else "out"
        return self.replace(overload=overload, arguments=(*kept, *outs), returns=tuple(returns))

    def __str__(self) -> str:
        parts, seen_star = [], False
        for arg in self.arguments:
            if arg.kwarg_only and not seen_star:
                parts.append("*")
                seen_star = True
            parts.append(str(arg))
        if self.is_vararg:
            parts.append("...")
        returns = [str(r) for r in self.returns]
        if self.is_varret:
            returns.append("...")
        one = len(returns) == 1 and not returns[0].startswith("(") and not self.is_varret
        result = returns[0] if one else f"({', '.join(returns)})"
        return f"{self.qualified_name}({', '.join(parts)}) -> {result if not self.is_varret or returns[:-1] else '...'}"


_WRITES = tuple(Alias(letter, letter, True) for letter in "abcdefghijklmnop")

_HEAD = re.compile(r"\s*((?:\w+::)?\w+)(?:\.(\w+))?\s*\(")
# One item of a comma separated list: plain characters, or a bracketed or quoted piece (two levels of parentheses).
_ITEM = re.compile(r"""(?:[^,()\[\]"']+|\[[^\]]*\]|\((?:[^()]|\([^()]*\))*\)|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')+""")
_ARROW = re.compile(r"\)\s*->\s*")
_TYPE = re.compile(r"([\w.]+(?:\((?:[^()]|\([^()]*\))*\))?|\((?:[^()]|\([^()]*\))*\))((?:\?|\[\d*\]|\([^()]*\))*)")
_NAME = re.compile(r"\s+(\w+)\s*(?:=\s*(.*\S)\s*)?", re.S)
_SUFFIX = re.compile(r"\?|\[(\d*)\]|\(([^()]*)\)")
_ALIAS = re.compile(r"\s*(\*|\w+(?:\|\w+)*)\s*(!?)\s*(?:->\s*(\*|\w+(?:\|\w+)*)\s*)?")
_CONTAINERS = ("Dict", "Future", "Await", "RRef", "Union", "Tuple", "List", "Optional")


def parse_schema(text: str, namespace: str = "aten") -> Schema:
    """Parse a signature. A name without `::` gets `namespace` (`""` leaves it bare)."""
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
    head, suffixes = _TYPE.fullmatch(text).groups()  # type: ignore[union-attr]
    alias: Alias | None = None
    kind, paren, inner = head.partition("(")
    if paren and kind and kind not in _CONTAINERS:
        alias = _alias(inner[:-1], False)
    else:
        kind = head
    is_list = optional = elem_optional = False
    size: int | None = None
    for match in _SUFFIX.finditer(suffixes):
        if match.group() == "?":
            optional = True
        elif match.group().startswith("("):
            alias = _alias(match.group(2), is_list)
        else:
            if is_list:  # a list of lists: the inner one becomes part of the kind
                kind = str(Type(kind, True, size, False, elem_optional))
            is_list, elem_optional, optional = True, optional, False
            size = int(match.group(1)) if match.group(1) else None
    return Type(kind, is_list, size, optional, elem_optional), alias


def _alias(text: str, on_list: bool) -> Alias:
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
        return re.sub(r"\\(.)", lambda m: _ESCAPES.get(m[1], m[1]), text[1:-1], flags=re.S)
    if text in _ENUM_NUMBERS:
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


def _default_text(value: Any, type_: Type) -> str:
    """A default as torch prints it: 17 significant digits, enumerations as numbers, equal int[N] elements once."""
    if isinstance(value, tuple):
        if type_.kind == "int" and type_.size is not None and len(value) == type_.size > 1 and len(set(value)) == 1:
            return str(value[0])
        return f"[{', '.join(_default_text(v, type_) for v in value)}]"
    if isinstance(value, EnumName):
        return str(_ENUM_NUMBERS[value])
    if isinstance(value, str):
        return '"' + "".join(f"\\{_ESCAPED[c]}" if c in _ESCAPED else c for c in value) + '"'
    if isinstance(value, float) or (type_.kind == "float" and not type_.optional and value is not None):
        return f"{int(value)}." if float(value).is_integer() and abs(value) < 1e17 else f"{value:.17g}"
    return str(value)

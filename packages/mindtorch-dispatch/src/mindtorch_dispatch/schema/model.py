"""The value classes of operator signatures."""

from __future__ import annotations

from typing import Any

from mindtorch_storage.dtype import ALIASES, ALL_DTYPES


class SchemaError(RuntimeError):
    """A signature that is not in aten grammar."""


class EnumName(str):
    """The name of an enumeration value used as a default, as in `MemoryFormat memory_format=contiguous_format`."""

    __slots__ = ()


DTYPE_NUMBERS = {one.name: one.index for one in ALL_DTYPES} | {name: one.index for name, one in ALIASES.items()}
# c10 numbers of the names that may stand as a default; torch prints the number.
ENUM_NUMBERS = {
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
    "complex": 9,
    **DTYPE_NUMBERS,
}
ESCAPES = {"n": "\n", "t": "\t", "f": "\f", "v": "\v", "r": "\r", "a": "\a", "b": "\b"}
_ESCAPED = {v: k for k, v in ESCAPES.items()} | {'"': '"', "'": "'", "\\": "\\"}
NO_DEFAULT: Any = type("NoDefault", (), {"__repr__": lambda self: "NO_DEFAULT", "__slots__": ()})()


class _Frozen:
    """Base of the value classes: slots filled once by `_fill`, then read-only; equality by content."""

    __slots__: tuple[str, ...] = ()
    _setters: tuple[Any, ...] = ()

    def __init_subclass__(cls) -> None:
        cls._setters = tuple([cls.__dict__[name].__set__ for name in cls.__slots__])

    def _fill(self, *values: object) -> None:
        for put, value in zip(self._setters, values, strict=True):
            put(self, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{type(self).__name__} is immutable")

    def _key(self) -> tuple[Any, ...]:
        return tuple(getattr(self, name) for name in self.__slots__)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Frozen) and type(other) is type(self) and other._key() == self._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self._key()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"


class Type(_Frozen):
    """A type of the grammar: `kind` with an optional list suffix, `Tensor?[]`, `int[2]?`, `Scalar`."""

    __slots__ = ("kind", "is_list", "size", "optional", "elem_optional")

    kind: str
    is_list: bool
    size: int | None
    optional: bool
    elem_optional: bool

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

    before: str
    after: str
    is_write: bool
    on_list: bool

    def __init__(self, before: str, after: str, is_write: bool, on_list: bool = False) -> None:
        self._fill(before, after, is_write, on_list)

    def __str__(self) -> str:
        arrow = "" if self.after == self.before else f" -> {self.after}"
        return f"({self.before}{'!' if self.is_write else ''}{arrow})"


class Argument(_Frozen):
    """One parameter or return value. `default` is meaningful only when `has_default`."""

    __slots__ = ("name", "type", "default", "has_default", "kwarg_only", "alias")

    name: str
    type: Type
    default: Any
    has_default: bool
    kwarg_only: bool
    alias: Alias | None

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

    def replace(self, **changes: object) -> Argument:
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

    name: str
    overload: str
    arguments: tuple[Argument, ...]
    returns: tuple[Argument, ...]
    is_vararg: bool
    is_varret: bool

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

    def places(self) -> list[tuple[int, Argument]]:
        """Every argument with its position counted from 1, as a function and as a method, where `self` comes first."""
        as_method = sorted(self.arguments, key=lambda argument: argument.name != "self")
        return [*enumerate(self.arguments, 1), *enumerate(as_method, 1)]

    def replace(self, **changes: object) -> Schema:
        """A copy with some fields changed."""
        fields = dict(zip(self.__slots__, self._key(), strict=True))
        fields.update(changes)
        return Schema(**fields)

    def as_inplace(self) -> Schema:
        """The in-place form: `add.Tensor` gives `add_.Tensor`, which writes and returns `self`."""
        if not self.arguments or self.arguments[0].type.kind != "Tensor" or self.arguments[0].type.optional:
            raise SchemaError(f"{self.qualified_name} has no in-place form: its first argument is not a Tensor")
        first = self.arguments[0]
        written = first.replace(name="self", alias=_WRITES[0])  # also of an `input`, as in `dropout_`
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


def _default_text(value: int, type_: Type) -> str:
    """A default as torch prints it: 17 significant digits, enumerations as numbers, equal int[N] elements once."""
    if isinstance(value, tuple):
        if type_.kind == "int" and type_.size is not None and len(value) == type_.size > 1 and len(set(value)) == 1:
            return str(value[0])
        return f"[{', '.join(_default_text(v, type_) for v in value)}]"
    if isinstance(value, EnumName):
        return str(ENUM_NUMBERS[value])
    if isinstance(value, str) and type_.kind == "Device":
        return value
    if isinstance(value, str):
        return '"' + "".join(f"\\{_ESCAPED[c]}" if c in _ESCAPED else c for c in value) + '"'
    if isinstance(value, float) or (type_.kind == "float" and not type_.optional and value is not None):
        return f"{int(value)}." if float(value).is_integer() and abs(value) < 1e17 else f"{value:.17g}"
    return str(value)

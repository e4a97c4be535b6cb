"""`torch.ops.aten.add.Tensor._schema`: a signature as torch shows it to programs, over the one the call path reads."""

from __future__ import annotations

import builtins
from typing import Any, NoReturn

from mindtorch_storage.annotations import bind_annotations

from . import Alias, EnumName, Schema, parse_schema
from . import Argument as SchemaArgument
from . import Type as SchemaType
from .compatibility import is_backward_compatible, why_not_forward_compatible
from .model import ENUM_NUMBERS

_KINDS = {
    "Any": "AnyType",
    "Device": "DeviceObjType",
    "Generator": "GeneratorType",
    "Layout": "LayoutType",
    "MemoryFormat": "MemoryFormatType",
    "NoneType": "NoneType",
    "Scalar": "NumberType",
    "ScalarType": "ScalarTypeType",
    "Stream": "StreamObjType",
    "SymBool": "SymBoolType",
    "SymInt": "SymIntType",
    "Tensor": "TensorType",
    "bool": "BoolType",
    "complex": "ComplexType",
    "float": "FloatType",
    "int": "IntType",
    "str": "StringType",
}
_SHOWN = {"Scalar": "number", "SymInt": "int", "SymBool": "bool"}
_AS_INT = ("ScalarType", "Layout", "MemoryFormat", "SymInt")


class _ReadOnly:
    """Base of the views: attributes are those of torch's classes, and set by nobody."""

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"'torch._C.{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"property of '{type(self).__name__}' object has no setter")


class JitType(_ReadOnly):
    """A type as TorchScript writes it: `str()` gives `Optional[List[int]]`."""

    __slots__ = ("_kind", "_short", "_text")
    _kind: builtins.str
    _short: builtins.str
    _text: builtins.str

    def __init__(self, text: str, kind: str, short: str) -> None:
        object.__setattr__(self, "_text", text)
        object.__setattr__(self, "_kind", kind)
        object.__setattr__(self, "_short", short)

    @property
    def annotation_str(self) -> str:
        """The type's text."""
        return self._text

    def kind(self) -> str:
        """The name of the type's class, `ListType`."""
        return self._kind

    def str(self) -> builtins.str:
        """The type as signatures write it, `int[]?`."""
        return self._short

    def __repr__(self) -> builtins.str:
        return self._text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, JitType) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)


def jit_type(declared: SchemaType, real: bool = False) -> JitType:
    """Return a type of the grammar as TorchScript writes it; `real` keeps the enumerations apart from ints."""
    text, kind = _head(declared.kind, real)
    short = "int" if declared.kind in _AS_INT and not real else declared.kind
    if declared.elem_optional:
        text, kind, short = f"Optional[{text}]", "OptionalType", f"{short}?"
    if declared.is_list:
        text, kind, short = f"List[{text}]", "ListType", f"{short}[]"
    if declared.optional:
        text, kind, short = f"Optional[{text}]", "OptionalType", f"{short}?"
    return JitType(text, kind, short)


def _head(kind: str, real: bool) -> tuple[str, str]:
    name, inside, rest = kind.partition("(")
    if kind.endswith("]"):  # a list of lists: the inner one is part of the kind
        inner = parse_schema(f"f({kind} x) -> int").arguments[0].type
        return jit_type(inner, real).annotation_str, "ListType"
    if inside:
        items = parse_schema(f"f({', '.join(f'{item} x' for item in _items(rest[:-1]))}) -> int").arguments
        return f"{name or 'Tuple'}[{', '.join(jit_type(item.type, real).annotation_str for item in items)}]", (
            f"{name or 'Tuple'}Type"
        )
    if kind in _AS_INT and not real:
        return "int", "IntType"
    return _SHOWN.get(kind, kind), _KINDS.get(kind, "ClassType" if "." in kind else "Type")


def _items(text: str) -> list[str]:
    found, depth, start = [], 0, 0
    for position, letter in enumerate(text):
        depth += (letter in "([") - (letter in ")]")
        if letter == "," and not depth:
            found.append(text[start:position].strip())
            start = position + 1
    return [*found, text[start:].strip()]


class AliasInfo(_ReadOnly):
    """The alias annotation of an argument or a return: the sets it belongs to before and after the call."""

    __slots__ = ("after_set", "before_set", "is_write")

    def __init__(self, alias: Alias, of_items: bool) -> None:
        object.__setattr__(self, "before_set", set() if of_items else set(alias.before.split("|")))
        object.__setattr__(self, "after_set", set() if of_items or not alias.after else set(alias.after.split("|")))
        object.__setattr__(self, "is_write", alias.is_write)


class Argument(_ReadOnly):
    """One parameter or return value.

    >>> [argument.name for argument in torch.ops.aten.relu.default._schema.arguments]
    ['self']
    """

    __slots__ = ("_declared",)
    _declared: SchemaArgument

    def __init__(self, declared: SchemaArgument) -> None:
        object.__setattr__(self, "_declared", declared)

    @property
    def name(self) -> str:
        """The parameter's name."""
        return self._declared.name

    @property
    def type(self) -> JitType:
        """The type a program gives, in which enumerations are ints."""
        return jit_type(self._declared.type)

    @property
    def real_type(self) -> JitType:
        """The type the operator declares."""
        return jit_type(self._declared.type, real=True)

    @property
    def N(self) -> int | None:
        """The length of a list that may be given as one value, None for others."""
        return self._declared.type.size

    def has_default_value(self) -> bool:
        """Whether the argument may be left out."""
        return self._declared.has_default

    @property
    def default_value(self) -> Any:
        """The default, None where there is none; enumerations are numbers."""
        value = self._declared.default
        if isinstance(value, EnumName):
            return ENUM_NUMBERS[value]
        return list(value) if isinstance(value, tuple) else value

    @property
    def kwarg_only(self) -> bool:
        """Whether the argument is given by keyword alone."""
        return self._declared.kwarg_only

    @property
    def alias_info(self) -> AliasInfo | None:
        """The alias annotation."""
        alias = self._declared.alias
        return None if alias is None else AliasInfo(alias, self._declared.type.is_list and not alias.on_list)

    @property
    def is_write(self) -> bool:
        """Whether the operator writes into the argument."""
        return self._declared.is_write

    @property
    def is_out(self) -> bool:
        """Whether the argument is one of an `out=` form's."""
        return self.is_write and self._declared.kwarg_only


class FunctionSchema(_ReadOnly):
    """A signature: `name`, `overload_name`, `arguments`, `returns`, `is_mutable`; `str()` in aten grammar.

    >>> schema = torch.ops.aten.relu.default._schema
    >>> schema.name, str(schema)
    ('aten::relu', 'aten::relu(Tensor self) -> Tensor')
    """

    __slots__ = ("_arguments", "_declared", "_returns")
    _declared: Schema
    _arguments: list[Argument]
    _returns: list[Argument]

    def __init__(self, declared: Schema) -> None:
        object.__setattr__(self, "_declared", declared)
        object.__setattr__(self, "_arguments", [Argument(one) for one in declared.arguments])
        object.__setattr__(self, "_returns", [Argument(one) for one in declared.returns])

    @property
    def name(self) -> str:
        """`aten::add`."""
        return self._declared.name

    @property
    def overload_name(self) -> str:
        """`Tensor`, empty for the unnamed overload."""
        return self._declared.overload

    @property
    def arguments(self) -> list[Argument]:
        """The parameters."""
        return list(self._arguments)

    @property
    def returns(self) -> list[Argument]:
        """What a call returns."""
        return list(self._returns)

    @property
    def is_mutable(self) -> bool:
        """Whether some argument is written."""
        return any(one.is_write for one in self._declared.arguments)

    def _is_view_op(self) -> bool:
        return any(one.alias is not None and not one.alias.is_write for one in self._declared.arguments)

    def is_backward_compatible_with(self, old_schema: FunctionSchema) -> bool:
        """Whether every call of `old_schema` is a call of this one."""
        return is_backward_compatible(self._declared, old_schema._declared)

    def check_forward_compatible_with(self, old_schema: FunctionSchema) -> tuple[bool, str]:
        """Whether a call of this one that leaves out new arguments is one of `old_schema`, and why not."""
        reason = why_not_forward_compatible(self._declared, old_schema._declared)
        return reason is None, reason or ""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FunctionSchema) and self._declared == other._declared

    def __hash__(self) -> int:
        return hash(self._declared)

    def __repr__(self) -> str:
        return str(self._declared)


for _class in (FunctionSchema, Argument, AliasInfo):
    bind_annotations(_class, __name__)
    _class.__module__ = "torch._C"

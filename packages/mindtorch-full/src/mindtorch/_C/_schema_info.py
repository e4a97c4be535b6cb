"""What a schema, and the arguments of one call, say of sharing and writing: `torch._C._SchemaInfo` and its like."""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import mindtorch
from mindtorch._C import _status
from mindtorch._naming import adopt

_WILDCARD = "*"
_STATISTICS = frozenset({"running_mean", "running_var"})
_TRAINED = frozenset(
    "aten::batch_norm aten::instance_norm aten::native_batch_norm aten::cudnn_batch_norm aten::miopen_batch_norm".split()
)
"""Operators that write to their statistics while they train, which their schemas do not say."""


class _SchemaArgType(enum.Enum):
    """Whether a place in a schema is one of an argument or of a result."""

    input = 0
    output = 1


@dataclass(frozen=True)
class _SchemaArgument:
    """A place in a schema."""

    type: _SchemaArgType
    index: int


def _tensors(value: Any) -> Iterator[Any]:
    if isinstance(value, mindtorch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _tensors(one)


def _has_memory(tensor: Any) -> bool:
    return tensor.layout == mindtorch.strided and tensor.numel() > 0


def _share(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if not (_has_memory(a) and _has_memory(b)):
        return False
    return a.untyped_storage()._cdata == b.untyped_storage()._cdata


def _is_alias_of(x: Any, y: Any) -> bool:
    """Whether two values are tensors over one storage."""
    both = isinstance(x, mindtorch.Tensor) and isinstance(y, mindtorch.Tensor)
    return both and _status._is_alias_of(x, y)


def _overlaps(x: Any, y: Any) -> bool:
    """Whether tensors in two values, which may be lists, are over one storage."""
    others = list(_tensors(y))
    return any(_share(one, other) for one in _tensors(x) for other in others)


class _SchemaInfo:
    """Answers for one schema; what is known of a call's arguments is added to it."""

    def __init__(self, schema: Any) -> None:
        self._schema = schema
        self._values: dict[str, Any] = {}

    def add_argument_value(self, name: str, value: Any) -> None:
        """Say what an argument is; the first one, `self`, may be called `input`."""
        first = self._schema.arguments[0].name if self._schema.arguments else ""
        self._values[first if name == "input" and first == "self" else name] = value

    def add_argument_values(self, values: dict[str, Any]) -> None:
        """Say what several arguments are."""
        for name, value in values.items():
            self.add_argument_value(name, value)

    def _at(self, place: _SchemaArgument) -> Any:
        listed = self._schema.arguments if place.type is _SchemaArgType.input else self._schema.returns
        if not 0 <= place.index < len(listed):
            raise RuntimeError("Invalid index for schema.")
        return listed[place.index]

    def is_mutable(self, argument: Any = None) -> bool:
        """Whether anything, or an argument by place or by name, may be written to."""
        places = [_SchemaArgument(_SchemaArgType.input, place) for place in range(len(self._schema.arguments))]
        if argument is None:
            return any(map(self.is_mutable, places))
        if isinstance(argument, str):
            names = ["input" if one.name == "self" else one.name for one in self._schema.arguments]
            argument = places[names.index("input" if argument == "self" else argument)]
        if argument.type is _SchemaArgType.output:
            return self._is_written(self._at(argument))
        # What shares memory with an argument that is written to is written to as well.
        return any(self._is_written(self._at(other)) and self._same_memory(argument, other) for other in places)

    def _is_written(self, one: Any) -> bool:
        if one.alias_info is not None and one.alias_info.is_write:
            return True
        if self._schema.name not in _TRAINED or one.name not in _STATISTICS:
            return False
        return bool(self._values.get("training", self._values.get("use_input_stats", True)))

    def _same_memory(self, a: _SchemaArgument, b: _SchemaArgument) -> bool:
        if a == b:
            return True
        values = [self._values.get(self._at(one).name) for one in (a, b)]
        return _overlaps(*values)

    def _sets(self, place: _SchemaArgument) -> set[str]:
        alias = self._at(place)._declared.alias  # that of a list's tensors, too
        return set() if alias is None else {*alias.before.split("|"), *alias.after.split("|")}

    def _declared(self, a: _SchemaArgument, b: _SchemaArgument) -> bool:
        mine, other = self._sets(a), self._sets(b)
        if not mine or not other:
            return False
        return bool(mine & other) or _WILDCARD in mine | other

    def may_alias(self, lhs: _SchemaArgument, rhs: _SchemaArgument) -> bool:
        """Whether two places may be over one storage, by the schema or because the arguments are."""
        if self._declared(lhs, rhs):
            return True
        return any(self._same_memory(a, b) for a in self._arguments_of(lhs) for b in self._arguments_of(rhs))

    def _arguments_of(self, place: _SchemaArgument) -> list[_SchemaArgument]:
        """The arguments that a place may be."""
        if place.type is _SchemaArgType.input:
            return [place]
        places = [_SchemaArgument(_SchemaArgType.input, number) for number in range(len(self._schema.arguments))]
        return [one for one in places if self._declared(place, one)]

    def may_contain_alias(self, lhs: _SchemaArgument, rhs: _SchemaArgument, bidirectional: bool = True) -> bool:
        """As :meth:`may_alias`, for what is inside lists as well."""
        return self.may_alias(lhs, rhs)


adopt(globals(), "torch._C")

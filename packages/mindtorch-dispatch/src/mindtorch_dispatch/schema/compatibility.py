"""Whether programs that were written for one signature may call another one, and the other way round."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from .model import Argument, Schema, Type

_NUMBERS = ("int", "float", "complex", "bool", "SymInt")
_AS_INT = {"SymInt": "int", "ScalarType": "int", "Layout": "int", "MemoryFormat": "int"}


def _is_narrower(one: Type, other: Type) -> bool:
    """Whether each value of a type is one of another type."""
    if one.optional and not other.optional:
        return False
    if (one.is_list, one.elem_optional) != (other.is_list, other.elem_optional) and not (
        one.is_list and other.is_list and other.elem_optional
    ):
        return False
    mine, theirs = _AS_INT.get(one.kind, one.kind), _AS_INT.get(other.kind, other.kind)
    return mine == theirs or theirs == "Any" or (theirs == "Scalar" and mine in _NUMBERS and not one.is_list)


def _takes(new: Argument, old: Argument, *, narrower: bool) -> bool:
    """Whether what an old argument takes a new one takes, too; with `narrower`, what the new one takes the old one."""
    if new.name != old.name or new.type.size != old.type.size or new.alias != old.alias:
        return False
    if new.kwarg_only and not old.kwarg_only:
        return False
    if narrower:
        same_default = (new.has_default, new.default) == (old.has_default, old.default)
        return same_default and _is_narrower(new.type, old.type)
    if old.has_default and (new.has_default, new.default) != (True, old.default):
        return False
    return _is_narrower(old.type, new.type)


def _parted(schema: Schema) -> tuple[Sequence[Argument], Sequence[Argument]]:
    """Return the arguments before the first that a result is written to, and the others."""
    arguments = schema.arguments
    first = next((place for place, one in enumerate(arguments) if one.is_write and one.kwarg_only), len(arguments))
    return arguments[:first], arguments[first:]


def _heads_agree(new: Schema, old: Schema) -> bool:
    return (new.name, new.overload, new.is_vararg, new.is_varret, len(new.returns)) == (
        old.name,
        old.overload,
        old.is_vararg,
        old.is_varret,
        len(old.returns),
    )


def is_backward_compatible(new: Schema, old: Schema) -> bool:
    """Return whether every call of `old` is a call of `new` whose results are those of `old`."""
    if not _heads_agree(new, old) or len(new.arguments) < len(old.arguments):
        return False
    if not all(_takes(mine, theirs, narrower=False) for mine, theirs in zip(old.returns, new.returns, strict=True)):
        return False
    (inputs, outs), (old_inputs, old_outs) = _parted(new), _parted(old)
    if len(inputs) < len(old_inputs) or len(outs) < len(old_outs):
        return False
    pairs = [*zip(inputs, old_inputs, strict=False), *zip(outs, old_outs, strict=False)]
    return all(_takes(one, other, narrower=False) for one, other in pairs) and all(
        one.has_default for one in inputs[len(old_inputs) :]
    )


def why_not_forward_compatible(new: Schema, old: Schema) -> str | None:
    """Return why a call of `new` whose new arguments are left out is none of `old`; None when it is one, an empty text where
    the names differ."""
    if not _heads_agree(new, old):
        return ""
    (inputs, outs), (old_inputs, old_outs) = _parted(new), _parted(old)
    if len(outs) != len(old_outs):
        return "Function schema should have the same number of out arguments"
    for one, other in zip(inputs, old_inputs, strict=False):
        if not _takes(one, other, narrower=True):
            return f"'{one.name}' is not forward compatible with the older version of the schema"
    for one in inputs[len(old_inputs) :]:
        kind = f"{_AS_INT.get(one.type.kind, one.type.kind)}{'[]' if one.type.is_list else ''}"
        start = f"Function schema is not forward compatible since the new argument '{one.name}' of type {kind}"
        if not one.has_default:
            return f"{start} did not provide a default value."
        if one.type.is_list and one.default is not None:
            return f"{start} has a container type as its default value."
    for one, other in zip_longest(outs, old_outs):
        if not _takes(one, other, narrower=True):
            return f"Out argument ''{one.name} is not FC with the older version of the schema"
    return None

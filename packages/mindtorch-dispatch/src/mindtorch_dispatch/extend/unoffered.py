"""Overloads of aten that the op table does not have.

Programs name operators in tables: those to keep when activations are recomputed, those of a backend. So each has an object
and a schema, from `unoffered.txt`. One that another overload of its operator computes, or a method of tensors, runs; a call
of another one raises what torch raises for an operator that a backend lacks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from functools import cache
from importlib.resources import files
from typing import Any

from ..interface.wiring import wired
from ..schema import Schema, parse_schema
from ..table import OpRow, Packet, RowKind, packets
from ..table.tags import built_in_tags
from .entries import split_name
from .registry import registry


@cache
def _texts() -> dict[str, dict[str, str]]:
    """The schemas by operator and overload."""
    found: dict[str, dict[str, str]] = {}
    for line in files("mindtorch_dispatch.extend").joinpath("unoffered.txt").read_text(encoding="utf-8").splitlines():
        packet, overload = split_name(line.partition("(")[0])
        found.setdefault(packet, {})[overload] = f"aten::{line}"
    return found


def unoffered_overloads(packet: str) -> list[str]:
    """Return the overloads of an operator that the table does not have; the unnamed one is an empty text."""
    return list(_texts().get(packet, ()))


def unoffered_operators() -> list[str]:
    """Return the operators of which the table lacks an overload, or all of them."""
    return list(_texts())


def unoffered_schema(packet: str, overload: str) -> Schema | None:
    """Return the schema of such an overload; None for one that torch has not either."""
    text = _texts().get(packet, {}).get(overload)
    return None if text is None else parse_schema(text, namespace="")


def declare_unoffered(name: str) -> Packet | None:
    """Declare an operator that the table does not have at all, and return it; None for one that torch has not either."""
    for overload in unoffered_overloads(name):
        schema = unoffered_schema(name, overload)
        assert schema is not None, "the file has it"
        entry = registry.declare(schema)
        assert entry.row is not None, "it was declared now"
        entry.tags = tuple(built_in_tags(schema))
        _compose(entry.row, _member(name, schema))
    return packets.get(name)


def row_of(packet: Packet, schema: Schema) -> OpRow:
    """Return a row for an overload of an operator that the table has; calls of the operator do not meet it."""
    if schema.out_arguments and schema.arguments:
        names = [argument.name for argument in schema.arguments if not argument.is_write]
        for row in packet.rows:
            if not row.out and [argument.name for argument in row.schema.arguments] == names:
                made = copy(row)
                made.__dict__.clear()
                made.out = True
                return made
    row = OpRow(f"{packet.name}.{schema.overload}()", None, kind=RowKind.FUNCTIONAL, variants=("function",))
    row.__dict__["schema"] = schema
    row.signature = str(schema)
    return _compose(row, None if schema.out_arguments else _by_packet(packet, schema))


def _compose(row: OpRow, composite: Callable[..., Any] | None) -> OpRow:
    if composite is not None:
        row.composite, row.kind = composite, RowKind.COMPOSITE
    return row


def _by_packet(packet: Packet, schema: Schema) -> Callable[..., Any]:
    """Return what calls the operator, which chooses among the overloads that the table has."""
    return lambda *values: _called(wired.call_form(packet, False), schema, values)


def _member(name: str, schema: Schema) -> Callable[..., Any] | None:
    """Return what calls the method of tensors, or reads the property; None where they have no such member."""
    arguments = schema.arguments
    member = getattr(wired.tensor_class, name, None)
    if member is None or not arguments or arguments[0].name != "self" or schema.out_arguments:
        return None
    if not callable(member):
        return lambda tensor: member.__get__(tensor)
    return lambda *values: _called(member, schema, values, without_none=True)


def _called(function: Callable[..., Any], schema: Schema, values: Sequence[Any], without_none: bool = False) -> Any:
    """Call a function with a value for each argument of a schema; a method's own defaults stand for None."""
    names = [argument.name for argument in schema.arguments if argument.kwarg_only]
    positional = len(schema.arguments) - len(names)
    given = [value for value in values[:positional] if not (without_none and value is None)]
    rest = dict(zip(names, values[positional:], strict=True))
    return function(*given, **{name: value for name, value in rest.items() if not (without_none and value is None)})

"""Binding of a call to an overload of its packet: which row, which values, from where in the call they came."""

from __future__ import annotations

from typing import Any

from ..table import OpRow, Packet
from . import ArgumentParser, Parsed
from .bound import Bound
from .overload import bind_overload as bind_schema


def parser_of(packet: Packet, method: bool) -> ArgumentParser:
    """Return the packet's parser for its function or method form, made once."""
    name = "method_parser" if method else "function_parser"
    parser = packet.__dict__.get(name)
    if parser is None or parser.rows_seen != len(packet.rows):
        overloads = [(row.schema, row.schema.as_out() if row.out else None) for row in packet.rows]
        parser = ArgumentParser(packet.name, overloads, is_method=method)
        parser.rows_seen = len(packet.rows)
        packet.__dict__[name] = parser
    return parser


def bind_packet(packet: Packet, method: bool, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Bound:
    """Return the call bound to the first overload that accepts it; TypeError with torch's text when none does."""
    parsed = parser_of(packet, method).parse(args, kwargs)
    return _bound(packet.rows[parsed.index], parsed, (*args, *kwargs.values()))


def bind_overload(row: OpRow, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Bound:
    """Return the call bound to one overload by its schema; torch's error when it does not fit."""
    out = kwargs.pop("out") if row.out and kwargs.get("out") is not None else None
    parsed = bind_schema(row.schema, args, kwargs)
    bound = _bound(row, parsed, (*args, *kwargs.values()))
    bound.overload = True
    if out is not None:
        bound.out, bound.out_source = out, len(bound.flat)
        bound.flat = (*bound.flat, out)
    return bound


def _bound(row: OpRow, parsed: Parsed, flat: tuple[Any, ...]) -> Bound:
    bound = Bound(row, parsed.values, parsed.sources, flat)
    bound.cacheable, bound.places = parsed.cacheable, parsed.places
    bound.out, bound.out_source = parsed.out, parsed.out_source
    bound.requires_grad = bool(parsed.extras.get("requires_grad", False))
    return bound

"""What torch calls the `out=` form of an overload, which is an overload of its own."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files

from ..schema import Schema
from .rows import OpRow, Packet


@cache
def _out_forms() -> dict[str, tuple[str, tuple[str, ...]] | None]:
    text = files("mindtorch_dispatch.table").joinpath("out_forms.toml").read_text(encoding="utf-8")
    found: dict[str, tuple[str, tuple[str, ...]] | None] = {}
    for name, form in tomllib.loads(text).items():
        overload, _, results = form.rstrip(")").partition("(")
        found[name] = (overload, tuple(results.split(", "))) if form else None
    return found


def out_rows(packet: Packet) -> list[OpRow]:
    """Return the rows of a packet whose `out=` form is an overload of its own."""
    return [row for row in packet.rows if row.out and _out_forms().get(row.name, ()) is not None]


def out_schema(row: OpRow) -> Schema:
    """Return the schema of a row's `out=` form, as torch names it."""
    overload, names = _out_forms().get(row.name) or (row.out if isinstance(row.out, str) else None, None)
    return row.schema.as_out(overload, names)

"""`torch._decomp`: ops as functions made of other ops. What is composed here is in the op table; this reads it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch_dispatch.table import packets

__all__ = [
    "core_aten_decompositions",
    "decomposition_table",
    "get_decompositions",
    "global_decomposition_table",
    "meta_table",
    "pre_autograd_decomposition_table",
    "register_decomposition",
    "remove_decompositions",
]

global_decomposition_table: dict[str, dict[Any, Callable[..., Any]]] = {
    "post_autograd": {},
    "pre_autograd": {},
    "meta": {},
}
decomposition_table = global_decomposition_table["post_autograd"]
pre_autograd_decomposition_table = global_decomposition_table["pre_autograd"]
meta_table = global_decomposition_table["meta"]


def _overloads(given: Any) -> Iterable[Any]:
    """The overloads that an overload, a packet, or nested sequences of both name."""
    if isinstance(given, Sequence):
        for one in given:
            yield from _overloads(one)
    elif hasattr(given, "overloads"):
        for name in given.overloads():
            yield getattr(given, name)
    else:
        yield given


def _fill() -> None:
    """Enter the op table's decompositions."""
    for packet in list(packets.values()):
        for row in packet.rows:
            if row.composite is None or row.schema.namespace != "aten":
                continue
            overload = getattr(getattr(torch.ops.aten, packet.name), row.overload or "default")
            decomposition_table.setdefault(overload, row.composite)


def register_decomposition(
    aten_op: Any, registry: dict[Any, Any] | None = None, *, type: str = "post_autograd", unsafe: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that enters a function as the decomposition of ops, in ``registry`` or the table ``type``.

    Raises:
        RuntimeError: an op has one already.
    """
    if type not in global_decomposition_table:
        raise AssertionError(f"type must be one of {set(global_decomposition_table)}, got {type}")
    table = global_decomposition_table[type] if registry is None else registry

    def enter(fn: Callable[..., Any]) -> Callable[..., Any]:
        for overload in _overloads(aten_op):
            if overload in table:
                raise RuntimeError(f"duplicate registrations for {overload}")
            table[overload] = fn
        return fn

    return enter


def get_decompositions(aten_ops: Sequence[Any], type: str = "post_autograd") -> dict[Any, Callable[..., Any]]:
    """Return the decompositions of ops, as far as there are some."""
    table = global_decomposition_table[type]
    return {overload: table[overload] for overload in _overloads(list(aten_ops)) if overload in table}


def remove_decompositions(decompositions: dict[Any, Callable[..., Any]], aten_ops: Sequence[Any]) -> None:
    """Take ops out of a table of decompositions."""
    for overload in _overloads(list(aten_ops)):
        decompositions.pop(overload, None)


def core_aten_decompositions() -> dict[Any, Callable[..., Any]]:
    """Return the decompositions of all ops that are not of the core set."""
    return {op: fn for op, fn in decomposition_table.items() if torch.Tag.core not in getattr(op, "tags", ())}


_fill()
adopt(globals())

"""`torch._decomp`: ops as functions made of other ops. What is composed here is in the op table; this reads it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import mindtorch as torch
from mindtorch._decomp.decompositions import DECOMPOSITIONS
from mindtorch._naming import adopt
from mindtorch_dispatch.arguments.overload import bind_overload
from mindtorch_dispatch.override.interception import has_own_kernel
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


def _composition(overload: Any) -> Callable[..., Any]:
    """Return the composition of an op as a function that knows the op's defaults."""

    def composed(*args: Any, **kwargs: Any) -> Any:
        return overload.row.composite(*bind_overload(overload.declared, args, kwargs).values)

    return composed


def _fill() -> None:
    """Enter the op table's decompositions, and those of operators with kernels."""
    for name, function in DECOMPOSITIONS:
        packet_name, _, overload_name = name.partition(".")
        overload = getattr(getattr(torch.ops.aten, packet_name), overload_name or "default")
        decomposition_table[overload] = function
    for packet in list(packets.values()):
        for row in packet.rows:
            if row.composite is None or row.schema.namespace != "aten":
                continue
            overload = getattr(getattr(torch.ops.aten, packet.name), row.overload or "default")
            decomposition_table.setdefault(overload, _composition(overload))


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
    written = {function for _, function in DECOMPOSITIONS}
    return {op: fn for op, fn in decomposition_table.items() if fn in written or not _is_core(op)}


def _is_core(op: Any) -> bool:
    """Return whether an op is of the core set, or has a kernel that torch's lowering leaves as it is."""
    if torch.Tag.core in getattr(op, "tags", ()):
        return True
    row = getattr(op, "row", None)
    return row is not None and has_own_kernel(row) and row.packet not in _TAKEN_APART


_TAKEN_APART = frozenset(
    "celu celu_ linspace logspace zero _unsafe_index _unsafe_index_put _unsafe_masked_index "
    "_unsafe_masked_index_put_accumulate _chunk_cat soft_margin_loss norm hann_window".split()
)


_fill()
adopt(globals())

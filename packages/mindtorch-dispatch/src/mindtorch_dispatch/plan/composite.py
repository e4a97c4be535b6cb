"""Calls that are made of others: the function over tensors that answers for a composed op."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..execute import executor
from ..interface.autograd import hooks
from ..override.interception import run_composing
from ..table import RowKind
from .call import Call
from .plan import Plan, plain_types
from .results import packing
from .targets import check_out_grad
from .writing import copy_into, copy_out


def compose(call: Call) -> None:
    """Let `call.composed` answer, what the row is made of or what stands in for it; in place and with `out=`, what it
    returns is written."""
    call.plan.run = _run(call)
    if call.intercepted:
        call.plan.eager, call.plan.run = call.plan.run, run_composing
    row, composed = call.row, call.composed
    assert composed is not None, row.name
    if row.kind is RowKind.INPLACE:
        alias = getattr(composed, "in_place", None)
        call.function = alias or (lambda self, *rest: copy_into(self, composed(self, *rest)))
        return
    returns = row.schema.returns
    single = not returns or (len(returns) == 1 and not returns[0].type.is_list)
    pack = None if single else packing(row, (), overload=call.bound.overload)
    call.function = composed if pack is None else packed(composed, pack)
    settle = getattr(composed, "settled", None)
    if settle is not None and call.bound.out is None and all(type(tensor) in plain_types for tensor in call.tensors):
        call.settled = None if call.mode.overriding else settle(call.bound.values)


def _run(call: Call) -> Callable[..., Any]:
    """Return the way to run a composition; with a derivative of its own its parts are not recorded."""
    tracked = call.mode.records and any(tensor._sig.requires_grad for tensor in call.tensors)
    call.opaque = tracked and call.row.kind is not RowKind.INPLACE and hooks.has_formula(call.row)
    if call.bound.out is not None:
        assert call.composed is not None, call.row.name
        return _into_out(call, call.composed)
    return executor.run_composite_opaque if call.opaque else executor.run_composite


def _into_out(call: Call, composed: Callable[..., Any]) -> Callable[..., Any]:
    row, source = call.row, call.bound.out_source
    assert source is not None, "out= was given"
    alias = getattr(composed, "into", None)
    if alias is not None:
        return lambda plan, flat: alias(flat[source], *executor.filled(plan, flat))
    check_out_grad(row, call.outs, call.tensors)
    listed = row.schema.returns[0].type.is_list
    pack = row.pack.for_out() if row.pack is not None and not call.bound.overload else None

    def into_out(plan: Plan, flat: tuple[Any, ...]) -> Any:
        written = copy_out(row, flat[source], composed(*executor.filled(plan, flat)))
        return None if listed else written if pack is None else pack(written)

    return into_out


def packed(function: Callable[..., Any], pack: Callable[..., Any]) -> Callable[..., Any]:
    """Return the composing function with its several results packed as the call's form wants them."""

    def one(*values: object) -> Any:
        return pack(function(*values))

    return one

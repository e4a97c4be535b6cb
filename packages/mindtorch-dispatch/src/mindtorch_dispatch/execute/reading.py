"""Calls over tensors whose bytes are shared with lazy clones (`mindtorch_storage.storage.copy_on_write`).

Such a tensor has no array, so a plan that meets one stops before anything is done. Where the plan writes it, its storage
takes bytes of its own. Where it only reads, the plan runs over stand-ins: tensors of the same geometry with an array that
cannot be written. Autograd is told of the tensors themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from typing import Any

from mindtorch_storage.tensor_base import TensorBase, make_tensor, shared_array, shares_bytes

from ..arguments.bound import tensor_leaves
from ..plan import Plan
from . import executor

_Targets = Callable[[Plan, tuple[Any, ...]], Iterable[Any]]


def _nothing(plan: Plan, flat: tuple[Any, ...]) -> Iterable[Any]:
    return ()


def _target(plan: Plan, flat: tuple[Any, ...]) -> Iterable[Any]:
    return (flat[plan.source],)


def _targets(plan: Plan, flat: tuple[Any, ...]) -> Iterable[Any]:
    return plan.source(flat)


def _listed(plan: Plan, flat: tuple[Any, ...]) -> Iterable[Any]:
    return tensor_leaves([flat[source] for source in plan.outputs])


_WRITTEN: dict[Any, _Targets] = {
    executor.run_kernel: _nothing,
    executor.run_kernel_outputs: _nothing,
    executor.run_dynamic: _nothing,
    executor.run_inplace: _target,
    executor.run_out: _targets,
    executor.run_dynamic_out: _targets,
    executor.run_inplace_outputs: _listed,
}
"""What each way to run a plan writes; what the others do is not known here."""


def run_reading(plan: Plan, flat: tuple[Any, ...]) -> Any:
    """Run a plan some of whose operands share their bytes; those that it writes stop sharing them."""
    written = _WRITTEN.get(plan.run)
    for tensor in tensor_leaves(flat) if written is None else written(plan, flat):
        if shares_bytes(tensor):
            tensor._pipe.flush()
    stand_ins: list[TensorBase] = []
    shown = tuple([_shown(value, stand_ins) for value in flat])
    if not stand_ins:
        return plan.run(plan, flat)
    return plan.run(_telling_of(flat, plan), shown)


def _shown(value: Any, stand_ins: list[TensorBase]) -> Any:
    """Return what stands for an argument; `stand_ins` gets the tensors that were made for it."""
    if isinstance(value, (list, tuple)) and any(shares_bytes(item) for item in value):
        return [_shown(item, stand_ins) for item in value]
    if not shares_bytes(value):
        return value
    stand_in = make_tensor(type(value), value._sig, shared_array(value), value._storage, value._offset, value._counter)
    stand_ins.append(stand_in)
    return stand_in


def _telling_of(flat: tuple[Any, ...], plan: Plan) -> Plan:
    """Return the plan with autograd's part, and the checks that come first, given `flat` in place of stand-ins."""
    told = copy(plan)
    before, record = plan.before, plan.record
    if before is not None and plan.run in (executor.run_inplace, executor.run_inplace_outputs):
        told.before = lambda shown: before(flat)
    if record is not None:
        told.record = lambda shown, *rest: record(flat, *rest)
    return told

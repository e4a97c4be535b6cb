"""Calls over tensors whose bytes are shared with lazy clones (`mindtorch_storage.storage.copy_on_write`), or that show the
negatives or the conjugates of what their storage holds (`torch._neg_view`, `torch.conj`).

Such a tensor has no array, so a plan that meets one stops before anything is done. Where the plan writes it, its storage
takes bytes of its own. Where it only reads, the plan runs over stand-ins: tensors of the same geometry with an array that
cannot be written. Autograd is told of the tensors themselves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from inspect import unwrap
from typing import Any

from mindtorch_storage.tensor_base import (
    MathBits,
    TensorBase,
    array_of_storage,
    has_math_bits,
    make_tensor,
    math_bits,
    shared_array,
    shares_bytes,
)

from ..arguments.bound import tensor_leaves
from ..interface.wiring import wired
from ..plan import Plan
from ..table import packets
from . import executor
from .arrays import assign

_Targets = Callable[[Plan, tuple[Any, ...]], Iterable[Any]]


def _nothing(plan: Plan, flat: tuple[Any, ...]) -> Iterable[Any]:
    return ()


def _target(plan: Plan, flat: tuple[Any, ...]) -> Iterable[Any]:
    return (flat[plan.source],)


def _targets(plan: Plan, flat: tuple[Any, ...]) -> Iterable[Any]:
    targets: Iterable[Any] = plan.source(flat)
    return targets


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
    """Run a plan some of whose operands have no arrays; those that it writes stop sharing their bytes."""
    known = _WRITTEN.get(unwrap(plan.run))
    written = tensor_leaves(flat) if known is None else list(known(plan, flat))
    for tensor in written:
        if shares_bytes(tensor):
            tensor._pipe.flush()
    turned = [tensor for tensor in written if has_math_bits(tensor)] if known is not None or plan.row.written else []
    stand_ins = _StandIns(turned)
    shown = tuple([stand_ins.of(value) for value in flat])
    if not stand_ins.originals:
        return plan.run(plan, flat)
    if turned and plan.record is not None:
        return _write_recorded(plan, flat)
    result = plan.run(_telling_of(flat, plan, stand_ins), shown)
    for tensor in turned:
        made = stand_ins.made[id(tensor)]
        assign(
            array_of_storage(tensor._materialized_storage(), tensor._sig.spec, tensor._offset),
            _shown(made, math_bits(tensor)),
        )
    return stand_ins.back(result)


def _write_recorded(plan: Plan, flat: tuple[Any, ...]) -> Any:
    """Run a recorded in-place plan on a copy of its target, and write that into what the target is a view of.

    Both steps are recorded; the target finds its new history as every view does whose base was written.
    """
    target: Any = flat[plan.source] if unwrap(plan.run) is executor.run_inplace else None
    if not has_math_bits(target):
        raise NotImplementedError(
            f"{plan.row.aten_name}: this operator does not write to a tensor with a math bit here where it is recorded for "
            "gradients: write to tensor.resolve_conj().resolve_neg()"
        )
    bits = math_bits(target)
    copied = _call("clone", target)
    if copied._sig.spec.stride != target._sig.spec.stride:
        spec = target._sig.spec
        span = sum((extent - 1) * step for extent, step in zip(spec.shape, spec.stride, strict=True)) + 1
        room = _call("new_zeros", target, [span])
        copied = _call("copy_", _call("as_strided", room, list(spec.shape), list(spec.stride)), copied)
    places = list(flat)
    places[plan.source] = copied
    plan.run(plan, tuple(places))
    shown = target
    for name in ["_conj"] * bits.conj + ["_neg_view"] * bits.neg:
        shown, copied = _call(name, shown), _call(name, copied)
    _call("copy_", shown, copied)
    return target


def _call(name: str, *args: Any) -> Any:
    return wired.call_form(packets[name], False)(*args)


class _StandIns:
    """Tensors with arrays in the place of those without: the bytes that are shared, or a copy of what is shown."""

    def __init__(self, turned: list[Any]) -> None:
        self.turned = turned
        self.originals: dict[int, TensorBase] = {}
        self.made: dict[int, TensorBase] = {}

    def of(self, value: Any) -> Any:
        """Return what stands for an argument."""
        if isinstance(value, (list, tuple)):
            items = [self.of(item) for item in value]
            return items if any(one is not other for one, other in zip(items, value, strict=True)) else value
        if not (shares_bytes(value) or has_math_bits(value)):
            return value
        if id(value) not in self.made:
            array = shared_array(value)
            made = make_tensor(type(value), value._sig, array, value._storage, value._offset, value._counter)
            if has_math_bits(value):
                made._array = _shown(made, math_bits(value))
                made._array.flags.writeable = any(value is one for one in self.turned)
            self.made[id(value)] = made
            self.originals[id(made)] = value
        return self.made[id(value)]

    def back(self, value: Any) -> Any:
        """Return a result with the tensors that were stood for."""
        if type(value) is tuple:
            return tuple([self.back(item) for item in value])
        return self.originals.get(id(value), value)


def _shown(tensor: TensorBase, bits: MathBits) -> Any:
    """Return as an array what a tensor with these bits shows of a tensor's elements, and the other way round."""
    plain = make_tensor(wired.tensor_class, tensor._sig.spec.plain, tensor._array, None, 0, [0])
    if bits.conj:
        plain = _call("conj_physical", plain)
    return _call("neg", plain)._array if bits.neg else plain._array


def _telling_of(flat: tuple[Any, ...], plan: Plan, stand_ins: _StandIns) -> Plan:
    """Return the plan with autograd's part, and the checks that come first, given `flat` in place of stand-ins."""
    told = copy(plan)
    before, record = plan.before, plan.record
    if before is not None and plan.run in (executor.run_inplace, executor.run_inplace_outputs):
        told.before = lambda shown: before(flat)
    if record is not None:
        told.record = lambda shown, *rest: record(flat, *map(stand_ins.back, rest))
    return told

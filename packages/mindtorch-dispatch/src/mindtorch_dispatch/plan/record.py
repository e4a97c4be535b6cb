"""The planner's last stage: what autograd records of a call, and the signatures of its results that follow from it."""

from __future__ import annotations

from typing import Any

from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.spec import Spec

from ..interface.autograd import PlanRequest, hooks
from ..meta.rule import View
from ..state import AUTOGRAD_MASK, fresh_signature
from ..table import COPIES, DYNAMIC
from .call import Call

_SUMS = frozenset("sum nansum prod cumsum cumprod".split())
"""Ops that make of numbers with a gradient, where they are told to, whole numbers, which have none."""


def attach_recorder(call: Call) -> None:
    """Have the plan record its calls where a gradient has to flow, and sign its results accordingly."""
    plan, row, bound = call.plan, call.row, call.bound
    view = row.meta is not None and row.meta.view
    written = call.function is None and row.kind.writes
    if hooks.recorder is not None and _needs_recorder(call):
        if row.packet in _SUMS:
            _check_asked_dtype(call)
        call.recorder = hooks.recorder(
            PlanRequest(row, bound.values, bound.sources, call.answer.specs, written and not view, call.mode)
        )
    if call.recorder is not None:
        plan.record = call.recorder.after_view if written and view else call.recorder.after
    if call.function is not None or bound.out is not None:
        if call.opaque and call.recorder is not None:
            plan.outputs = call.recorder.differentiable
        return
    if written:
        plan.before = None if call.recorder is None else call.recorder.before
    elif view:
        _sign_views(call)
    else:
        _sign_results(call)


def _needs_recorder(call: Call) -> bool:
    """Whether a gradient has to flow through the call itself, not through those that a function makes."""
    if call.function is not None or call.bound.out is not None:  # `out=` is refused where a gradient would have to flow
        return call.opaque
    mode = call.mode
    if not mode.records or mode.exclude & AUTOGRAD_MASK:
        return False
    return any(tensor._sig.requires_grad for tensor in call.tensors) and not _inference_alone(call)


def _inference_alone(call: Call) -> bool:
    """True when all operands are inference tensors: torch then passes autograd by. A number where a tensor could be counts
    as an ordinary tensor."""
    if not all(tensor._sig.inference for tensor in call.tensors) or COPIES in call.row.tags:
        return False
    return not any(
        argument.type.kind == "Tensor" and isinstance(value, (int, float, complex))
        for argument, value in zip(call.row.schema.arguments, call.bound.values, strict=True)
    )


def _check_asked_dtype(call: Call) -> None:
    """RuntimeError for a sum, of any layout, that is asked for in a dtype without gradients."""
    for argument, value in zip(call.row.schema.arguments, call.bound.values, strict=True):
        if argument.name == "dtype" and value is not None and not differentiable(value):
            raise RuntimeError(f"Autograd not support dtype: {value.scalar_name}")


def differentiable(dtype: Dtype) -> bool:
    """True for dtypes that can carry a gradient."""
    return dtype.is_floating_point or dtype.is_complex


def _sign_results(call: Call) -> None:
    plan, recorder, specs = call.plan, call.recorder, call.answer.specs
    outputs = [specs] if isinstance(specs, Spec) else list(specs)
    tracked = recorder is not None or call.bound.requires_grad
    chosen = recorder.differentiable if recorder is not None else None
    sigs = [
        None if spec is None
        else fresh_signature(spec, tracked and differentiable(spec.dtype) and (chosen is None or number in chosen))
        for number, spec in enumerate(outputs)
    ]  # fmt: skip
    if DYNAMIC in call.row.tags:
        plan.outputs = list(zip(outputs, sigs, strict=True))
        return
    plan.outputs = list(zip(sigs, plan.outputs, strict=True))
    if plan.pack is None and call.device.type != "meta":
        plan.sig, plan.alloc = plan.outputs[0]


def _sign_views(call: Call) -> None:
    plan, recorder = call.plan, call.recorder
    mode, views, base = call.mode, call.answer.specs, call.bound.values[0]._sig
    # A view that the schema does not own up to (`_unsafe_view`) is for autograd a tensor of its own.
    detached = "detach" in call.row.tags or call.row.schema.returns[0].alias is None
    # A view requires grad when its base does, also where nothing is recorded.
    tracked = recorder is not None or (base.requires_grad and not detached and not mode.records and not base.inference)

    def sig_of(view: View) -> Any:
        if tracked and differentiable(view.spec.dtype):
            return view.spec.tracked
        return view.spec.inference if base.inference else view.spec.plain

    single = isinstance(views, View)
    if single:
        plan.sig = sig_of(views)
    else:
        plan.outputs = [(sig_of(view), offset) for view, offset in zip(views, plan.outputs, strict=True)]
    recorded = "default" if single else "multi_output"
    plan.creation = "inference" if mode.inference else recorded if mode.grad else "no_grad"
    plan.follows = mode.records and not tracked and not base.inference and differentiable(base.spec.dtype)
    # Bytes seen as another dtype have no derivative: torch keeps no note of what they are a view of.
    if detached or call.row.name == "view.dtype" or base.inference or mode.exclude & AUTOGRAD_MASK:
        plan.creation, plan.follows = None, False

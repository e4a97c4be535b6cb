"""From a plan that runs a call to one that records it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..execute import executor
from ..keys import DispatchKey
from ..override.interception import run_composing, run_handled
from ..plan import Plan
from ..plan.call import Call
from ..state import PIPELINE_MASK, state
from ..table import OpRow, RowKind
from .boxed import record_boxed
from .record import record_inplace, record_kernel, record_outputs, record_view, record_views, run_settled

RECORDING: dict[Callable[..., Any], Callable[..., Any]] = {
    executor.run_kernel: record_kernel,
    executor.run_kernel_outputs: record_outputs,
    executor.run_inplace: record_inplace,
    executor.run_view: record_view,
    executor.run_views: record_views,
}
"""Ways to run that can wait, with their recording forms."""

AT_ONCE = frozenset(
    (executor.run_composite, executor.run_composite_opaque, executor.run_abstract, run_composing, run_handled)
)
"""Ways to run that need no waiting: composing functions and handlers in Python call ops that wait, and the meta device has
no bytes."""

ALIAS = Plan(OpRow("alias(Tensor self) -> Tensor", None, kind=RowKind.FUNCTIONAL), executor.run_view)
"""The plan of records that no call made: a tensor that the graph keeps over another one's bytes."""


def deferred(call: Call) -> Plan:
    """Return the call's plan, changed to record its calls under a pipeline, or to run what is recorded first where the call
    cannot wait."""
    plan, mode = call.plan, state.mode
    if call.registered is not None and DispatchKey.Pipeline in call.keys:
        plan = record_boxed(plan, call.bound, call.keys)
    if not mode.include & PIPELINE_MASK or plan.run in AT_ONCE:
        return plan
    passed_by = mode.exclude & PIPELINE_MASK or DispatchKey.Pipeline in call.row.__dict__.get("fallthrough", ())
    plan.eager = plan.run
    plan.run = run_settled if passed_by else RECORDING.get(plan.run, run_settled)
    return plan

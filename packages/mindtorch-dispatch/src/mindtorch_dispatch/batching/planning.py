"""The plan of a call that meets batched tensors: by the op's rule, by its parts, or by a loop over slices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_storage.tensor_base import TensorBase

from ..arguments.bound import Bound
from ..execute.executor import run_composite
from ..interface.autograd import hooks
from ..keys import DispatchKey
from ..meta.rule import Outputs
from ..plan import Plan
from ..plan.results import packing
from ..plan.routing import fill_plan
from ..state import state
from ..table import OpRow, RowKind, kernels
from .calls import functional, innermost, recorded, run, run_opaque, run_random
from .rules.table import RANDOM, find_rule, registered
from .wrapper import is_unbatchable, unbatchable

_VALUES_DECIDE = {"nonzero", "_unique2", "unique_dim", "unique_consecutive", "unique_dim_consecutive"}
"""Ops whose results' shapes depend on values, so that examples cannot be stacked."""


def plan_batched(bound: Bound, tensors: Sequence[TensorBase]) -> Plan | None:
    """Return the plan of a call under `vmap`, None where nothing of it is batched."""
    row = bound.row
    level = innermost(tensors)
    rule = find_rule(row)
    drawing = rule is not None and rule.kind == RANDOM
    boxed = row.__dict__.get("boxed", {})
    recorded = DispatchKey.Autograd in boxed and state.mode.records and any(t._sig.requires_grad for t in tensors)
    if (not level and not drawing) or recorded:  # what a program registered for Autograd stands above
        return None
    if DispatchKey.Batched in boxed:
        plan = Plan(row, run_composite)
        fill_plan(plan, bound, Outputs(None), None)
        plan.kernel = boxed[DispatchKey.Batched]
        return plan
    if row.packet == "equal":
        raise RuntimeError("Batching rule not implemented for aten::equal. We could not generate a fallback.")
    if row.packet == "allclose":
        raise RuntimeError(
            "vmap over torch.allclose isn't supported yet. Please file an issue at "
            "https://github.com/pytorch/pytorch/issues if you need this feature."
        )
    if row.packet in _VALUES_DECIDE or row.name == "where":
        raise unbatchable(
            "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over "
            f"aten::{row.packet}. Please file an issue at https://github.com/pytorch/pytorch/issues if you need this "
            "feature."
        )
    if bound.out is not None:
        raise RuntimeError(
            f"Batching rule not implemented for {_out_name(row)}; the fallback path doesn't work on out= or view ops."
        )
    plan = Plan(row, run_random if drawing else run)
    fill_plan(plan, bound, Outputs(None), None)
    plan.kernel = rule
    plan.outputs = {}  # recorders, by the specs of the results
    kept = rule is not None and not drawing and registered.get(row.name) is not rule
    plan.source = {} if kept else None  # what is known of each geometry
    returns = row.schema.returns
    single = not returns or (len(returns) == 1 and not returns[0].type.is_list)
    plan.pack = None if single else packing(row, (), overload=bound.overload)
    if rule is None and composed(row):
        has_formula = state.mode.records and hooks.has_formula(row) and any(t._sig.requires_grad for t in tensors)
        if has_formula and row.kind is not RowKind.INPLACE:
            plan.run = run_opaque
        else:  # the parts are batched, recorded and differentiated one by one
            plan.run = run_composite
            plan.kernel = _composition(plan, row)
    return plan


def composed(row: OpRow) -> bool:
    """True for an op that is computed by its parts."""
    if row.composite is None or row.__dict__.get("boxed"):
        return False
    return all((row.base or row).name not in table for table in kernels.values())


def _out_name(row: OpRow) -> str:
    if isinstance(row.out, str):
        return f"aten::{row.packet}.{row.out}"
    return f"aten::{row.packet}.{'out' if row.overload in ('', 'Tensor', 'default') else row.overload + '_out'}"


def _composition(plan: Plan, row: OpRow) -> Any:
    """Return the composing function; where it does what no batch can do, a loop over the slices."""
    compose: Any = row.composite
    pack = plan.pack
    inplace = row.kind is RowKind.INPLACE

    def call(*values: Any) -> Any:
        try:
            result = compose(*values)
        except RuntimeError as error:
            if inplace or not is_unbatchable(error) or not _loops(row) or recorded(values):
                raise
            # what composes is looped over for its values, not for what it may not do
            result = functional(plan, row, None, list(values), innermost(values))
        if inplace:
            values[0].copy_(result)
            return values[0]
        return result if pack is None else pack(result)

    return call


def _loops(row: OpRow) -> bool:
    """True for a composed op that may be computed slice by slice: one whose results are fresh tensors."""
    returns = row.schema.returns
    return bool(returns) and not row.written and all(one.alias is None and "Tensor" in one.type.kind for one in returns)

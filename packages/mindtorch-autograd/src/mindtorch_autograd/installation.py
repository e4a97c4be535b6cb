"""The answers of this package to the call path: which recorder a plan gets, which composed ops are one node."""

from __future__ import annotations

from mindtorch_dispatch.errors import not_differentiable
from mindtorch_dispatch.interface.autograd import NativeParts, PlanRequest, hooks
from mindtorch_dispatch.interface.wiring import wired
from mindtorch_dispatch.table import OpRow
from mindtorch_dispatch.typing import Tensor
from mindtorch_storage.spec import Spec
from mindtorch_storage.tensor_base import TensorBase

from . import anomaly
from .accumulate import add, add_in_place
from .derivative import find_derivative
from .engine import GraphTask
from .forward_mode import plan_forward
from .inplace import check_inplace
from .missing import MissingRecorder
from .mutation import plan_watched
from .node import AccumulateGrad, OpNode, sequence
from .recorder import NOWHERE, Recorder, output_specs
from .recording import PlannedFormula, Save, SaveKind
from .reduction import fit
from .save_layout import requires
from .saved import SavedResult, unpack
from .views import gradient_edge

WITHOUT_HISTORY = frozenset("logical_and_ logical_not_ logical_or_ logical_xor_".split())
"""Ops that torch lets write in place, a leaf too, as if no gradient were asked for: what made the tensor stays its history."""


IGNORING = frozenset("native_dropout_backward sparse_mask npu::_npu_attention npu::npu_dropout_backward".split())
"""Ops whose operands without a formula may require grad."""


def differentiable_dtype(spec: Spec) -> bool:
    """True for specs whose dtype can carry a gradient."""
    return spec.dtype.is_floating_point or spec.dtype.is_complex


def make_recorder(wanted: PlanRequest) -> Recorder | MissingRecorder | None:
    """Return the recorder of a plan, None when its outputs carry no gradient."""
    entry = find_derivative(wanted.row)
    outputs = output_specs(wanted)
    specs = [spec for spec in outputs if spec is not None]
    if entry is None:
        if wanted.row.packet in WITHOUT_HISTORY:
            return None
        return MissingRecorder(wanted) if any(differentiable_dtype(spec) for spec in specs) else None
    if entry.non_differentiable or (specs and not any(differentiable_dtype(spec) for spec in specs)):
        return None
    found = False
    for argument, value in zip(wanted.row.schema.arguments, wanted.values, strict=True):
        if not requires(value):
            continue
        if argument.name in entry.active:
            found = True
        elif isinstance(value, TensorBase) and wanted.row.packet not in IGNORING:
            raise not_differentiable(wanted.row.packet, argument.name)
    return Recorder(wanted, entry, outputs) if found else None


def has_formula(row: OpRow) -> bool:
    """True when the op has a derivative row, so that a composing function is not differentiated through."""
    entry = find_derivative(row)
    return entry is not None and not entry.non_differentiable


def has_no_gradient(row: OpRow) -> bool:
    """True when the derivative row says that the op's results never carry a gradient."""
    entry = find_derivative(row)
    return entry is not None and entry.non_differentiable


def refuse_write(row: OpRow, target: TensorBase) -> None:
    """Raise torch's error where the op must not write the tensor in place: a leaf that requires grad, or a view of one."""
    if row.packet not in WITHOUT_HISTORY and not has_no_gradient(row) and "detach" not in row.tags:
        check_inplace(target)


def maker(tensor: Tensor) -> str:
    """Return the op that computed a recorded tensor; views of what it computed do not count."""
    node = tensor._grad_fn
    while isinstance(node, OpNode) and node._recorder.row.meta is not None and node._recorder.row.meta.view:
        node = node.next_functions[0][0]
    return node._recorder.row.packet if isinstance(node, OpNode) else ""


def install() -> None:
    """Put this autograd into the call path."""
    hooks.install(make_recorder, has_formula, has_no_gradient, plan_forward, plan_watched)
    hooks.maker = maker
    hooks.refuse_write = refuse_write
    parts = NativeParts(
        recorder=Recorder,
        node=OpNode,
        leaf=AccumulateGrad,
        task=GraphTask,
        result=SavedResult,
        save=Save,
        formula=PlannedFormula,
        save_kinds=SaveKind,
        sequence=sequence,
        anomaly=anomaly._settings,
        gradient_edge=gradient_edge,
        nowhere=NOWHERE,
        add=add,
        add_in_place=add_in_place,
        fit=fit,
        unpack=unpack,
    )
    hooks.parts.give(parts)
    wired.next_sequence = lambda: int(repr(sequence)[6:-1])  # "count(12)": all that shows a counter without counting

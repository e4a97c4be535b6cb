"""Planning of calls that write into a tensor they are given: in-place forms and `out=`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from mindtorch_storage.device import device as Device
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.promotion import can_cast
from mindtorch_storage.spec import Spec
from mindtorch_storage.strides import has_internal_overlap, is_non_overlapping_and_dense
from mindtorch_storage.tensor_base import TensorBase

from ..execute import arrays, executor
from ..interface.autograd import PlanRequest, hooks
from ..meta.checks import c_type, check, shape_text
from ..meta.rule import Outputs
from ..state import state
from ..table import DYNAMIC, Kernel
from . import routing
from .overlap import refusing_overlap
from .plan import Plan

_FILLS = frozenset(("fill_.Scalar", "zero_", "masked_fill_.Scalar"))
"""Ops that write one value everywhere, so that elements may share memory."""


def check_writable(spec: Spec) -> None:
    """Raise torch's error for a written-to tensor whose elements overlap in memory."""
    if has_internal_overlap(spec.shape, spec.stride):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
            "Please clone() the tensor before performing the operation."
        )


def check_inference(target: TensorBase) -> None:
    """Raise torch's error when a tensor made in inference mode is written outside of it."""
    if target._sig.inference and not state.mode.inference:
        raise RuntimeError(
            "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal "
            "tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details."
        )


def check_result_type(result: Dtype, target: Dtype) -> None:
    """Raise torch's error when a result of dtype `result` must not be written to a tensor of dtype `target`."""
    if not can_cast(result, target):
        raise RuntimeError(
            f"result type {result.scalar_name} can't be cast to the desired output type {target.scalar_name}"
        )


def through_temporary(fn: Callable[..., None], spec: Spec) -> Callable[..., None]:
    """Return a kernel that computes into a fresh array of `spec` and then writes it to `out`, converting."""

    def computed(out: Any, *values: Any) -> None:
        array = np.empty(out.shape, spec.np_dtype)
        fn(array, *values)
        np.copyto(out, array, casting="unsafe")

    return computed


def _check_same(result: Spec, spec: Spec) -> None:
    """Raise torch's error where the result of an op that broadcasts and converts nothing does not fit its target."""
    check(
        result.shape == spec.shape,
        lambda: (
            f"Bad in-place call: input tensor size {shape_text(spec.shape)} and output tensor size "
            f"{shape_text(result.shape)} should match"
        ),
    )
    check(
        result.dtype is spec.dtype,
        lambda: (
            f"Bad in-place call: input tensor dtype {c_type(spec.dtype)} and output tensor dtype "
            f"{c_type(result.dtype)} should match"
        ),
    )


def plan_inplace(
    bound: Any, answer: Outputs, device: Device, kernel: Kernel | None, wanted: PlanRequest | None
) -> Plan:
    """Return the plan of an in-place form or of an op that writes its first argument."""
    row = bound.row
    plan = Plan(row, executor.run_inplace)
    plan.source = bound.sources[0]
    target = bound.values[0]
    if kernel is None and device.type != "meta":
        raise routing.missing_kernel(row, device, getattr(target, "dtype", None))
    routing.fill_plan(plan, bound, answer, kernel)
    recorder = hooks.recorder(wanted) if wanted is not None else None
    if recorder is not None:
        plan.before, plan.record = recorder.before, recorder.after
    if isinstance(target, TensorBase):
        if recorder is not None:
            recorder.check(target)
        check_inference(target)
        if row.meta.aliases_ok and not row.meta.overlap_ok:
            plan.before = refusing_overlap(plan)
    else:
        plan.run = executor.run_inplace_outputs
        plan.kernel = kernel.fn if kernel is not None and device.type != "meta" else _nothing
        plan.outputs = [bound.sources[i] for i, argument in enumerate(row.schema.arguments) if argument.is_write]
        source = plan.source
        plan.pack = (lambda flat: flat[source]) if row.schema.returns else (lambda flat: None)
        return plan
    spec = target._sig.spec
    if row.name not in _FILLS:
        check_writable(spec)
    if row.kind == "inplace":
        result = answer.specs
        if row.meta.exact:
            _check_same(result, spec)
        check(
            result.shape == spec.shape,
            lambda: (
                f"output with shape {shape_text(spec.shape)} doesn't match the broadcast shape "
                f"{shape_text(result.shape)}"
            ),
        )
        check_result_type(result.dtype, spec.dtype)
    if device.type == "meta":
        return plan
    if row.kind == "inplace" and not (result.dtype is spec.dtype and (kernel.aliases_ok or row.meta.aliases_ok)):
        plan.kernel = through_temporary(routing.rounding(kernel, [result]), result)
    else:
        plan.kernel = routing.rounding(kernel, [spec])
    return plan


def _nothing(out: Any, *values: Any) -> None:
    """The kernel of a device without bytes."""


RESIZE_WARNING = (
    "An output with one or more elements was resized since it had shape {had}, which does not match the required "
    "output shape {need}. This behavior is deprecated, and in a future PyTorch release outputs will not be resized "
    "unless they have zero elements. You can explicitly reuse an out tensor t by resizing it, inplace, to zero "
    "elements with t.resize_(0)."
)


def prepare_target(target: TensorBase, spec: Spec) -> None:
    """Give an `out=` tensor the shape of the result, warning as torch does when that discards elements."""
    had = target._sig.spec
    if had.shape == spec.shape:
        return
    if had.numel != 0:
        warnings.warn(
            RESIZE_WARNING.format(had=shape_text(had.shape), need=shape_text(spec.shape)), UserWarning, stacklevel=5
        )
    wanted = Spec.of(had.dtype, had.device, spec.shape, spec.stride)
    storage = target._materialized_storage()
    needed = target._offset * had.itemsize + wanted.nbytes
    if storage.nbytes() < needed:
        storage.resize_(needed)
    executor.rebind_geometry(target, wanted, storage, target._offset)


def adopt_options(bound: Any) -> None:
    """Make a factory's dtype and device those of its `out=` tensor; torch's error where another dtype is given.

    Rules that adopt only do so where no dtype is given; their in-place forms keep the dtype too.
    """
    names = [argument.name for argument in bound.row.schema.arguments]
    target = bound.values[0] if bound.row.kind == "inplace" else bound.out
    if not isinstance(target, TensorBase):
        return
    spec = target._sig.spec
    if getattr(bound.row.meta, "adopts", False):
        place = names.index("dtype")
        bound.values[place] = bound.values[place] or spec.dtype
        return
    if "pin_memory" not in names:
        return
    place = names.index("dtype")
    given = bound.values[place]
    check(
        bound.sources[place] is None or given is None or given is spec.dtype,
        lambda: f"dtype {given.scalar_name} does not match dtype of out parameter ({spec.dtype.scalar_name})",
    )
    bound.values[place] = spec.dtype
    bound.values[names.index("device")] = spec.device


def check_out_grad(row: Any, targets: Sequence[TensorBase], tensors: Sequence[TensorBase]) -> None:
    """Raise torch's error when `out=` is used where a gradient would be recorded."""
    if state.mode.records and any(tensor._sig.requires_grad for tensor in (*tensors, *targets)):
        raise RuntimeError(
            f"{row.packet}(): functions with out=... arguments don't support automatic differentiation, "
            f"but one of the arguments requires grad."
        )


def _dtype_mismatch(spec: Spec, target: Dtype) -> str:
    return f"Expected out tensor to have dtype {c_type(spec.dtype)}, but got {c_type(target)} instead"


def plan_out(bound: Any, answer: Outputs, device: Device, kernel: Kernel | None) -> Plan:
    """Return the plan of a call with `out=`."""
    row, out = bound.row, bound.out
    plan = Plan(row, executor.run_out)
    targets = [out] if isinstance(out, TensorBase) else list(out)
    check_out_grad(row, targets, routing.tensor_leaves(bound.values))
    specs = [answer.specs] if isinstance(answer.specs, Spec) else list(answer.specs)
    for target, spec in zip(targets, specs, strict=True):
        check_inference(target)
        check(
            target.device == spec.device,
            lambda target=target, spec=spec: (
                f"Expected all tensors to be on the same device, but found at least two "
                f"devices, {spec.device} and {target.device}!"
            ),
        )
        if row.meta.exact:
            text = row.meta.exact if callable(row.meta.exact) else _dtype_mismatch
            check(spec.dtype is target.dtype, lambda target=target, spec=spec, text=text: text(spec, target.dtype))
        check_result_type(spec.dtype, target.dtype)
        # Where torch refuses operands that share memory with the result, it looks before it resizes.
        if row.meta.no_overlap or target._sig.spec.shape == spec.shape:
            check_writable(target._sig.spec)
    source, single = bound.out_source, isinstance(out, TensorBase)
    plan.source = (lambda flat: (flat[source],)) if single else (lambda flat: tuple(flat[source]))
    plan.pack = None if isinstance(answer.specs, Spec) else routing.packing(row, answer.specs, out=True)
    routing.fill_plan(plan, bound, answer, kernel)

    def before(targets: Sequence[TensorBase]) -> None:
        for target, spec in zip(targets, specs, strict=True):
            prepare_target(target, spec)

    plan.before = before
    if device.type == "meta":
        return plan
    if kernel is None:
        raise routing.missing_kernel(row, device, specs[0].dtype)
    if DYNAMIC in row.tags:
        plan.run, plan.kernel = executor.run_dynamic_out, kernel.fn
        plan.before = _prepare_dynamic_apart if row.meta.no_overlap else _prepare_dynamic
        return plan
    fn = routing.rounding(kernel, specs)
    if len(specs) == 1 and plan.pack is None:
        if targets[0].dtype is not specs[0].dtype:
            plan.kernel = through_temporary(fn, specs[0])
        else:
            plan.kernel = fn if kernel.aliases_ok or row.meta.aliases_ok else _apart(fn, specs[0])
        if row.meta.no_overlap:
            plan.kernel = _refusing_overlap(plan.kernel)
    else:
        plan.kernel = _each_through_temporary(fn, specs, row.meta.apart)
    return plan


def _prepare_dynamic(target: TensorBase, spec: Spec, values: tuple[Any, ...]) -> None:
    prepare_target(target, spec)
    if spec.numel:
        check_writable(target._sig.spec)


def _prepare_dynamic_apart(target: TensorBase, spec: Spec, values: tuple[Any, ...]) -> None:
    _refuse_overlap(target._array, values)
    _prepare_dynamic(target, spec, values)


def _arrays(values: tuple[Any, ...]) -> Iterator[Any]:
    for value in values:
        for item in value if type(value) is list else (value,):
            if type(item) is np.ndarray:
                yield item


def _dense(array: Any) -> bool:
    return array.flags.c_contiguous or is_non_overlapping_and_dense(
        array.shape, [step // array.itemsize for step in array.strides]
    )


def _refusing_overlap(fn: Callable[..., None]) -> Callable[..., None]:
    def computed(out: Any, *values: Any) -> None:
        _refuse_overlap(out, values)
        fn(out, *values)

    return computed


def _refuse_overlap(out: Any, values: tuple[Any, ...]) -> None:
    for item in _arrays(values):
        if out.size and item.size and np.may_share_memory(out, item) and _dense(out) and _dense(item):
            raise RuntimeError(
                "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single "
                "memory location. Please clone() the tensor before performing the operation."
            )


def _shares(out: Any, values: Sequence[Any]) -> bool:
    """True when `out` may overlap an operand in memory."""
    return any(arrays.shares(out, item) for value in values for item in (value if type(value) is list else (value,)))


def _apart(fn: Callable[..., None], spec: Spec) -> Callable[..., None]:
    """Return `fn` computing into a temporary where `out` is, or may be, one of its operands: each call looks anew."""
    apart = through_temporary(fn, spec)

    def computed(out: Any, *values: Any) -> None:
        (apart if _shares(out, values) else fn)(out, *values)

    return computed


OVERLAP = (
    "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
    "location. Please clone() the tensor before performing the operation."
)


def _each_through_temporary(fn: Callable[..., None], specs: Sequence[Spec], apart: bool) -> Callable[..., None]:
    def computed(outs: tuple[Any, ...], *values: Any) -> None:
        check(not apart or not any(_shares(out, values) for out in outs), lambda: OVERLAP)
        made = tuple(arrays.empty(spec) for spec in specs)
        fn(made, *values)
        for out, array in zip(outs, made, strict=True):
            arrays.copy(out, array)

    return computed

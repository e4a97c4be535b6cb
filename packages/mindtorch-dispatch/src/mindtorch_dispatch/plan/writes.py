"""Kernels that write what the call gives them, in place or as `out=`: through a temporary where they must."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindtorch_storage.spec import Spec
from mindtorch_storage.tensor_base import TensorBase

from ..execute import arrays, executor
from ..table import DYNAMIC, RowKind
from .call import Call
from .results import rounding
from .targets import check_writable, prepare_target


def route_written(call: Call) -> None:
    """Have the results written into the tensors that the call gives."""
    if call.bound.out is not None:
        _route_out(call)
    elif isinstance(call.bound.values[0], TensorBase):
        _route_inplace(call)
    else:
        _route_lists(call)


def _route_inplace(call: Call) -> None:
    row, plan = call.row, call.plan
    plan.run, plan.source = executor.run_inplace, call.bound.first_source
    if call.device.type == "meta":
        return
    kernel = call.required_kernel
    result, spec = call.answer.specs, call.bound.values[0]._sig.spec
    if row.kind is RowKind.INPLACE and not (result.dtype is spec.dtype and (kernel.aliases_ok or row.meta.aliases_ok)):
        plan.kernel = through_temporary(rounding(kernel, [result]), result)
    else:
        plan.kernel = rounding(kernel, [spec])


def _route_lists(call: Call) -> None:
    """What writes its arguments, the first of which is a list."""
    row, bound, plan = call.row, call.bound, call.plan
    plan.run, plan.source = executor.run_inplace_outputs, bound.sources[0]
    source = plan.source
    plan.kernel = call.kernel.fn if call.kernel is not None and call.device.type != "meta" else _nothing
    plan.outputs = [bound.sources[i] for i, argument in enumerate(row.schema.arguments) if argument.is_write]
    plan.pack = (lambda flat: flat[source]) if row.schema.returns else (lambda flat: None)


def _nothing(out: object, *values: object) -> None:
    """The kernel of a device without bytes."""


def _route_out(call: Call) -> None:
    """Have the results written into the tensors given as `out=`."""
    row, kernel, plan = call.row, call.kernel, call.plan
    out, source, specs = call.bound.out, call.bound.out_source, call.answer.specs
    specs = [specs] if isinstance(specs, Spec) else list(specs)
    plan.run = executor.run_out
    plan.source = (lambda flat: (flat[source],)) if isinstance(out, TensorBase) else (lambda flat: tuple(flat[source]))

    def before(targets: Sequence[TensorBase]) -> None:
        for target, spec in zip(targets, specs, strict=True):
            prepare_target(target, spec, row.packet)

    plan.before = before
    if call.device.type == "meta":
        return
    if DYNAMIC in row.tags:
        plan.run, plan.kernel, plan.before = executor.run_dynamic_out, call.required_kernel.fn, _prepare_dynamic
        return
    kernel = call.required_kernel
    fn = rounding(kernel, specs)
    if row.meta.counted and specs[0].ndim != 1:
        fn = _in_line(fn)
    if len(specs) > 1 or plan.pack is not None:
        plan.kernel = _each_through_temporary(fn, specs)
        return
    only = out if isinstance(out, TensorBase) else out[0]
    if only.dtype is not specs[0].dtype:
        plan.kernel = through_temporary(fn, specs[0])
    else:
        plan.kernel = fn if kernel.aliases_ok or row.meta.aliases_ok else _apart(fn, specs[0])


def _in_line(fn: Callable[..., None]) -> Callable[..., None]:
    """Return a kernel that fills an array of any shape in its order, of one that fills vectors."""

    def computed(out: Any, *values: object) -> None:
        line = np.empty(out.size, out.dtype)
        fn(line, *values)
        out[...] = line.reshape(out.shape)

    return computed


def through_temporary(fn: Callable[..., None], spec: Spec) -> Callable[..., None]:
    """Return a kernel that computes into a fresh array of `spec` and then writes it to `out`, converting."""

    def computed(out: np.ndarray[Any, Any], *values: object) -> None:
        if type(out) is np.ndarray:
            array = np.empty(out.shape, spec.np_dtype)
            fn(array, *values)
            arrays.assign(out, array)
            return
        made = arrays.empty(spec)
        fn(made, *values)
        arrays.copy(out, made)

    return computed


def _prepare_dynamic(target: TensorBase, spec: Spec, values: tuple[Any, ...]) -> None:
    prepare_target(target, spec)
    if spec.numel:
        check_writable(target._sig.spec)


def _shares(out: np.ndarray[Any, Any], values: Sequence[Any]) -> bool:
    """True when `out` may overlap an operand in memory."""
    return any(arrays.shares(out, item) for value in values for item in (value if type(value) is list else (value,)))


def _apart(fn: Callable[..., None], spec: Spec) -> Callable[..., None]:
    """Return `fn` computing into a temporary where `out` is, or may be, one of its operands: each call looks anew."""
    apart = through_temporary(fn, spec)

    def computed(out: np.ndarray[Any, Any], *values: object) -> None:
        (apart if _shares(out, values) else fn)(out, *values)

    return computed


def _each_through_temporary(fn: Callable[..., None], specs: Sequence[Spec]) -> Callable[..., None]:
    def computed(outs: tuple[Any, ...], *values: object) -> None:
        made = tuple(arrays.empty(spec) for spec in specs)
        fn(made, *values)
        for out, array in zip(outs, made, strict=True):
            arrays.copy(out, array)

    return computed

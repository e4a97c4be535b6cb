"""The planner's fourth stage: routing of a call's values to a kernel's operands, and of its results to the caller."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindtorch_storage.deferred import MOST_DIMENSIONS
from mindtorch_storage.dtype import bfloat16, float16
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.spec import Spec
from mindtorch_storage.tensor_base import TensorBase

from ..arguments.bound import Bound
from ..deprecations import warn_of_lost_part
from ..errors import missing_kernel
from ..execute import executor
from ..execute.errstate import SILENT, enter, leave
from ..execute.many_dimensions import run_in_a_row
from ..meta.rule import Outputs, View
from ..table import DYNAMIC, Kernel, OpRow, RowKind
from .call import Call
from .integers import readers_of
from .overlap import refuse_overlapping_out
from .plan import Plan
from .results import WIDER, allocator, packing, rounding
from .writes import route_written


def route_values(call: Call) -> None:
    """Say where every operand of the plan comes from and every result goes."""
    row, bound, plan = call.row, call.bound, call.plan
    views = call.function is None and row.meta.view and bound.out is None
    if call.function is None and not views:
        _require_kernel(call)
    fill_plan(plan, bound, call.answer, call.kernel if not views else None)
    if call.function is None and not row.kind.writes:
        out = bound.out is not None
        plan.pack = packing(row, call.answer.specs, out=out, overload=bound.overload and not out)
    if call.function is not None:
        plan.kernel = call.function
        if call.settled is not None:
            plan.kernel, plan.values = call.settled
            plan.tensors, plan.scalars, plan.lists = [(0, bound.first_source)], [], []
    elif views:
        _route_views(call)
    elif bound.out is None and not row.kind.writes:
        _route_functional(call)
    else:
        route_written(call)
    if bound.out is not None:
        refuse_overlapping_out(call)


def _require_kernel(call: Call) -> None:
    """Raise NotImplementedError where the device has no kernel; on the meta device only shapes that bytes decide need one."""
    row, specs = call.row, call.answer.specs
    if call.kernel is not None or (
        call.device.type == "meta" and (DYNAMIC not in row.tags or call.bound.out is not None)
    ):
        return
    if row.kind.writes:
        first = call.bound.values[0]
    else:
        first = specs if isinstance(specs, Spec) else next(iter(specs), None)
    raise missing_kernel(row, call.device, getattr(first, "dtype", None))


def _route_functional(call: Call) -> None:
    plan, specs = call.plan, call.answer.specs
    outputs = [specs] if isinstance(specs, Spec) else list(specs)
    if DYNAMIC in call.row.tags:
        plan.run, plan.kernel, plan.outputs = executor.run_dynamic, call.required_kernel.fn, outputs
        plan.pack = plan.pack or tuple
        return
    in_a_row = (
        plan.pack is None and not call.tensors and call.device.type == "cpu" and outputs[0].ndim > MOST_DIMENSIONS
    )
    if in_a_row and outputs[0].is_contiguous:
        plan.run, plan.kernel, plan.outputs = run_in_a_row, call.required_kernel.fn, [np.empty]
        return
    plan.outputs = [None if spec is None else allocator(spec, plan.row.name) for spec in outputs]
    if call.device.type == "meta":
        plan.run = executor.run_abstract
        return
    plan.run = executor.run_kernel if plan.pack is None else executor.run_kernel_outputs
    plan.kernel = rounding(call.required_kernel, outputs)
    if plan.pack is None:
        plan.spec, plan.shape, plan.np_dtype = outputs[0], tuple(outputs[0].shape), outputs[0].np_dtype


def _route_views(call: Call) -> None:
    plan, views = call.plan, call.answer.specs
    plan.source = call.bound.first_source
    if call.row.kind is RowKind.MUTATING:
        plan.run, plan.spec, plan.offset = executor.run_inplace_view, views.spec, views.offset
    elif isinstance(views, View):
        plan.run, plan.offset = executor.run_view, views.offset
    else:
        plan.run = executor.run_views
        plan.outputs = [view.offset for view in views]


def fill_plan(plan: Plan, bound: Bound, answer: Outputs, kernel: Kernel | None) -> None:
    """Set the operand routing: constants, tensor and scalar sources, casts."""
    given = answer.values if answer.values is not None else bound.values
    values: list[Any] = list(given)
    tensors: list[tuple[int, Any]] = []
    scalars: list[tuple[int, Any]] = []
    lists: list[tuple[int, Any]] = []
    casts: list[tuple[int, Any]] = []
    arguments = bound.row.schema.arguments
    for index, value in enumerate(bound.values):
        source = bound.sources[index]
        if isinstance(value, TensorBase):
            tensors.append((index, source))
            if index < len(values) and values[index] is value:
                values[index] = None  # plans outlive calls and must not keep their tensors
            spec = value._sig.spec
            half = _rounds_to(answer.cast, index, spec) if index < len(arguments) else None
            if half is not None and (spec.numel != 1 or arguments[index].name not in bound.row.keeps):
                casts.append((index, half.np))
                spec = spec.with_(dtype=half)
            elif half is not None:
                casts.append((index, WIDER[half].np))
                continue
            cast = _cast_of(answer.cast, index, spec.dtype, kernel)
            if cast is not None:
                casts.append((index, cast))
                if spec.dtype.is_complex and cast.kind in "fiu":
                    warn_of_lost_part()
        elif isinstance(value, (list, tuple)) and any(isinstance(item, TensorBase) for item in value):
            lists.append((index, source))
            if index < len(values) and values[index] is value:
                values[index] = None
            for item in value:
                cast = _cast_of(answer.cast, index, item._sig.spec.dtype, kernel) if item is not None else None
                if cast is not None:
                    casts.append((index, cast))
                    break
        elif (
            source is not None
            and index < len(values)
            and values[index] is value
            and _varies(arguments[index], value, bound.row)
        ):
            scalars.append((index, source))
    plan.values, plan.tensors, plan.scalars, plan.lists = values, tensors, scalars, lists
    whole: Any = answer.cast
    wrapped = whole if isinstance(whole, Dtype) else None
    rounded = [index for index, _ in scalars if wrapped in _HALVES and arguments[index].name in bound.row.rounds]
    plan.casts = bool(casts or rounded)
    plan.wraps = wrapped is not None and wrapped.np.kind in "iu" and bool(scalars)
    ints = [index for index, value in enumerate(values) if type(value) is int and _is_operand(arguments, index)]
    plan.prepare = _preparation(scalars, lists, casts, wrapped, ints, values, rounded, arguments)


def varying(bound: Bound) -> list[int]:
    """Return the indices of values that are no tensors and that every call may give a kernel anew."""
    arguments = bound.row.schema.arguments
    return [
        index
        for index, (value, source) in enumerate(zip(bound.values, bound.sources, strict=True))
        if source is not None
        and not isinstance(value, (TensorBase, list, tuple))
        and _varies(arguments[index], value, bound.row)
    ]


def _is_operand(arguments: Sequence[Any], index: int) -> bool:
    """False for dimensions, sizes and the like, which a cast of the operands leaves as they are."""
    return index >= len(arguments) or arguments[index].type.kind not in ("int", "SymInt")


def _varies(argument: Any, value: object, row: OpRow) -> bool:
    if row.static is True or argument.name in row.static:
        return False
    if argument.type.kind == "Generator":
        return True
    return isinstance(value, (int, float, complex)) and (
        argument.type.kind in ("Scalar", "float", "Tensor") or row.key is not None or argument.name in row.moves
    )


def _rounds_to(cast: Any, index: int, spec: Spec) -> Dtype | None:
    """Return the half that a call computes in where this tensor is of another dtype, whose numbers the half may not hold."""
    wanted: Dtype | None = cast.get(index) if isinstance(cast, dict) else cast
    if wanted not in _HALVES or spec.dtype is wanted or (spec.numel != 1 and spec.dtype.itemsize == 1):
        return None
    return wanted


def _cast_of(cast: Any, index: int, dtype: Dtype, kernel: Kernel | None) -> Any:
    wanted = cast.get(index) if isinstance(cast, dict) else cast
    target = dtype if wanted is None else wanted
    if kernel is not None and kernel.upcast and target in WIDER and not (kernel.halves and target is dtype):
        target = WIDER[target]
    return None if target is dtype else target.np


def _preparation(
    scalars: list[tuple[int, int]],
    lists: list[tuple[int, int]],
    casts: list[tuple[int, Any]],
    wrapped: Dtype | None,
    ints: list[int],
    constants: list[Any],
    rounded: list[int],
    arguments: Sequence[Any],
) -> Callable[..., None] | None:
    """Return the function that fills what is not a plain tensor operand, None when there is nothing else."""
    whole: Any = wrapped
    narrow = wrapped.np.type if wrapped is not None and wrapped.np.kind in "iu" else None
    if narrow is not None:
        varying = [index for index, _ in scalars]
        readers = readers_of(arguments, [*ints, *varying])
        for index in set(ints).difference(varying):
            constants[index] = readers[index](constants[index], whole)
    if not (scalars or lists or casts):
        return None

    def prepare(plan: Plan, values: list[Any], flat: tuple[Any, ...]) -> None:
        for index, source in scalars:
            value = flat[source]
            values[index] = readers[index](value, whole) if narrow is not None and type(value) is int else value
        for index in rounded:
            values[index] = _rounded(values[index], wrapped)
        for index, source in lists:
            values[index] = [None if item is None else item._array for item in flat[source]]
        if casts:
            token = enter(SILENT)  # a half may not hold what it is given
            try:
                for index, np_dtype in casts:
                    values[index] = _cast(values[index], np_dtype)
            finally:
                leave(token)

    return prepare


def _cast(value: Any, np_dtype: Any) -> Any:
    """Return an operand, or each of a list, in the type that a call computes in."""
    if type(value) is list:
        return [None if item is None else _converted(item, np_dtype) for item in value]
    if value.dtype.names is not None or np_dtype.names is not None:
        return _converted(value, np_dtype)
    real = value.dtype.kind == "c" and np_dtype.kind in "fiu"
    return (value.real if real else value).astype(np_dtype)


_HALVES = (float16, bfloat16)


def _rounded(value: object, dtype: Any) -> float:
    token = enter(SILENT)
    try:
        return float(dtype.np.type(value))
    finally:
        leave(token)


def _converted(value: Any, np_dtype: Any) -> Any:
    """Return the array in another type; complex32 is a pair of halves to numpy, which cannot convert it."""
    if value.dtype == np_dtype or (value.dtype.names is None and np_dtype.names is None):
        return value.astype(np_dtype, copy=False)
    if np_dtype.names is not None:
        made = np.empty(value.shape, np_dtype)
        made["real"], made["imag"] = value.real, value.imag
        return made
    pairs = np.empty(value.shape, np.complex64)
    pairs.real, pairs.imag = value["real"], value["imag"]
    return pairs.astype(np_dtype, copy=False)

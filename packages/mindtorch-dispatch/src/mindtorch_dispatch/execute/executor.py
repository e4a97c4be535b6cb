"""The executor, which runs plans. No op is named here and nothing is decided here: the planner decided.

A plan is made once per call geometry. `plan.run(plan, flat)` executes it, where `flat` is the call's positional
arguments followed by its keyword values. The ways to run are few:

    run_kernel    allocate, fill, wrap            run_view(s)   new geometry over the same bytes
    run_inplace   fill the target                 run_composite call the composing function
    run_out       fill the caller's tensor        run_dynamic   the kernel makes the arrays
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindtorch_storage.deferred import check_dimensions, settle
from mindtorch_storage.device import device as Device
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.spec import Signature, Spec
from mindtorch_storage.tensor_base import TensorBase, array_of_storage, has_math_bits, make_tensor

from ..plan import Plan
from ..state import state
from ..typing import Array
from .arrays import copy
from .errstate import SILENT as _SILENT
from .errstate import enter as _enter
from .errstate import leave as _leave
from .views import reveal, view_of

_new = object.__new__
_empty = np.empty
_ndarray = np.ndarray


def strided_alloc(spec: Spec) -> Callable[..., Any]:
    """Return an allocator of arrays with the spec's (dense, not contiguous) strides, over one flat buffer."""
    span = 1 + sum((extent - 1) * step for extent, step in zip(spec.shape, spec.stride, strict=True) if extent > 0)
    nbytes = span * spec.itemsize if spec.numel else 0

    def alloc(shape: tuple[int, ...], np_dtype: Any) -> Any:
        return _ndarray(shape, np_dtype, _empty(nbytes, np.uint8), 0, spec.np_strides)

    return alloc


def operands(plan: Plan, flat: tuple[Any, ...]) -> list[Any]:
    """Return the kernel's argument list for this call."""
    values = plan.values.copy()
    for index, source in plan.tensors:
        values[index] = flat[source]._array
    if plan.prepare is not None:
        plan.prepare(plan, values, flat)
    return values


def wrap(plan: Plan, sig: Signature, array: Array | None) -> TensorBase:
    """Return a fresh tensor of the plan's class that owns `array`."""
    return make_tensor(plan.cls, sig, array, None, 0, [0])


def run_kernel(plan: Plan, flat: tuple[Any, ...]) -> Any:
    """Allocate the output, let the kernel fill it, wrap it, record it."""
    values = plan.values.copy()
    for index, source in plan.tensors:
        values[index] = flat[source]._array
    if plan.prepare is not None:
        plan.prepare(plan, values, flat)
    array = plan.alloc(plan.shape, plan.np_dtype)
    token = _enter(_SILENT)
    try:
        plan.kernel(array, *values)
    finally:
        _leave(token)
    tensor = _new(plan.cls)
    tensor._sig = plan.sig
    tensor._array = array
    tensor._storage = None
    tensor._offset = 0
    tensor._counter = [0]
    tensor._grad_fn = None
    tensor._output_nr = 0
    tensor._view = None
    tensor._meta = None
    if plan.record is not None:
        plan.record(flat, tensor)
    return tensor


def run_kernel_outputs(plan: Plan, flat: tuple[Any, ...]) -> Any:
    """As `run_kernel`, for several outputs; the kernel gets them as a tuple, None for those not asked for."""
    values = operands(plan, flat)
    arrays = tuple(alloc and alloc(sig.spec.shape, sig.spec.np_dtype) for sig, alloc in plan.outputs)
    token = _enter(_SILENT)
    try:
        plan.kernel(arrays, *values)
    finally:
        _leave(token)
    tensors = tuple(sig and wrap(plan, sig, array) for (sig, _), array in zip(plan.outputs, arrays, strict=True))
    if plan.record is not None:
        plan.record(flat, tensors)
    return plan.pack(tensors)


def run_dynamic(plan: Plan, flat: tuple[Any, ...]) -> Any:
    """The kernel returns the arrays, because their shapes depend on values; `plan.outputs` are (spec, signature)."""
    values = operands(plan, flat)
    token = _enter(_SILENT)
    try:
        arrays = plan.kernel(*values)
    finally:
        _leave(token)
    if not isinstance(arrays, tuple):
        tensor = _wrap_dynamic(plan.cls, arrays, *plan.outputs[0])
        if plan.record is not None:
            plan.record(flat, tensor)
        return tensor
    tensors = tuple(
        _wrap_dynamic(plan.cls, array, spec, sig) for array, (spec, sig) in zip(arrays, plan.outputs, strict=True)
    )
    if plan.record is not None:
        plan.record(flat, tensors)
    return plan.pack(tensors)


def run_dynamic_out(plan: Plan, flat: tuple[Any, ...]) -> Any:
    """As `run_dynamic`, into the tensors given as `out=`, resized to what the kernel made."""
    targets = plan.source(flat)
    values = operands(plan, flat)
    arrays = plan.kernel(*values)
    for target, array in zip(targets, (arrays,) if plan.pack is None else arrays, strict=True):
        plan.before(target, _spec_of(array, target._sig.spec), values)
        copy(target._array, array)
        target._counter[0] += 1
    return targets[0] if plan.pack is None else plan.pack(targets)


def wrap_array(
    cls: type[TensorBase], array: np.ndarray[Any, Any], dtype: Dtype, device: Device, tracked: bool = False
) -> TensorBase:
    """Return a tensor over the memory of `array`, whose numpy dtype is `dtype`'s and which leaves no gaps."""
    spec = Spec.of(dtype, device, array.shape)
    return _wrap_dynamic(cls, array, spec, spec.tracked if tracked else spec.plain)


def _wrap_dynamic(cls: type[TensorBase], array: np.ndarray[Any, Any], like: Spec, sig: Signature) -> TensorBase:
    return make_tensor(cls, sig.on(_spec_of(array, like)), array, None, 0, [0])


def _spec_of(array: np.ndarray[Any, Any], like: Spec) -> Spec:
    """Return the spec of a kernel's array; numpy keeps no strides of empty ones, so that theirs are the meta rule's."""
    stride: Any = None
    if array.size:
        itemsize = array.itemsize
        stride = tuple([step // itemsize for step in array.strides])
    elif like.shape == array.shape:
        stride = like.stride
    return Spec.of(like.dtype, like.device, array.shape, stride)


def run_abstract(plan: Plan, flat: tuple[Any, ...]) -> Any:
    """Geometry only: outputs without bytes."""
    tensors = tuple(sig and wrap(plan, sig, None) for sig, _ in plan.outputs)
    result = tensors[0] if plan.pack is None else tensors
    if plan.record is not None:
        plan.record(flat, result)
    return result if plan.pack is None else plan.pack(tensors)


def run_inplace(plan: Plan, flat: tuple[Any, ...]) -> Any:
    """Let the kernel fill the target, bump its version, record it. `plan.before` refuses what torch refuses."""
    target = flat[plan.source]
    kept = plan.before(flat) if plan.before is not None else None
    if plan.kernel is not None:
        token = _enter(_SILENT)
        try:
            plan.kernel(target._array, *operands(plan, flat))
        finally:
            _leave(token)
    target._counter[0] += 1
    if plan.record is not None:
        plan.record(flat, target, kept)
    return target


def run_inplace_view(plan: Plan, flat: tuple[Any, ...]) -> Any:
    """Give the target another geometry over its own bytes, as `t_` and `squeeze_` do."""
    target = flat[plan.source]
    if plan.before is not None:
        plan.before(flat)
    offset = plan.offset
    if offset.__class__ is not int:
        offset = offset(*filled(plan, flat))
    if plan.record is not None:
        plan.record(flat, target)
    rebind_geometry(target, plan.spec, target._materialized_storage(), target._offset + offset)
    target._counter[0] += 1
    if target._view is not None:
        target._view.attr_version = target._counter[0]
    return target


def run_inplace_outputs(plan: Plan, flat: tuple[Any, ...]) -> Any:
    """As `run_inplace`, for an op that writes the lists or several arguments named in `plan.outputs`."""
    if plan.before is not None:
        plan.before(flat)
    token = _enter(_SILENT)
    try:
        plan.kernel(None, *operands(plan, flat))
    finally:
        _leave(token)
    for source in plan.outputs:
        written = flat[source]
        for target in written if isinstance(written, (list, tuple)) else (written,):
            target._counter[0] += 1
    return plan.pack(flat)


def run_out(plan: Plan, flat: tuple[Any, ...]) -> Any:
    """Fill the tensors given as `out=`; `plan.before` has them resized or refused."""
    targets = plan.source(flat)
    values = operands(plan, flat) if plan.kernel is not None else ()  # as they are before one of them is resized
    plan.before(targets)
    if plan.kernel is not None:
        arrays = tuple(target._array for target in targets)
        token = _enter(_SILENT)
        try:
            plan.kernel(arrays[0] if plan.pack is None else arrays, *values)
        finally:
            _leave(token)
    for target in targets:
        target._counter[0] += 1
    return targets[0] if plan.pack is None else plan.pack(targets)


def run_view(plan: Plan, flat: tuple[Any, ...]) -> Any:
    """Return a tensor with the plan's geometry over the input's bytes."""
    base = flat[plan.source]
    offset = plan.offset
    if offset.__class__ is not int:
        offset = offset(*filled(plan, flat))
    tensor = view_of(plan, base, plan.sig, base._offset + offset)
    if plan.record is not None:
        plan.record(flat, tensor)
    return tensor


def run_views(plan: Plan, flat: tuple[Any, ...]) -> Any:
    """As `run_view`, for ops that cut one input into several views."""
    base = flat[plan.source]
    tensors = tuple(view_of(plan, base, sig, base._offset + offset) for sig, offset in plan.outputs)
    if plan.record is not None:
        plan.record(flat, tensors)
    return plan.pack(tensors)


def filled(plan: Plan, flat: tuple[Any, ...]) -> list[Any]:
    """Return the call's values in schema order, tensors as tensors."""
    values = plan.values.copy()
    for index, source in plan.tensors:
        values[index] = flat[source]
    for index, source in plan.scalars:
        values[index] = flat[source]
    for index, source in plan.lists:
        values[index] = flat[source]
    return values


def run_composite(plan: Plan, flat: tuple[Any, ...]) -> Any:
    """Call the composing function; autograd sees the ops it calls."""
    return plan.kernel(*filled(plan, flat))


def run_composite_opaque(plan: Plan, flat: tuple[Any, ...]) -> Any:
    """Call the composing function with grad off and record the op as one node, because it has its own formula."""
    before = state.mode
    state.mode = before.replace(grad=False)
    try:
        result = plan.kernel(*filled(plan, flat))
    finally:
        state.mode = before
    fresh = plan.row.schema.returns[0].alias is None
    if before.grad and not fresh and isinstance(result, TensorBase) and result._view is not None:
        reveal(flat[0], result)
    if plan.record is not None:
        single = isinstance(result, TensorBase)
        if single and not (result.dtype.is_floating_point or result.dtype.is_complex):
            return result
        for number, tensor in enumerate((result,) if single else result):
            if plan.outputs is not None and number not in plan.outputs:  # those that carry a gradient
                continue
            if isinstance(tensor, TensorBase) and (tensor.dtype.is_floating_point or tensor.dtype.is_complex):
                tensor._sig = tensor._sig.spec.tracked
                tensor._view = None if fresh else tensor._view  # how it was composed is not the caller's to see
        plan.record(flat, result)
    return result


def rebind_geometry(tensor: TensorBase, spec: Spec, storage: Any, offset: int) -> None:
    """Point `tensor` at other bytes or another geometry, as `set_`, `resize_` and `squeeze_` do."""
    settle()
    if storage.device.type == "cpu":
        check_dimensions(spec.ndim)
    sig = tensor._sig
    tensor._sig = sig.on(spec)
    tensor._storage = storage
    tensor._offset = offset
    if (storage.device.type == "cpu" or tensor._array is not None) and not has_math_bits(tensor):
        empty = not spec.numel and storage.device.type == "cpu"
        tensor._array = _ndarray(spec.shape, spec.np_dtype) if empty else array_of_storage(storage, spec, offset)

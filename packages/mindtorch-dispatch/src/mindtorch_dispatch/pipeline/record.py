"""One recorded call: how it is put down when it is made, and how it is filled in when it runs.

A record is `(fill, plan, flat, result, code, instruction)`: `fill(plan, flat, result)` gives the result its bytes, and
the last two say which line of the program made the call. Native code puts down a sequence of its own of these. What
does not depend on bytes happens at once, in eager order: the graph is recorded, versions are bumped, views are related
to their bases.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from types import CodeType
from typing import Any

import numpy as np

from mindtorch_storage.deferred import thread, wait_for_missing
from mindtorch_storage.tensor_base import TensorBase, has_bytes

from ..errors import bounds_error
from ..execute.executor import Plan, operands
from ..execute.views import relate
from ..frames import is_own
from ..typing import Tensor

Record = tuple[Any, Plan, tuple[Any, ...], Any, CodeType, int]

_new = object.__new__
_frame = sys._getframe


def caller(depth: int) -> tuple[CodeType, int]:
    """Return the code and the instruction of the program's call, from `depth` frames up outwards."""
    frame: Any = _frame(depth)
    nearest = frame
    while is_own(frame):
        frame = frame.f_back
        if frame is None:
            frame = nearest
            break
    return frame.f_code, frame.f_lasti


def place_of(record: Record) -> str:
    """Return `aten::op at file:line, in function` of a record."""
    _, plan, _, _, code, instruction = record
    lines = (line for start, end, line in code.co_lines() if start <= instruction < end)
    line = next((one for one in lines if one is not None), code.co_firstlineno)
    return f"{plan.row.aten_name} at {code.co_filename}:{line}, in {code.co_name}"


def results_of(record: Record) -> list[TensorBase]:
    """Return the tensors that wait for this record."""
    result = record[3]
    return [one for one in (result if isinstance(result, (tuple, list)) else (result,)) if one is not None]


def waiting(plan: Plan, sig: Any, pipe: object) -> Any:
    """Return a fresh tensor that waits for `pipe`."""
    tensor = _new(plan.cls)
    tensor._sig = sig
    tensor._offset = 0
    tensor._counter = [0]
    tensor._grad_fn = None
    tensor._output_nr = 0
    tensor._view = None
    tensor._meta = None
    tensor._pipe = pipe
    return tensor


def kept(plan: Plan, flat: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the call's values; lists are copied, as the program may change its own before the call runs."""
    return tuple(list(value) if value.__class__ is list else value for value in flat) if plan.lists else flat


def record_kernel(plan: Plan, flat: tuple[Any, ...]) -> Any:
    """The recording form of `run_kernel`."""
    pipe = thread.pipe
    if pipe is None:
        return plan.eager(plan, flat)
    tensor = waiting(plan, plan.sig, pipe)
    if plan.lists:
        flat = kept(plan, flat)
    records = pipe.records
    records.append((fill_kernel, plan, flat, tensor, *caller(2)))
    if plan.record is not None:
        plan.record(flat, tensor)
    if len(records) > pipe.limit:
        pipe.flush()
    return tensor


def fill_kernel(plan: Plan, flat: tuple[Any, ...], tensor: Tensor) -> None:
    """Allocate the output and let the kernel fill it."""
    values = operands(plan, flat)
    array = plan.alloc(plan.shape, plan.np_dtype)
    plan.kernel(array, *values)
    tensor._storage = None
    tensor._array = array
    tensor._pipe = None


def record_outputs(plan: Plan, flat: tuple[Any, ...]) -> Any:
    """The recording form of `run_kernel_outputs`."""
    pipe = thread.pipe
    if pipe is None:
        return plan.eager(plan, flat)
    tensors = tuple(sig and waiting(plan, sig, pipe) for sig, _ in plan.outputs)
    flat = kept(plan, flat)
    pipe.records.append((fill_outputs, plan, flat, tensors, *caller(2)))
    if plan.record is not None:
        plan.record(flat, tensors)
    if len(pipe.records) > pipe.limit:
        pipe.flush()
    return plan.pack(tensors)


def fill_outputs(plan: Plan, flat: tuple[Any, ...], tensors: Sequence[Tensor]) -> None:
    """Allocate the outputs and let the kernel fill them."""
    values = operands(plan, flat)
    arrays = tuple(alloc and alloc(sig.spec.shape, sig.spec.np_dtype) for sig, alloc in plan.outputs)
    plan.kernel(arrays, *values)
    for tensor, array in zip(tensors, arrays, strict=True):
        if tensor is not None:
            tensor._storage, tensor._array, tensor._pipe = None, array, None


def record_inplace(plan: Plan, flat: tuple[Any, ...]) -> Any:
    """The recording form of `run_inplace`. Memory that the program shares with others is written at once."""
    pipe = thread.pipe
    if pipe is None:
        return plan.eager(plan, flat)
    target = flat[plan.source]
    if lent(target):
        pipe.flush()
        return plan.eager(plan, flat)
    before = plan.before(flat) if plan.before is not None else None
    if plan.kernel is not None:
        flat = kept(plan, flat)
        target._pipe = pipe
        pipe.records.append((fill_inplace, plan, flat, target, *caller(2)))
    target._counter[0] += 1
    if plan.record is not None:
        plan.record(flat, target, before)
    if len(pipe.records) > pipe.limit:
        pipe.flush()
    return target


def fill_inplace(plan: Plan, flat: tuple[Any, ...], target: Tensor) -> None:
    """Let the kernel fill the target."""
    plan.kernel(target._array, *operands(plan, flat))
    target._pipe = None


_storage_slot = TensorBase.__dict__["_storage"].__get__


def lent(target: TensorBase) -> bool:
    """True when others than tensors can see the bytes: numpy arrays that were borrowed from or lent to."""
    try:
        storage = _storage_slot(target)
    except AttributeError:  # its memory does not exist yet
        return False
    return storage is not None and storage.lent


def record_view(plan: Plan, flat: tuple[Any, ...]) -> Any:
    """The recording form of `run_view`."""
    pipe = thread.pipe
    if pipe is None:
        return plan.eager(plan, flat)
    base = flat[plan.source]
    offset = plan.offset
    if offset.__class__ is not int:
        values = plan.values.copy()
        for index, source in (*plan.tensors, *plan.scalars, *plan.lists):
            values[index] = flat[source]
        offset = offset(*values)
    tensor = _view(plan, base, plan.sig, base._offset + offset, pipe)
    pipe.records.append((fill_view, plan, (base,), tensor, *caller(2)))
    if plan.record is not None:
        plan.record(flat, tensor)
    if len(pipe.records) > pipe.limit:
        pipe.flush()
    return tensor


def record_views(plan: Plan, flat: tuple[Any, ...]) -> Any:
    """The recording form of `run_views`."""
    pipe = thread.pipe
    if pipe is None:
        return plan.eager(plan, flat)
    base = flat[plan.source]
    tensors = tuple(_view(plan, base, sig, base._offset + offset, pipe) for sig, offset in plan.outputs)
    where = caller(2)
    for tensor in tensors:
        pipe.records.append((fill_view, plan, (base,), tensor, *where))
    if plan.record is not None:
        plan.record(flat, tensors)
    if len(pipe.records) > pipe.limit:
        pipe.flush()
    return plan.pack(tensors)


def _view(plan: Plan, base: TensorBase, sig: object, offset: int, pipe: object) -> Any:
    tensor = waiting(plan, sig, pipe)
    tensor._offset = offset
    tensor._counter = base._counter
    if has_bytes(base):
        tensor._storage = base._materialized_storage()
    if plan.creation is not None:
        relate(plan, base, tensor)
    return tensor


def fill_view(plan: Plan, flat: tuple[Any, ...], tensor: Tensor) -> None:
    """Lay the tensor over its base's bytes."""
    base = flat[0]
    spec, offset = tensor._sig.spec, tensor._offset
    if base._array is None:
        tensor._storage, tensor._array = base._materialized_storage(), None
    else:
        storage = base._materialized_storage()
        where = (storage.buffer, offset * spec.itemsize, spec.np_strides) if spec.numel else ()
        try:
            array = np.ndarray(spec.shape, spec.np_dtype, *where)
        except (TypeError, ValueError):  # numpy refuses what lies outside the buffer
            raise bounds_error(spec, offset, storage) from None
        tensor._storage, tensor._array = storage, array
    tensor._pipe = None


def fill_alias(plan: Plan, flat: tuple[Any, ...], alias: Any) -> None:
    """Give a second tensor the bytes of the first."""
    tensor = flat[0]
    alias._array, alias._storage, alias._pipe = tensor._array, tensor._storage, None


def retry(record: Record, error: AttributeError) -> None:
    """Fill a record that met a tensor without bytes, once that one has them; raises `error` when it is another."""
    while wait_for_missing(error):
        try:
            record[0](record[1], record[2], record[3])
        except AttributeError as again:
            error = again
        else:
            return
    raise error


def run_settled(plan: Plan, flat: tuple[Any, ...]) -> Any:
    """Run what is recorded, then this call at once: its result's geometry depends on bytes, or it moves memory."""
    pipe = thread.pipe
    if pipe is not None:
        pipe.flush()
    return plan.eager(plan, flat)

"""Recording of kernels registered at run time, which take and return tensors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindtorch_storage.deferred import thread
from mindtorch_storage.device import device as Device
from mindtorch_storage.tensor_base import TensorBase, make_tensor

from ..arguments.bound import Bound, tensor_leaves
from ..execute.executor import Plan, filled, run_composite
from ..extend.boxing import trimmed
from ..keys import DEVICE_TYPES, DispatchKey, DispatchKeySet
from ..state import PIPELINE_MASK, mode_set, state
from ..table import OpRow
from ..typing import Tensor
from .record import caller, kept, waiting

_META = Device("meta")


def record_boxed(plan: Plan, bound: Bound, keys: DispatchKeySet) -> Plan:
    """Return the plan of a registered kernel under a pipeline.

    A backend's kernel waits, its results described by the Meta kernel. What records gradients, writes its arguments, or
    is not a backend's runs at once: the ops it calls wait themselves. RuntimeError without a Meta kernel.
    """
    row = bound.row
    entry = row.__dict__.get("entry")
    registered = entry.boxed if entry is not None else {}
    passed = entry.fallthrough if entry is not None else ()
    met = next((key for key in keys if key in registered and key not in passed), None)
    if met not in DEVICE_TYPES or met is DispatchKey.Meta:
        return plan
    describe = registered.get(DispatchKey.Meta)
    if describe is None and row.meta is None:
        plan.run = _refuse
        return plan
    recorded = state.mode.grad and any(tensor._sig.requires_grad for tensor in tensor_leaves(bound.values))
    writes = any(argument.is_write for argument in row.schema.arguments)
    if describe is None or describe is registered[met] or recorded or writes:
        return plan
    plan.source = describe
    plan.run = _record
    return plan


def _refuse(plan: Plan, flat: tuple[Any, ...]) -> Any:
    pipe = thread.pipe
    if pipe is not None and pipe.strict:
        raise RuntimeError(f"pipeline requires meta kernel for op {plan.row.aten_name}")
    if pipe is not None:
        pipe.flush()
    return run_composite(plan, flat)


def _described(row: OpRow, describe: Callable[..., Any], values: Sequence[Any]) -> Any:
    """Return what the Meta kernel makes of the arguments without their bytes."""

    def bare(value: Any) -> Any:
        if isinstance(value, TensorBase):
            spec = value._sig.spec.with_(device=_META)
            return make_tensor(type(value), spec.plain, None, None, 0, [0])
        return type(value)(map(bare, value)) if type(value) in (list, tuple) else value

    with mode_set(include=state.mode.include & ~PIPELINE_MASK, grad=False):
        args, kwargs = trimmed(row.schema.arguments, list(map(bare, values)))
        return describe(*args, **kwargs)


def _record(plan: Plan, flat: tuple[Any, ...]) -> Any:
    pipe = thread.pipe
    if pipe is None:
        return run_composite(plan, flat)
    values = filled(plan, flat)
    try:
        made = _described(plan.row, plan.source, values)
    except RuntimeError as error:
        if pipe.strict or not getattr(error, "sizes_need_values", False):
            raise
        pipe.flush()
        return run_composite(plan, flat)
    device = next((value._sig.spec.device for value in flat if isinstance(value, TensorBase)), None)

    def tensor_for(answer: Any) -> Any:
        return waiting(plan, answer._sig.spec.with_(device=device).plain, pipe)

    many = isinstance(made, (tuple, list))
    result = type(made)(map(tensor_for, made)) if many else tensor_for(made)
    pipe.records.append((_fill, plan, kept(plan, flat), result, *caller(2)))
    return result


def _fill(plan: Plan, flat: tuple[Any, ...], result: Tensor) -> None:
    with mode_set(include=state.mode.include & ~PIPELINE_MASK, grad=False):
        made = run_composite(plan, flat)
    single = isinstance(result, TensorBase)
    for tensor, value in zip((result,) if single else result, (made,) if single else made, strict=True):
        have, want = value._sig.spec, tensor._sig.spec
        if have.shape != want.shape or have.dtype is not want.dtype:
            raise RuntimeError(
                f"{plan.row.aten_name}: the Meta kernel promised {want.dtype} of shape {tuple(want.shape)}, "
                f"the kernel returned {have.dtype} of shape {tuple(have.shape)}"
            )
        tensor._storage, tensor._array = value._materialized_storage(), value._array
        tensor._offset, tensor._sig = value._offset, tensor._sig.on(have)  # a node may have been recorded meanwhile
        tensor._pipe = None

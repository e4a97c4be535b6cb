"""The planner: everything an op call means, worked out once per geometry.

`plan_call` takes a bound call (which overload, which values, from where in the call they came) and returns a `Plan`.
It is ordinary Python and holds all semantics: key order, device agreement, the meta function, promotion casts, how
the outputs are allocated, what autograd has to record. The executor only carries plans out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindtorch_storage.device import device as Device
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.layout import layout as Layout
from mindtorch_storage.layout import sparse_coo
from mindtorch_storage.sparse import SparseSpec
from mindtorch_storage.spec import Spec
from mindtorch_storage.tensor_base import TensorBase

from ..defaults import get_default_device
from ..execute import executor, fallback
from ..execute.arrays import array_types, resolve
from ..extend.boxing import boxed_plan, missing_registration
from ..extend.registry import registry
from ..interface.autograd import PlanRequest, hooks
from ..interface.batching import BATCHED_MASK
from ..interface.batching import hooks as batching
from ..keys import BACKEND_KEYS, DEVICE_TYPES, DispatchKey, DispatchKeySet
from ..meta.rule import Outputs, View
from ..override.interception import check_memory, composing, intercepted, plan_intercepted, records, taken_apart
from ..pipeline.boxed import record_boxed
from ..pipeline.deferral import deferred
from ..sparse.table import no_gradient, no_sparse_kernel, sparse_kernel
from ..state import AUTOGRAD_MASK, PIPELINE_MASK, Mode, fresh_signature, state
from ..table import COPIES, DYNAMIC, Kernel, OpRow, kernels
from . import writing
from .inplace import adopt_options, check_inference, plan_inplace, plan_out
from .pinning import asks_for_pinning, plan_pinned
from .plan import Plan, plain_types
from .routing import Bound, fill_plan, missing_kernel, packing, rounding, tensor_leaves, to_specs


def _no_backend(device_type: str) -> Exception:
    """The error of torch for a device that this program has nothing for."""
    if device_type in ("cuda", "xpu"):
        return AssertionError(f"Torch not compiled with {device_type.upper()} enabled")
    return RuntimeError(f"PyTorch is not linked with support for {device_type} devices")


def key_set(tensors: Sequence[TensorBase], device_type: str, mode: Mode, options: Sequence[Any] = ()) -> DispatchKeySet:
    """Return the keys this call passes, guards applied; a sparse layout among its `options` is one."""
    if device_type not in BACKEND_KEYS:
        raise _no_backend(device_type)
    mask = 1 << BACKEND_KEYS[device_type]
    if mode.records and any(tensor._sig.requires_grad for tensor in tensors):
        mask |= 1 << DispatchKey.Autograd
    if any(type(tensor._sig.spec) is SparseSpec for tensor in tensors) or sparse_coo in options:
        mask |= 1 << DispatchKey.Sparse
    if mode.autocast is not None:
        mask |= 1 << DispatchKey.Autocast
    return DispatchKeySet((mask | mode.include & ~BATCHED_MASK) & ~mode.exclude)


def common_device(row: OpRow, tensors: Sequence[TensorBase], values: Sequence[Any]) -> Device:
    """Return the device the call runs on; torch's error when the tensors' devices differ."""
    given = next((value for value in values if isinstance(value, Device)), None)
    if given is not None and (not tensors or row.variants != ("method",)):
        return given
    found: Device | None = None
    for tensor in tensors:
        device = tensor.device
        if found is None or found == device:
            found = device
        elif row.meta is None:
            continue  # the ops it is composed of say what they take
        elif getattr(row.meta, "mixed_devices", False):
            found = found if device.type == "cpu" else device
        elif tensor._sig.spec.ndim == 0 and device.type == "cpu":
            continue
        elif found.type == "cpu" and all(t._sig.spec.ndim == 0 for t in tensors if t.device == found):
            found = device
        else:
            raise RuntimeError(
                f"Expected all tensors to be on the same device, but found at least two devices, {found} and {device}!"
            )
    return found or get_default_device()


_CPU = Device("cpu")


def _kernel_device(row: OpRow, tensors: Sequence[TensorBase], device: Device) -> str:
    """Return whose kernel runs: copies between the host and a device are the device's, either way."""
    if device.type == "cpu" and getattr(row.meta, "mixed_devices", False):
        return next((t.device.type for t in tensors if t.device.type in array_types), "cpu")
    return device.type


def plan_call(bound: Bound) -> Plan:
    """Return the plan of a bound call; raises what the op raises for wrong arguments."""
    plan = _plan(bound)
    mode = state.mode
    if not mode.include & PIPELINE_MASK:
        return plan
    if DispatchKey.Pipeline in bound.row.__dict__.get("fallthrough", ()):
        mode = mode.replace(exclude=mode.exclude | PIPELINE_MASK)
    return deferred(plan, mode)


def _plan(bound: Bound) -> Plan:
    row, mode = bound.row, state.mode
    tensors = tensor_leaves(bound.values)
    wraps = any(tensor._wraps for tensor in tensors)
    if not wraps and intercepted(mode, tensors if bound.out is None else [*tensors, *tensor_leaves((bound.out,))]):
        return _intercepted(bound, tensors, mode)
    for place, value in enumerate(bound.values):
        if isinstance(value, Device) and value.type != "cpu":
            bound.values[place] = resolve(value)
            # Another device may be current at the next call.
            bound.cacheable = bound.cacheable and value.index == bound.values[place].index
    if bound.out is not None or row.kind == "inplace":
        adopt_options(bound)
    if wraps or mode.include & BATCHED_MASK:
        batched = batching.plan(bound, tensors)
        if batched is not None:
            return batched
    check_memory(tensors)
    device = common_device(row, tensors, bound.values)
    if device.type == "cpu" and asks_for_pinning(bound):
        return plan_pinned(bound)
    keys = key_set(tensors, device.type, mode, [value for value in bound.values if type(value) is Layout])
    if "entry" in row.__dict__:
        devices = [value for value in bound.values if isinstance(value, Device)]
        keys, mode = _registered_keys(row, tensors, devices, keys, mode)
    registered = registry.resolve(row, keys) if bound.out is None else None
    if registered is not None:
        boxed = boxed_plan(bound, registered, keys)
        return record_boxed(boxed, bound, keys) if DispatchKey.Pipeline in keys else boxed
    if DispatchKey.Sparse in keys:
        return _sparse(bound, tensors, keys)
    kernel = kernels[_kernel_device(row, tensors, device)].get((row.base or row).name)
    if row.composite is not None and kernel is None:
        return _composite(bound, tensors, mode)
    if kernel is None and fallback.takes(row, device, bound.values):
        return _composite(bound, tensors, mode, fallback.function(row, device))
    if row.meta is None:
        raise missing_registration(row, tensors, device)
    answer = row.meta(*to_specs(bound.values))
    if not isinstance(answer, Outputs):
        answer = Outputs(answer)
    if row.kind == "mutating" and row.meta.view:
        return _inplace_view(bound, answer, request(bound, tensors, mode, answer))
    if row.kind in ("inplace", "mutating"):
        return plan_inplace(bound, answer, device, kernel, request(bound, tensors, mode, answer))
    if bound.out is not None:
        return plan_out(bound, answer, device, kernel)
    if row.meta.view:
        return _views(bound, answer, mode, request(bound, tensors, mode, answer))
    return _functional(bound, answer, device, kernel, request(bound, tensors, mode, answer))


def _sparse(bound: Bound, tensors: Sequence[TensorBase], keys: DispatchKeySet) -> Plan:
    """Plan of a call on sparse tensors: their own kernel, else what the op is composed of."""
    row, function = bound.row, sparse_kernel(bound.row)
    if function is None:
        if row.composite is not None and bound.out is None:
            return _composite(bound, tensors, state.mode)
        raise no_sparse_kernel(row)
    if bound.out is not None:
        raise no_sparse_kernel(row)
    if DispatchKey.Autograd in keys:
        raise no_gradient()
    return boxed_plan(bound, function, keys, whole=True)


def _registered_keys(
    row: OpRow, tensors: Sequence[TensorBase], options: Sequence[Device], keys: DispatchKeySet, mode: Mode
) -> tuple[DispatchKeySet, Mode]:
    """Return the keys of a call of an operator with registrations, and the mode without those that it passes by.

    A registered Autograd kernel is asked whether or not a gradient is needed, as in torch; only tensors of inference
    mode have no such key. Without tensors only kernels that serve every backend apply.
    """
    entry = row.__dict__["entry"]
    if entry.declared and not tensors and not options:
        return keys - DispatchKeySet(DEVICE_TYPES), mode
    asked = DispatchKey.Autograd in entry.boxed and not mode.exclude & AUTOGRAD_MASK
    if asked and any(not tensor._sig.inference for tensor in tensors):
        keys = keys.add(DispatchKey.Autograd)
    passed = DispatchKeySet(key for key in entry.fallthrough if key not in DEVICE_TYPES)
    if passed:
        mode = mode.replace(exclude=mode.exclude | passed.mask)
    return keys - passed, mode


def _intercepted(bound: Bound, tensors: Sequence[TensorBase], mode: Mode) -> Plan:
    """Plan of a call that Python handles: what stands above the handlers comes first."""
    row = bound.row
    boxed = row.__dict__.get("boxed", {}).get(DispatchKey.Autograd)
    if boxed is not None and records(mode) and any(tensor._sig.requires_grad for tensor in tensors):
        return boxed_plan(bound, boxed, DispatchKeySet(DispatchKey.Autograd))
    if "boxed" not in row.__dict__ and taken_apart(row, tensors, mode):
        return composing(_composite(bound, tensors, mode))
    return plan_intercepted(bound, tensors, mode)


def request(bound: Bound, tensors: Sequence[TensorBase], mode: Mode, answer: Outputs) -> PlanRequest | None:
    """Return what autograd needs to know of this call, None when nothing is to be recorded."""
    if not mode.records or mode.exclude >> DispatchKey.Autograd & 1 or hooks.recorder is None:
        return None
    written = bound.row.kind in ("inplace", "mutating") and not bound.row.meta.view
    if not any(tensor._sig.requires_grad for tensor in tensors) or inference_alone(bound, tensors):
        return None
    return PlanRequest(bound.row, bound.values, bound.sources, answer.specs, written, mode)


def inference_alone(bound: Bound, tensors: Sequence[TensorBase]) -> bool:
    """True when all operands are inference tensors: torch then passes autograd by. A number where a tensor could be counts
    as an ordinary tensor."""
    if not all(tensor._sig.inference for tensor in tensors) or COPIES in bound.row.tags:
        return False
    return not any(
        argument.type.kind == "Tensor" and isinstance(value, (int, float, complex))
        for argument, value in zip(bound.row.schema.arguments, bound.values, strict=True)
    )


def differentiable(dtype: Dtype) -> bool:
    """True for dtypes that can carry a gradient."""
    return dtype.is_floating_point or dtype.is_complex


def _functional(
    bound: Bound, answer: Outputs, device: Device, kernel: Kernel | None, wanted: PlanRequest | None
) -> Plan:
    row, specs = bound.row, answer.specs
    outputs = [specs] if isinstance(specs, Spec) else list(specs)
    if kernel is None and device.type != "meta":
        raise missing_kernel(row, device, outputs[0].dtype if outputs else None)
    plan = Plan(row, executor.run_kernel)
    fill_plan(plan, bound, answer, kernel)
    plan.pack = packing(row, specs, overload=bound.overload)
    recorder = hooks.recorder(wanted) if wanted is not None else None
    if recorder is not None:
        plan.record = recorder.after
    tracked = recorder is not None or bound.requires_grad
    chosen = recorder.differentiable if recorder is not None else None
    sigs = [
        None if spec is None
        else fresh_signature(spec, tracked and differentiable(spec.dtype) and (chosen is None or number in chosen))
        for number, spec in enumerate(outputs)
    ]  # fmt: skip
    if DYNAMIC in row.tags:
        if kernel is None:
            raise missing_kernel(row, device, None)
        plan.run, plan.kernel = executor.run_dynamic, kernel.fn
        plan.outputs = list(zip(outputs, sigs, strict=True))
        plan.pack = plan.pack or tuple
        return plan
    plan.outputs = [(sig, None if sig is None else _allocator(sig.spec)) for sig in sigs]
    if device.type == "meta":
        plan.run = executor.run_abstract
        return plan
    plan.kernel = rounding(kernel, outputs)
    if plan.pack is not None:
        plan.run = executor.run_kernel_outputs
        return plan
    plan.sig, plan.alloc = plan.outputs[0]
    plan.spec, plan.shape, plan.np_dtype = outputs[0], tuple(outputs[0].shape), outputs[0].np_dtype
    return plan


def _allocator(spec: Spec) -> Callable[..., Any]:
    arrays = array_types.get(spec.device.type)
    if arrays is not None:
        return lambda shape, np_dtype: arrays.empty(spec)
    return np.empty if spec.is_contiguous else executor.strided_alloc(spec)


def _views(bound: Bound, answer: Outputs, mode: Mode, wanted: PlanRequest | None) -> Plan:
    row, views = bound.row, answer.specs
    single = isinstance(views, View)
    plan = Plan(row, executor.run_view if single else executor.run_views)
    plan.source = bound.sources[0]
    fill_plan(plan, bound, Outputs(None, values=answer.values), None)
    recorder = hooks.recorder(wanted) if wanted is not None else None
    if recorder is not None:
        plan.record = recorder.after
    base = bound.values[0]._sig
    # A view that the schema does not own up to (`_unsafe_view`) is for autograd a tensor of its own.
    detached = "detach" in row.tags or row.schema.returns[0].alias is None
    # A view requires grad when its base does, also where nothing is recorded.
    tracked = recorder is not None or (base.requires_grad and not detached and not mode.records and not base.inference)

    def sig_of(view: View) -> Any:
        if tracked and differentiable(view.spec.dtype):
            return view.spec.tracked
        return view.spec.inference if base.inference else view.spec.plain

    if single:
        plan.sig, plan.offset = sig_of(views), views.offset
    else:
        plan.outputs = [(sig_of(view), view.offset) for view in views]
        plan.pack = packing(row, views, overload=bound.overload)
    recorded = "default" if single else "multi_output"
    plan.creation = "inference" if mode.inference else recorded if mode.grad else "no_grad"
    plan.follows = mode.records and not tracked and not base.inference and differentiable(base.spec.dtype)
    if detached or base.inference or mode.exclude & AUTOGRAD_MASK:
        plan.creation, plan.follows = None, False
    return plan


def _inplace_view(bound: Bound, answer: Outputs, wanted: PlanRequest | None) -> Plan:
    check_inference(bound.values[0])
    plan = Plan(bound.row, executor.run_inplace_view)
    plan.source = bound.sources[0]
    fill_plan(plan, bound, Outputs(None, values=answer.values), None)
    plan.spec, plan.offset = answer.specs.spec, answer.specs.offset
    recorder = hooks.recorder(wanted) if wanted is not None else None
    if recorder is not None:
        plan.before, plan.record = recorder.before, recorder.after
    return plan


def _composite(
    bound: Bound, tensors: Sequence[TensorBase], mode: Mode, function: Callable[..., Any] | None = None
) -> Plan:
    """Plan of a call that is made of others: by what the row is composed of, or by `function`."""
    row = bound.row
    composed = row.composite if function is None else function
    plan = Plan(row, executor.run_composite)
    fill_plan(plan, bound, Outputs(None), None)
    plan.kernel = _packed(bound, composed)
    settle = getattr(composed, "settled", None)
    if settle is not None and bound.out is None and all(type(tensor) in plain_types for tensor in tensors):
        _settle(plan, bound, settle)
    if row.kind == "inplace":
        functional = composed
        plan.kernel = lambda self, *rest: writing.copy_into(self, functional(self, *rest))
        return plan
    wanted = PlanRequest(row, bound.values, bound.sources, None, False, mode) if tensors else None
    if wanted is not None and mode.records and hooks.has_formula(row) and any(t._sig.requires_grad for t in tensors):
        recorder = hooks.recorder(wanted)
        plan.run = executor.run_composite_opaque
        plan.record = recorder.after if recorder is not None else None
    if bound.out is not None:
        source, functional = bound.out_source, composed
        listed = row.schema.returns[0].type.is_list
        pack = row.pack.for_out() if row.pack is not None and not bound.overload else None

        def into_out(plan: Plan, flat: tuple[Any, ...]) -> Any:
            written = writing.copy_out(flat[source], functional(*executor.filled(plan, flat)))
            return None if listed else written if pack is None else pack(written)

        plan.run = into_out
    return plan


def _settle(plan: Plan, bound: Bound, settle: Callable[..., Any]) -> None:
    """Let the plan of a composed op be the one call that its function would make: see `decomp.single`."""
    found = None if state.mode.overriding else settle(bound.values)
    if found is not None:
        plan.kernel, plan.values = found
        plan.tensors, plan.scalars, plan.lists = [(0, bound.sources[0])], [], []


def _packed(bound: Bound, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return the composing function with its several results packed as the call's form wants them."""
    returns = bound.row.schema.returns
    if not returns or (len(returns) == 1 and not returns[0].type.is_list):
        return function
    pack = packing(bound.row, (), overload=bound.overload)

    def packed(*values: Any) -> Any:
        return pack(function(*values))

    return packed

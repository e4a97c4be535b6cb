"""`__torch_dispatch__`: calls handed to tensor subclasses and modes.

A type that defines `__torch_dispatch__` is asked below autograd: the call's node is made from what the handler returns,
and the ops the handler calls are not recorded again. A type that also sets `above_autograd` is asked before: what it
calls is recorded as ever, and its results are the call's. A mode that sets `sees_composed` sees composed ops whole.

Composed ops are taken apart before anybody is asked, unless torch has them as one op.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_storage.tensor_base import TensorBase, check_bytes

from ..arguments.bound import Bound
from ..defaults import get_default_device
from ..execute.views import relate
from ..interface.autograd import PlanRequest, hooks
from ..interface.wiring import wired
from ..keys import DispatchKey, DispatchKeySet
from ..plan import Plan, plain_types
from ..plan.call import Call
from ..plan.results import packing
from ..plan.targets import check_inference, check_out_grad
from ..schema.model import EnumName, Schema
from ..state import AUTOGRAD_MASK, Mode, state
from ..table import OpRow
from ..typing import Tensor
from .handlers import ask, dispatches
from .results import checked

PYTHON_MASK = 1 << DispatchKey.Python
AUTOCAST_MASK = 1 << DispatchKey.Autocast

WHOLE = frozenset(
    "__lshift__ __rshift__ _batch_norm_no_update _batch_norm_with_update _chunk_cat _convolution _embedding_bag_backward "
    "_fused_sdp_choice _histogramdd_bin_edges _histogramdd_from_bin_cts _index_put_impl_ _is_all_true _is_any_true "
    "_linalg_check_errors _local_scalar_dense _native_batch_norm_legit _native_batch_norm_legit_functional "
    "_native_batch_norm_legit_no_training _pack_padded_sequence _unique _unsafe_index _unsafe_index_put "
    "_unsafe_masked_index _unsafe_masked_index_put_accumulate bartlett_window blackman_window detach_copy "
    "equal fft_fftfreq fft_rfftfreq hamming_window hann_window kaiser_window lift lift_fresh lift_fresh_copy histogram "
    "index polygamma_ allclose is_same_size copy zero embedding_renorm uniform normal_functional exponential geometric cauchy "
    "log_normal random".split()
)
"""Composed ops that torch has as one, though they have no derivative of their own: handlers see them where no gradient
has to flow through. Ops with a derivative row are always seen whole, and so are those whose names begin `_foreach_`."""

_WHOLE_OVERLOADS = frozenset(
    "addmm.dtype baddbmm.dtype bmm.dtype mm.dtype div.Scalar_mode div.Tensor_mode div_.Scalar_mode div_.Tensor_mode "
    "linspace.Scalar_Tensor linspace.Tensor_Scalar linspace.Tensor_Tensor logspace.Scalar_Tensor logspace.Tensor_Scalar "
    "logspace.Tensor_Tensor norm.Scalar norm.ScalarOpt_dim norm.ScalarOpt_dim_dtype norm.ScalarOpt_dtype view_copy.dtype "
    "celu celu_ soft_margin_loss".split()
)


def intercepted(mode: Mode, tensors: Sequence[TensorBase]) -> bool:
    """True when a mode or the type of an argument handles calls made now."""
    if mode.exclude & PYTHON_MASK:
        return False
    return bool(mode.dispatch_modes) or any(dispatches(type(tensor)) for tensor in tensors)


def check_memory(tensors: Sequence[TensorBase]) -> None:
    """Raise torch's error for a tensor without memory that nobody handles the call of."""
    special = [tensor for tensor in tensors if type(tensor) not in plain_types]
    if special:
        check_bytes(special)


def taken_apart(row: OpRow, tensors: Sequence[TensorBase], mode: Mode) -> bool:
    """True for a composed op that handlers see as the ops it is composed of; a mode may want to see it whole."""
    if row.composite is None or hooks.has_formula(row) or _sees_composed(mode):
        return False
    whole = has_own_kernel(row)
    if whole and not any(returned.type.kind == "Tensor" for returned in row.schema.returns):
        return False
    return not whole or (records(mode) and any(tensor._sig.requires_grad for tensor in tensors))


def has_own_kernel(row: OpRow) -> bool:
    """Return whether torch has a composed op as one, with a kernel of its own."""
    return row.packet in WHOLE or row.name in _WHOLE_OVERLOADS or row.packet.startswith("_foreach_")


def _sees_composed(mode: Mode) -> bool:
    return any(getattr(one, "sees_composed", False) for one in mode.dispatch_modes[-1:])


def records(mode: Mode) -> bool:
    """True when autograd records calls made under `mode`."""
    return mode.records and not mode.exclude & AUTOGRAD_MASK and hooks.recorder is not None


def ask_python(call: Call) -> None:
    """Have the handlers answer a call, unless something stands above them: an Autocast or Autograd kernel, or the op is
    taken apart."""
    row = call.row
    own = row.__dict__.get("boxed", {}).get(DispatchKey.Autograd)
    casting = _casting(call)
    if casting is not None:
        call.registered, call.keys = casting, DispatchKeySet(DispatchKey.Autocast)
    elif own is not None and records(call.mode) and any(tensor._sig.requires_grad for tensor in call.tensors):
        call.registered, call.keys = own, DispatchKeySet(DispatchKey.Autograd)
    elif "boxed" not in row.__dict__ and taken_apart(row, call.tensors, call.mode):
        call.composed = row.composite
    else:
        call.function, call.plan.run = _Call(call.bound, call.tensors, call.outs, call.mode).run, run_handled
        call.bound.cacheable = False  # handlers may do as they please


def _casting(call: Call) -> Any:
    """Return the Autocast kernel that stands above the handlers of a call, None where there is none."""
    mode, entry = call.mode, call.row.__dict__.get("entry")
    if mode.autocast is None or entry is None or mode.exclude & AUTOCAST_MASK or call.bound.out is not None:
        return None
    return None if _asked_above([*call.tensors, *call.outs], mode) else entry.boxed.get(DispatchKey.Autocast)


def run_composing(plan: Plan, flat: tuple[Any, ...]) -> Any:
    """Run a composed op whose calls handlers see."""
    before = state.composing
    state.composing = True
    try:
        return plan.eager(plan, flat)
    finally:
        state.composing = before


def run_handled(plan: Plan, flat: tuple[Any, ...]) -> Any:
    """Ask the handlers."""
    return plan.kernel(flat)


class _Call:
    """One call on its way to the handlers."""

    def __init__(self, bound: Bound, tensors: list[TensorBase], outs: list[TensorBase], mode: Mode) -> None:
        self.bound = bound
        self.row = bound.row
        self.tensors = tensors
        self.mode = mode
        self.outs = outs
        self.above = _asked_above([*self.tensors, *self.outs], mode)

    def run(self, flat: tuple[Any, ...]) -> Any:
        """Ask, record, and return the call's result; TypeError when every handler declined."""
        row = self.row
        if self.outs:
            return self._run_out()
        writes = [
            value for argument, value in zip(row.schema.arguments, self.bound.values, strict=True) if argument.is_write
        ]
        if writes:
            return self._run_writing(flat, writes)
        return self._run_functional(flat)

    def _ask(self) -> Any:
        args, kwargs = call_arguments(self.bound)
        function = overload_call(self.row, self.bound.out)
        below = self.mode
        if not self.above and (self.tensors or self.outs):
            below = below.replace(exclude=below.exclude | AUTOGRAD_MASK)
        return ask(function, args, kwargs, [*self.tensors, *self.outs], below, self.mode)

    def _recorder(self, specs: Any, written: bool) -> Any:
        """Return what records this call; None where nothing is to be recorded."""
        mode, row = self.mode, self.row
        if self.above or not records(mode) or "boxed" in row.__dict__:
            return None
        if not any(tensor._sig.requires_grad for tensor in self.tensors):
            return None
        return hooks.recorder(PlanRequest(row, self.bound.values, self.bound.sources, specs, written, mode))  # type: ignore[misc]

    def _run_out(self) -> Any:
        if not self.above:
            check_out_grad(self.row, self.outs, self.tensors)
        for target in self.outs:
            check_inference(target)
        versions = [target._counter[0] for target in self.outs]
        checked(self._ask(), self.row.schema.returns)
        if not self.above:
            for target, version in zip(self.outs, versions, strict=True):
                target._counter[0] = version + 1
        if len(self.outs) == 1 and isinstance(self.bound.out, TensorBase):
            return self.outs[0]
        pack = packing(self.row, tuple(self.outs), out=True, overload=self.bound.overload)
        return tuple(self.outs) if pack is None else pack(tuple(self.outs))

    def _run_writing(self, flat: tuple[Any, ...], writes: list[Any]) -> Any:
        row = self.row
        written = [one for value in writes for one in (value if isinstance(value, (list, tuple)) else (value,))]
        for target in written:
            check_inference(target)
        versions = [target._counter[0] for target in written]
        view = row.meta is not None and row.meta.view
        recorder = self._recorder(written[0]._sig.spec, not view)
        kept = recorder.before(flat) if recorder is not None else None
        result = self._ask()
        if row.schema.returns:
            checked(result, row.schema.returns)
        if not self.above:
            for target, version in zip(written, versions, strict=True):
                target._counter[0] = version + 1
        if recorder is not None:
            if view:  # its geometry is known when the call was answered
                recorder.outputs = (writes[0]._sig.spec,)
                recorder.after_view(flat, writes[0], kept)
            else:
                recorder.after(flat, writes[0], kept)
        if not row.schema.returns:
            return None
        return writes[0] if len(writes) == 1 else tuple(writes[: len(row.schema.returns)])

    def _run_functional(self, flat: tuple[Any, ...]) -> Any:
        row = self.row
        result = checked(self._ask(), row.schema.returns)
        if self.above:
            return self._packed(result)
        outputs = list(result) if isinstance(result, (tuple, list)) else [result]
        outputs = [one if isinstance(one, TensorBase) else None for one in outputs]
        base = self._base()
        if base is not None:
            self._relate(base, outputs)
        single = not isinstance(result, (tuple, list))
        if any(one is not None for one in outputs):
            specs = [None if one is None else one._sig.spec for one in outputs]
            recorder = self._recorder(specs[0] if single else type(result)(specs), False)
            if recorder is not None:
                self._record(recorder, flat, outputs, result)
        return self._packed(result)

    def _record(self, recorder: Any, flat: tuple[Any, ...], outputs: list[Any], result: Tensor | None) -> None:
        chosen = recorder.differentiable
        tracked = False
        for number, output in enumerate(outputs):
            if output is None or (chosen is not None and number not in chosen):
                continue
            dtype = output._sig.spec.dtype
            if dtype.is_floating_point or dtype.is_complex:
                output._sig = output._sig.spec.tracked
                tracked = True
        if tracked:
            recorder.after(flat, result)

    def _base(self) -> Any:
        """Return the tensor that the results are views of, None for ops that make no views."""
        returns = self.row.schema.returns
        if not returns or returns[0].alias is None or returns[0].alias.is_write or "detach" in self.row.tags:
            return None
        if not (self.row.meta is not None and self.row.meta.view):
            return None
        return next(value for value in self.bound.values if isinstance(value, TensorBase))

    def _relate(self, base: TensorBase, outputs: list[Any]) -> None:
        mode = self.mode
        single = not self.row.schema.returns[0].type.is_list
        for output in outputs:
            if output is base:
                raise RuntimeError(SAME_AS_BASE)
        if base._sig.inference or mode.exclude & AUTOGRAD_MASK:
            return
        plan = Plan(self.row, run_handled)
        plan.creation = "no_grad" if not mode.grad else "default" if single else "multi_output"
        if mode.inference:
            plan.creation = "inference"
        for output in outputs:
            if output is not None:
                output._counter = base._counter
                relate(plan, base, output)

    def _packed(self, result: Tensor) -> Any:
        if not isinstance(result, (tuple, list)):
            return result
        pack = packing(self.row, result, overload=self.bound.overload)
        return result if pack is None else pack(tuple(result))


SAME_AS_BASE = (
    "View operation returned a tensor that is the same as the input base tensor.  This is no longer allowed; you must "
    "explicitly create a new tensor (e.g., using .detach()). As a user, you could have made a mistake implementing "
    "__torch_dispatch__ or a Python operator decomposition or meta registration; if that's not the case, please report a "
    "bug to PyTorch or the backend you are using."
)


def _asked_above(tensors: Sequence[TensorBase], mode: Mode) -> bool:
    """True when who is asked first stands above autograd."""
    return any(getattr(type(tensor), "above_autograd", False) for tensor in tensors) or any(
        getattr(one, "above_autograd", False) for one in mode.dispatch_modes[-1:]
    )


def call_arguments(bound: Bound) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return (args, kwargs) as handlers get them: what equals its default is left out, at the end and by keyword."""
    row, args, kwargs = bound.row, [], {}
    needed = 0
    options = {} if bound.overload or state.composing else _factory_options(row.schema, bound)
    for argument, value in zip(row.schema.arguments, bound.values, strict=True):
        name = argument.name
        if isinstance(value, tuple) and argument.type.is_list:
            value = list(value)
        value = options.get(name, value)
        default = argument.has_default and name not in options and _same(value, argument.default)
        if argument.kwarg_only:
            if not default:
                kwargs[name] = value
            continue
        args.append(value)
        if not default:
            needed = len(args)
    if bound.out is not None:
        names = [argument.name for argument in overload_call(row, bound.out).declared.out_arguments]
        for name in ("dtype", "layout", "device", "pin_memory"):
            kwargs.pop(name, None)
        outs = (bound.out,) if len(names) == 1 else bound.out
        kwargs.update(zip(names, outs, strict=True))
    return tuple(args[:needed]), kwargs


def _factory_options(schema: Schema, bound: Bound) -> dict[str, Any]:
    """Return what torch's functions fill in for a factory before they call the operator."""
    names = {argument.name: value for argument, value in zip(schema.arguments, bound.values, strict=True)}
    if not {"dtype", "layout", "device", "pin_memory"} <= names.keys():
        return {}
    options: dict[str, Any] = {"pin_memory": bool(names["pin_memory"])}
    if not any(argument.type.is_tensor for argument in schema.arguments) and names["device"] is None:
        options["device"] = get_default_device()
    return options


def _same(value: int | None, default: Any) -> bool:
    if isinstance(value, TensorBase):
        return False
    if isinstance(default, tuple):
        default = list(default)
    if isinstance(value, list) or isinstance(default, list):
        return isinstance(value, list) and value == default
    if value is None or default is None:
        return value is default
    if isinstance(default, EnumName):
        return str(value).rpartition(".")[2] == default
    return (type(value) is type(default) and bool(value == default)) or (value == default and _numbers(value, default))


def _numbers(value: object, default: object) -> bool:
    kinds = (int, float)
    return (
        isinstance(value, kinds) and isinstance(default, kinds) and isinstance(value, bool) == isinstance(default, bool)
    )


def overload_call(row: OpRow, out: object = None) -> Any:
    """Return `torch.ops`' object for the overload that is called."""
    return wired.overload_of(row, out is not None)

"""Planning of calls that write into a tensor they are given: in-place forms and `out=`."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence

from mindtorch_storage.device import device as Device
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.promotion import can_cast
from mindtorch_storage.spec import Spec
from mindtorch_storage.strides import has_internal_overlap
from mindtorch_storage.tensor_base import TensorBase

from ..apart import ANYWHERE, Apart
from ..arguments.bound import Bound, tensor_leaves
from ..execute import executor
from ..frames import frames_to_caller
from ..interface.autograd import hooks
from ..meta.checks import c_type, shape_text
from ..state import AUTOGRAD_MASK, state
from ..table import OpRow, RowKind
from .call import Call
from .out_dtypes import FREE, check_out_dtype, is_exact
from .overlap import OverlapCheck, check_overlap, refusing_overlap

_FILLS = frozenset(
    "fill_.Scalar zero_ masked_fill_.Scalar masked_fill_.Tensor index_fill_.int_Scalar index_fill_.int_Tensor index_put_ tril_ "
    "triu_".split()
)
"""Ops whose target's elements may share memory; most write one value everywhere."""


def check_writable(spec: Spec) -> None:
    """Raise torch's error for a written-to tensor whose elements overlap in memory."""
    if has_internal_overlap(spec.shape, spec.stride):
        raise RuntimeError(
            "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
            "Please clone() the tensor before performing the operation."
        )


_WITHOUT_COPY = frozenset(
    "add_ sub_ mul_ div_ logical_and_ logical_or_ logical_xor_ fill_ copy_ set_ resize_as_".split()
)
"""In-place forms that torch lets write from a meta tensor of no dimensions: nothing is computed."""


def _cannot_copy(source: Device, target: Device) -> RuntimeError:
    return RuntimeError(
        f"Attempting to copy from device {source} to device {target}, but cross-device copies are not allowed!"
    )


def check_out_device(row: OpRow, source: Device, target: Device) -> None:
    """Raise torch's error where a result on the device `source` is to be written to an `out=` tensor on another."""
    if source == target:
        return
    if "meta" not in (source.type, target.type):
        raise RuntimeError(
            f"Expected all tensors to be on the same device, but found at least two devices, {source} and {target}!"
        )
    if is_exact(row):
        raise RuntimeError(f"Expected out tensor to have device {source}, but got {target} instead")
    raise _cannot_copy(source, target)


def check_inference(target: TensorBase) -> None:
    """Raise torch's error when a tensor made in inference mode is written outside of it."""
    if target._sig.inference and not state.mode.inference:
        raise RuntimeError(
            "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal "
            "tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details."
        )


_C_NAMES = frozenset("clamp_ clamp_min_ clamp_max_ clamp.out clamp_min.out clamp_max.out".split())
"""The rows whose text has the C++ name of the target's dtype."""


def check_result_type(result: Dtype, target: Dtype, row: OpRow | None = None) -> None:
    """Raise torch's error when a result of dtype `result` must not be written to a tensor of dtype `target`."""
    if not can_cast(result, target):
        name = c_type(target) if row is not None and row.name in _C_NAMES else target.scalar_name
        raise RuntimeError(f"result type {result.scalar_name} can't be cast to the desired output type {name}")


def _check_same(result: Spec, spec: Spec) -> None:
    """Raise torch's error where the result of an op that broadcasts and converts nothing does not fit its target."""
    if result.shape != spec.shape:
        raise RuntimeError(
            f"Bad in-place call: input tensor size {shape_text(spec.shape)} and output tensor size "
            f"{shape_text(result.shape)} should match"
        )
    if result.dtype is not spec.dtype:
        raise RuntimeError(
            f"Bad in-place call: input tensor dtype {c_type(spec.dtype)} and output tensor dtype "
            f"{c_type(result.dtype)} should match"
        )


def look_at_memory(call: Call) -> None:
    """Raise torch's error for the memory of a call that is refused, of an op that looks at memory first."""
    row = call.row
    if call.function is not None or not (isinstance(row.apart, Apart) and row.apart.first):
        return
    written = call.bound.values[:1] if row.kind.writes else call.outs
    for target in written:
        if not isinstance(target, TensorBase):
            continue
        if row.name not in _FILLS:
            check_writable(target._sig.spec)
        for place, value in enumerate(call.bound.values):
            kind = row.apart.places.get(place, row.apart.every)
            for other in tensor_leaves((value,)) if kind and (place or not row.kind.writes) else ():
                check_overlap(target, other, kind)


def check_target(call: Call) -> None:
    """Raise torch's error where the call writes its first argument, but must not, or cannot fit the result into it."""
    row, plan = call.row, call.plan
    target = call.bound.values[0] if row.kind.writes and call.function is None else None
    if not isinstance(target, TensorBase):
        return
    if call.recorder is not None and not row.meta.view:
        call.recorder.check(target)
    check_inference(target)
    if row.meta.view:
        return
    plan.before = refusing_overlap(call)
    spec = target._sig.spec
    if call.device.type == "meta" != spec.device.type and row.packet not in _WITHOUT_COPY:
        raise _cannot_copy(call.device, spec.device)
    if row.name not in _FILLS:
        check_writable(spec)
    if row.kind is RowKind.INPLACE:
        _check_result(call, target, spec)


def _check_result(call: Call, target: TensorBase, spec: Spec) -> None:
    row, result = call.row, call.answer.specs
    if row.meta.exact:
        _check_same(result, spec)
    if result.shape != spec.shape:
        if isinstance(call.plan.before, OverlapCheck):  # torch looks at memory before it looks at shapes
            call.plan.before.look(target, call.bound.flat)
        raise RuntimeError(
            f"output with shape {shape_text(spec.shape)} doesn't match the broadcast shape {shape_text(result.shape)}"
        )
    if row.packet == "abs_" and spec.dtype.is_complex:
        raise RuntimeError("In-place abs is not supported for complex tensors.")
    check_result_type(result.dtype, spec.dtype, row)


RESIZE_WARNING = (
    "An output with one or more elements was resized since it had shape {had}, which does not match the required "
    "output shape {need}. This behavior is deprecated, and in a future PyTorch release outputs will not be resized "
    "unless they have zero elements. You can explicitly reuse an out tensor t by resizing it, inplace, to zero "
    "elements with t.resize_(0)."
)


COUNTED_WARNING = (
    "The number of elements in the out tensor of shape {had} is {count} which does not match the computed number of "
    "elements {length}. Note that this may occur as a result of rounding error. The out tensor will be resized to a tensor "
    "of shape ({length},)."
)


_COUNTED = frozenset(("arange", "fft_fftfreq", "fft_rfftfreq"))
_RESIZING = frozenset("empty zeros ones full eye rand randn randint randperm normal linspace logspace range".split())
"""Factories that give their `out=` another shape without a word."""


def prepare_target(target: TensorBase, spec: Spec, packet: str = "") -> None:
    """Give an `out=` tensor the shape of the result, warning as torch does when that discards elements."""
    had = target._sig.spec
    if had.shape == spec.shape:
        return
    if had.numel != 0 and packet not in _RESIZING:
        text = RESIZE_WARNING.format(had=shape_text(had.shape), need=shape_text(spec.shape))
        if packet in _COUNTED:
            text = COUNTED_WARNING.format(had=shape_text(had.shape), count=had.numel, length=spec.numel)
        warnings.warn(text, UserWarning, stacklevel=frames_to_caller())
    wanted = Spec.of(had.dtype, had.device, spec.shape, spec.stride)
    storage = target._materialized_storage()
    needed = target._offset * had.itemsize + wanted.nbytes
    if storage.nbytes() < needed:
        storage.resize_(needed)
    executor.rebind_geometry(target, wanted, storage, target._offset)


def adopt_options(bound: Bound) -> None:
    """Make a factory's dtype and device those of its `out=` tensor; torch's error where another dtype is given.

    Rules that adopt only do so where no dtype is given; their in-place forms keep the dtype too.
    """
    names = [argument.name for argument in bound.row.schema.arguments]
    target = bound.values[0] if bound.row.kind is RowKind.INPLACE else bound.out
    if not isinstance(target, TensorBase):
        return
    spec = target._sig.spec
    if getattr(bound.row.meta, "adopts", False):
        place = names.index("dtype")
        bound.values[place] = bound.values[place] or spec.dtype
        return
    if "pin_memory" not in names:
        return
    if "memory_format" in names and bound.values[names.index("memory_format")] is not None:
        raise RuntimeError("'memory_format' argument is incompatible with 'out' tensor argument")
    place = names.index("dtype")
    given = bound.values[place]
    if bound.sources[place] is not None and given is not None and given is not spec.dtype:
        raise RuntimeError(
            f"dtype {given.scalar_name} does not match dtype of out parameter ({spec.dtype.scalar_name})"
        )
    bound.values[place] = spec.dtype
    bound.values[names.index("device")] = spec.device
    if "size" in names and bound.row.packet != "empty":
        _check_count(bound.values[names.index("size")])


def _check_count(size: Sequence[int]) -> None:
    """Refuse a size that an `out=` cannot be given: below zero, or of more elements than torch counts."""
    if any(extent < 0 for extent in size) or math.prod(size) >= 2**63:
        raise RuntimeError("numel: integer multiplication overflow")


COPIED_OUT = frozenset(
    """
    _chunk_cat alias_copy as_strided_copy conj_physical diag diagonal_copy expand_copy histogram inner linalg_cond
    linalg_eigvals linalg_ldl_factor linalg_matrix_norm linalg_norm linalg_tensorinv
    linalg_tensorsolve log_softmax nanquantile quantile permute_copy slice_scatter softmax special_log_softmax
    special_ndtr special_softmax split_copy split_with_sizes_copy squeeze_copy t_copy transpose_copy unbind_copy
    unfold_copy unsqueeze_copy view_copy
    """.split()
)
"""Ops whose result torch copies into `out=` at the end, so that a gradient is no obstacle."""

CHECKED_OUT = {
    "matmul": "matmul", "linalg_matmul": "matmul", "linear": "linear", "nanmean": "nansum", "kron": "mul",
}  # fmt: skip
"""Composed ops that torch checks before it composes, and the op that the error names."""


def check_out_grad(row: OpRow, targets: Sequence[TensorBase], tensors: Sequence[TensorBase]) -> None:
    """Raise torch's error when `out=` is used where a gradient would be recorded: where the op has a derivative."""
    by_number = row.packet == "inner" and not all(tensor._sig.spec.ndim for tensor in tensors)
    if not state.mode.records or (row.packet in COPIED_OUT and not by_number):
        return
    named = "mul" if by_number else CHECKED_OUT.get(row.packet)
    if named or hooks.has_formula(row):
        refuse_recorded(named or row.packet, [*tensors, *targets])


def refuse_recorded(packet: str, tensors: Sequence[TensorBase]) -> None:
    """Raise torch's error for `out=` of the op `packet` where one of the tensors requires grad."""
    if any(tensor._sig.requires_grad for tensor in tensors):
        raise RuntimeError(
            f"{packet}(): functions with out=... arguments don't support automatic differentiation, "
            f"but one of the arguments requires grad."
        )


def refuse_recorded_write(call: Call) -> None:
    """Raise autograd's objection to a write before any argument is looked at, as torch's functions with a derivative do."""
    if call.function is not None or not call.mode.records or call.mode.exclude & AUTOGRAD_MASK:
        return
    if call.outs:
        check_out_grad(call.row, call.outs, call.tensors)
        return
    if not call.row.kind.writes:
        return
    arguments, values = call.row.schema.arguments, call.bound.values
    tracked = any(tensor._sig.requires_grad for tensor in call.tensors)
    if not (tracked and arguments[0].is_write and isinstance(values[0], TensorBase)):
        return
    if not (values[0]._sig.inference and call.row.meta.view):  # that it is an inference tensor is said first
        hooks.refuse_write(call.row, values[0])


def check_out(call: Call) -> None:
    """Raise torch's error where the tensors given as `out=` cannot take the results."""
    row, specs = call.row, call.answer.specs
    results = [specs] if isinstance(specs, Spec) else list(specs)
    for place, (target, spec) in enumerate(zip(call.outs, results, strict=True)):
        check_inference(target)
        check_out_device(row, spec.device, target.device)
        if row.name != "abs" or not _takes_magnitudes(call.tensors[0].dtype, target.dtype):
            check_out_dtype(row, spec, target.dtype, place)
        if row.name not in FREE:
            check_result_type(spec.dtype, target.dtype, row)
        # Where torch refuses operands that share memory with the result, it looks before it resizes.
        fits = target._sig.spec.shape == spec.shape and not row.meta.repeats_ok
        if row.apart is not ANYWHERE or row.meta.aliases_ok or fits:
            check_writable(target._sig.spec)
        if row.meta.aliases_ok:
            _check_kept(target, call.tensors, spec)


def _takes_magnitudes(operand: Dtype, target: Dtype) -> bool:
    """Return whether an `out=` tensor may be of a dtype that magnitudes are not: those of complex numbers are converted."""
    if operand.is_complex and target.is_complex and target is not operand:
        raise RuntimeError(f"Found dtype {target.scalar_name} but expected {operand.scalar_name}")
    return operand.is_complex


def _check_kept(target: TensorBase, operands: Sequence[TensorBase], result: Spec) -> None:
    """Raise torch's error where an elementwise op would resize an `out=` tensor that it reads."""
    had = target._sig.spec.shape
    if had != result.shape and any(operand is target for operand in operands):
        raise RuntimeError(
            f"output with shape {shape_text(had)} doesn't match the broadcast shape {shape_text(result.shape)}"
        )

"""Routing of a call's values to a kernel's operands: sources, constants, casts, rounding, packing of results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindtorch_storage.device import device as Device
from mindtorch_storage.dtype import bfloat16, complex32, complex64, float16, float32
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.spec import Spec
from mindtorch_storage.tensor_base import TensorBase

from ..execute.errstate import SILENT, enter, leave
from ..meta.rule import Outputs
from ..table import Kernel, OpRow
from .plan import Plan

WIDER = {float16: float32, bfloat16: float32, complex32: complex64}
"""The types that kernels compute in another one, whose results are rounded once."""


class Bound:
    """A call matched to an overload.

    `values` are in schema order; `sources[i]` is the position in `flat` (positional arguments, then keyword values)
    that `values[i]` came from, or None for a default or a converted value. `out` is the `out=` argument.
    `cacheable` is False when a value was read out of a tensor or converted in a way the plan key does not show.
    """

    __slots__ = ("cacheable", "flat", "out", "overload", "out_source", "requires_grad", "row", "sources", "values")

    def __init__(self, row: OpRow, values: list[Any], sources: list[int | None], flat: tuple[Any, ...]) -> None:
        self.row = row
        self.values = values
        self.sources = sources
        self.flat = flat
        self.out: Any = None
        self.out_source: int | None = None
        self.requires_grad = False
        self.cacheable = True
        self.overload = False


def tensor_leaves(values: Sequence[Any]) -> list[TensorBase]:
    """Return the tensors among `values`, those inside lists included."""
    found = []
    for value in values:
        if isinstance(value, TensorBase):
            found.append(value)
        elif isinstance(value, (list, tuple)):
            found.extend(item for item in value if isinstance(item, TensorBase))
    return found


def to_specs(values: Sequence[Any]) -> list[Any]:
    """Return `values` with every tensor replaced by its spec."""
    specs: list[Any] = []
    for value in values:
        if isinstance(value, TensorBase):
            specs.append(value._sig.spec)
        elif isinstance(value, (list, tuple)) and any(isinstance(item, TensorBase) for item in value):
            specs.append([item._sig.spec if isinstance(item, TensorBase) else item for item in value])
        else:
            specs.append(value)
    return specs


def fill_plan(plan: Plan, bound: Bound, answer: Outputs, kernel: Kernel | None) -> None:
    """Set the operand routing: constants, tensor and scalar sources, casts."""
    given = answer.values if answer.values is not None else bound.values
    values, tensors, scalars, lists = list(given), [], [], []
    casts: list[tuple[int, Any]] = []
    arguments = bound.row.schema.arguments
    for index, value in enumerate(bound.values):
        source = bound.sources[index]
        if isinstance(value, TensorBase):
            tensors.append((index, source))
            if index < len(values) and values[index] is value:
                values[index] = None  # plans outlive calls and must not keep their tensors
            cast = _cast_of(answer.cast, index, value._sig.spec.dtype, kernel)
            if cast is not None:
                casts.append((index, cast))
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
    plan.prepare = _preparation(scalars, lists, casts, wrapped, ints, values, rounded)


def _is_operand(arguments: Sequence[Any], index: int) -> bool:
    """False for dimensions, sizes and the like, which a cast of the operands leaves as they are."""
    return index >= len(arguments) or arguments[index].type.kind not in ("int", "SymInt")


def _varies(argument: Any, value: Any, row: OpRow) -> bool:
    if row.static is True or argument.name in row.static:
        return False
    if argument.type.kind == "Generator":
        return True
    return isinstance(value, (int, float, complex)) and (
        argument.type.kind in ("Scalar", "float", "Tensor") or row.key is not None or argument.name in row.moves
    )


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
) -> Callable[..., None] | None:
    """Return the function that fills what is not a plain tensor operand, None when there is nothing else."""
    narrow = wrapped.np.type if wrapped is not None and wrapped.np.kind in "iu" else None
    if narrow is not None:
        for index in ints:
            constants[index] = _wrap_int(constants[index], wrapped)
    if not (scalars or lists or casts):
        return None

    def prepare(plan: Plan, values: list[Any], flat: tuple[Any, ...]) -> None:
        for index, source in scalars:
            value = flat[source]
            values[index] = _wrap_int(value, wrapped) if narrow is not None and type(value) is int else value
        for index in rounded:
            values[index] = _rounded(values[index], wrapped)
        for index, source in lists:
            values[index] = [None if item is None else item._array for item in flat[source]]
        for index, np_dtype in casts:
            value = values[index]
            if type(value) is list:
                values[index] = [None if item is None else _converted(item, np_dtype) for item in value]
            elif value.dtype.names is None:
                values[index] = value.astype(np_dtype)
            else:
                values[index] = _converted(value, np_dtype)

    return prepare


_HALVES = (float16, bfloat16)


def _rounded(value: Any, dtype: Any) -> float:
    token = enter(SILENT)
    try:
        return float(dtype.np.type(value))
    finally:
        leave(token)


def _wrap_int(value: int, dtype: Dtype | None) -> Any:
    """Return `value` as the dtype holds it: two's complement, no overflow error."""
    bits = dtype.itemsize * 8
    value &= (1 << bits) - 1
    if dtype.np.kind == "i" and value >> (bits - 1):
        value -= 1 << bits
    return dtype.np.type(value)


def missing_kernel(row: OpRow, device: Device, dtype: Dtype | None) -> NotImplementedError:
    """Return the error for an op without a kernel on this device; torch's where results depend on bytes that meta lacks."""
    if device.type == "meta":
        return NotImplementedError(
            f"{row.aten_name}: attempted to run this operator with Meta tensors, but there was no fake impl or Meta kernel "
            "registered. You may have run into this message while using an operator with PT2 compilation APIs "
            "(torch.compile/torch.export); in order to use this operator with those APIs you'll need to add a fake impl. "
            "Please see the following for next steps:  https://pytorch.org/tutorials/advanced/custom_ops_landing_page.html"
        )
    return NotImplementedError(
        f"{row.aten_name}: no kernel for device '{device.type}'"
        + (f" (dtype {dtype})" if dtype is not None else "")
        + f"; add one in the backend's ops (see CONTRIBUTING.md), or compose {row.name!r} from other ops"
    )


def _converted(value: Any, np_dtype: Any) -> Any:
    """Return the array in another type; complex32 is a pair of halves to numpy, which cannot convert it."""
    if value.dtype.names is None or value.dtype == np_dtype:
        return value.astype(np_dtype, copy=False)
    pairs = np.empty(value.shape, np.complex64)
    pairs.real, pairs.imag = value["real"], value["imag"]
    return pairs.astype(np_dtype, copy=False)


def _round_into(out: Any, wide: Any) -> None:
    if out.dtype.names is None:
        out[...] = wide
    else:
        out["real"][...], out["imag"][...] = wide.real, wide.imag


def rounding(kernel: Kernel, outputs: Sequence[Spec]) -> Callable[..., None]:
    """Return the kernel's function, wrapped so that outputs of the types in `WIDER` are computed wider and rounded."""
    wider = [None if spec is None or spec.dtype not in WIDER else WIDER[spec.dtype].np for spec in outputs]
    if not kernel.upcast or kernel.halves or not any(wider):
        return kernel.fn
    fn = kernel.fn
    if len(outputs) == 1:
        only = wider[0]
        assign = _round_into if outputs[0].dtype is complex32 else _assign

        def rounded(out: Any, *values: Any) -> None:
            wide = np.empty(out.shape, only)
            fn(wide, *values)
            assign(out, wide)

        return rounded

    def rounded_each(outs: tuple[Any, ...], *values: Any) -> None:
        wide = tuple(out if kind is None else np.empty(out.shape, kind) for out, kind in zip(outs, wider, strict=True))
        fn(wide, *values)
        for out, value, kind in zip(outs, wide, wider, strict=True):
            if kind is not None:
                _round_into(out, value)

    return rounded_each


def _assign(out: Any, wide: Any) -> None:
    out[...] = wide


def packing(row: OpRow, specs: Any, *, out: bool = False, overload: bool = False) -> Callable[..., Any] | None:
    """Return the function that makes the call's result of a tuple of tensors, None for a single tensor.

    Python's functions return tuples, named where the row says so; `torch.ops` overloads return what the schema says.
    """
    if isinstance(specs, Spec):
        return None
    returns = row.schema.returns
    if overload:
        return list if returns and returns[0].type.is_list else tuple
    if row.pack is not None:
        return row.pack.for_out() if out else row.pack
    return tuple

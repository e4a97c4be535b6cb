"""How results are packed, allocated and rounded: what routing and the executor's helpers know of outputs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindtorch_storage.deferred import MOST_DIMENSIONS, check_dimensions
from mindtorch_storage.device import device as Device
from mindtorch_storage.dtype import bfloat16, complex32, complex64, float16, float32
from mindtorch_storage.spec import Spec

from ..execute.arrays import array_types
from ..execute.executor import strided_alloc
from ..meta.rule import View
from ..table import Kernel, OpRow

WIDER = {float16: float32, bfloat16: float32, complex32: complex64}
"""The types that kernels compute in another one, whose results are rounded once."""


_MOST_BYTES = 2**63 - 1
_CPU = Device("cpu")


def _check_addressable(spec: Spec) -> None:
    """Refuse extents and steps that no array can have; an array counts its other extents even where one is 0."""
    if spec.numel and spec.is_contiguous:  # its bytes were counted
        return
    if not spec.numel and spec.ndim and max(spec.stride) > _MOST_BYTES:
        raise RuntimeError("Stride calculation overflowed")
    extents = [extent for extent in spec.shape if extent > 1]
    if math.prod(extents) * spec.itemsize > _MOST_BYTES:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(spec.shape)}")
    if spec.is_contiguous or not spec.numel:
        return
    steps = [(extent - 1) * step for extent, step in zip(spec.shape, spec.stride, strict=True)]
    if min(steps) < 0 or (1 + sum(steps)) * spec.itemsize > _MOST_BYTES:
        raise RuntimeError(
            f"Storage size calculation overflowed with sizes={list(spec.shape)} and strides={list(spec.stride)}"
        )


def allocator(spec: Spec, name: str) -> Callable[..., Any]:
    """Return what makes the array of an output of the op `name`; refuses a geometry that no memory or array can have."""
    if spec.is_contiguous and spec.ndim <= MOST_DIMENSIONS and 0 < spec.nbytes <= _MOST_BYTES and spec.device is _CPU:
        return np.empty
    if spec.nbytes > _MOST_BYTES:
        raise RuntimeError(f"Storage size calculation overflowed with sizes={list(spec.shape)}")
    if spec.device.type != "meta":
        check_dimensions(spec.ndim, name)
        _check_addressable(spec)
    arrays = array_types.get(spec.device.type)
    if arrays is not None:
        return lambda shape, np_dtype: arrays.empty(spec)
    return np.empty if spec.is_contiguous else strided_alloc(spec)


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

        def rounded(out: Any, *values: object) -> None:
            wide = np.empty(out.shape, only)
            fn(wide, *values)
            assign(out, wide)

        return rounded

    def rounded_each(outs: tuple[Any, ...], *values: object) -> None:
        wide = tuple(out if kind is None else np.empty(out.shape, kind) for out, kind in zip(outs, wider, strict=True))
        fn(wide, *values)
        for out, value, kind in zip(outs, wide, wider, strict=True):
            if kind is not None:
                _round_into(out, value)

    return rounded_each


def _assign(out: Any, wide: Any) -> None:
    out[...] = wide


def packing(row: OpRow, specs: object, *, out: bool = False, overload: bool = False) -> Callable[..., Any] | None:
    """Return the function that makes the call's result of a tuple of tensors, None for a single one.

    Python's functions return tuples, named where the row says so; `torch.ops` overloads return what the schema says.
    """
    if isinstance(specs, (Spec, View)):
        return None
    returns = row.schema.returns
    if overload:
        return list if returns and returns[0].type.is_list else tuple
    if row.pack is not None:
        found: Callable[..., Any] | None = row.pack.for_out() if out else row.pack
        return found
    return tuple

"""Arithmetic of device arrays, for rows that are composed of several of the vendor's operators."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from mindtorch_npu.backend.arrays import DeviceArray, from_host, new_array
from mindtorch_npu.backend.binding import launch
from mindtorch_npu.backend.register import Operator

BOOL, INT64 = np.dtype(bool), np.dtype(np.int64)


@cache
def _operator(name: str) -> Operator:
    return Operator(name)


def apply(name: str, shape: Sequence[int], dtype: Any, *inputs: object) -> DeviceArray:
    """Return what operator `name` makes of the inputs, in a new array."""
    like = next(one for one in inputs if isinstance(one, DeviceArray))
    made = new_array(tuple(shape), np.dtype(dtype), like.device)
    if made.size:
        _operator(name)((made,), inputs)
    return made


def into(out: DeviceArray, name: str, *inputs: object) -> None:
    """Let operator `name` fill `out`."""
    if out.size:
        _operator(name)((out,), inputs)


def each(name: str, x: DeviceArray, *rest: object, dtype: object = None) -> DeviceArray:
    """Return an elementwise function of one array."""
    return apply(name, x.shape, dtype or x.dtype, x, *rest)


def both(name: str, x: DeviceArray, y: Any, *rest: object, dtype: object = None) -> DeviceArray:
    """Return an elementwise function of two arrays, or of an array and a number where the operator takes one."""
    shape = np.broadcast_shapes(x.shape, y.shape) if isinstance(y, DeviceArray) else x.shape
    return apply(name, shape, dtype or x.dtype, x, y, *rest)


def add(x: DeviceArray, y: Any) -> DeviceArray:
    """x + y"""
    return both("Add" if isinstance(y, DeviceArray) else "Adds", x, y, 1)


def sub(x: DeviceArray, y: Any) -> DeviceArray:
    """x - y"""
    return both("Sub" if isinstance(y, DeviceArray) else "Subs", x, y, 1)


def mul(x: DeviceArray, y: Any) -> DeviceArray:
    """x * y"""
    return both("Mul" if isinstance(y, DeviceArray) else "Muls", x, y)


def div(x: DeviceArray, y: DeviceArray) -> DeviceArray:
    """x / y"""
    return both("Div" if isinstance(y, DeviceArray) else "Divs", x, y)


def compare(name: str, x: DeviceArray, y: Any) -> DeviceArray:
    """Return the truth of `Eq`, `Ne`, `Lt`, ..., elementwise."""
    return both(name + ("Tensor" if isinstance(y, DeviceArray) else "Scalar"), x, y, dtype=BOOL)


def where(mask: DeviceArray, x: DeviceArray, y: DeviceArray) -> DeviceArray:
    """Return x where the mask holds, y elsewhere."""
    shape = np.broadcast_shapes(mask.shape, x.shape, y.shape)
    return apply("SWhere", shape, x.dtype, mask, x, y)


def filled(like: DeviceArray, value: object, shape: Sequence[int] | None = None, dtype: Any = None) -> DeviceArray:
    """Return an array of one number."""
    made = new_array(like.shape if shape is None else tuple(shape), np.dtype(dtype or like.dtype), like.device)
    if made.size:
        launch("aclnnInplaceFillScalar", [made, value])
    return made


def copied(out: DeviceArray, x: DeviceArray) -> None:
    """Write `x` into `out`, broadcasting and converting."""
    if out.size:
        launch("aclnnInplaceCopy", [out, x])


def constant(values: object, like: DeviceArray) -> DeviceArray:
    """Return numbers that follow from the geometry alone, uploaded."""
    return from_host(np.ascontiguousarray(values), like.device)


def reshaped(x: DeviceArray, shape: Sequence[int]) -> DeviceArray:
    """Return the elements in another shape, copied where they do not lie in order."""
    x = x.packed()
    steps, step = [], 1
    for extent in reversed(shape):
        steps.append(step)
        step *= max(1, extent)
    return DeviceArray(x.storage, shape, x.dtype, reversed(steps), x.offset, x.base)


def permuted(x: DeviceArray, order: Sequence[int]) -> DeviceArray:
    """Return a view with the dimensions in another order."""
    shape, steps = [x.shape[axis] for axis in order], [x.steps[axis] for axis in order]
    return DeviceArray(x.storage, shape, x.dtype, steps, x.offset, x.base)


def transposed(x: DeviceArray) -> DeviceArray:
    """Return a view with the last two dimensions exchanged."""
    return permuted(x, [*range(x.ndim - 2), x.ndim - 1, x.ndim - 2])


def cut(x: DeviceArray, axis: int, begin: int, end: int) -> DeviceArray:
    """Return the view of the positions from `begin` to `end` along one dimension."""
    axis %= x.ndim
    shape = [end - begin if place == axis else n for place, n in enumerate(x.shape)]
    return DeviceArray(x.storage, shape, x.dtype, x.steps, x.offset + begin * x.steps[axis], x.base)


def expanded(x: DeviceArray, shape: Sequence[int]) -> DeviceArray:
    """Return the view broadcast to a shape."""
    lead = len(shape) - x.ndim
    steps = [0] * lead + [0 if n == 1 else step for n, step in zip(x.shape, x.steps, strict=True)]
    return DeviceArray(x.storage, shape, x.dtype, steps, x.offset, x.base)


def component(x: DeviceArray, imaginary: bool) -> DeviceArray:
    """Return the view of a complex array's real or imaginary parts."""
    real = np.dtype(np.float32 if x.dtype.itemsize == 8 else np.float64)
    steps = [2 * step for step in x.steps]
    return DeviceArray(x.storage, x.shape, real, steps, 2 * x.offset + int(imaginary), x.base)


def matmul(x: DeviceArray, y: DeviceArray) -> DeviceArray:
    """Return the product of matrices, in batches."""
    lead = np.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    return apply("Matmul", (*lead, x.shape[-2], y.shape[-1]), x.dtype, x, y)

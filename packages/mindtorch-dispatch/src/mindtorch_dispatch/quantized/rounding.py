"""From numbers to integers and back, rounded where torch's kernels round."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.dtype import float32, float64, int32, qint32, uint8
from mindtorch_storage.quantized import FLOAT_PARAMETERS, INTEGERS, PACKED, PER_TENSOR, RANGES, Quantizer

from ..call import aten, namespace
from ..meta.checks import check
from ..typing import Tensor
from .tensors import checked, integer_dtype, integers, new, quantizer

NAMESPACE = namespace("quantized")
"""The operators of integers that stand for numbers."""


def single(number: float) -> float:
    """Return a number as float32 holds it."""
    return float(np.float32(number))


def _inverse(scale: float) -> float:
    with np.errstate(divide="ignore"):
        return float(np.float32(1) / np.float32(scale))


def levels(values: Tensor, scale: float, zero_point: int, dtype: Dtype) -> Any:
    """Return the integers that stand for float32 numbers; half goes to even."""
    if dtype in PACKED:
        return _rounded(values, scale, zero_point, dtype)
    return NAMESPACE._levels(values, scale, zero_point, dtype)


def composed_levels(self: Tensor, scale: float, zero_point: int, dtype: Dtype) -> Any:
    """`quantized::_levels` on devices that have no kernel for it."""
    return aten._to_copy(_rounded(self, scale, zero_point, dtype), dtype=INTEGERS[dtype])


def _rounded(values: Tensor, scale: float, zero_point: int, dtype: Dtype) -> Any:
    """Return `levels` as float64.

    Those of 8 bits come of one fused multiplication and addition, those of 32 bits of two roundings, as in torch.
    """
    inverse = _inverse(scale)
    if dtype is qint32:
        product = aten.mul(aten._to_copy(values, dtype=float32), inverse)
        level = aten.add(product, float(zero_point))
    else:
        level = aten._to_copy(
            aten.add(aten.mul(aten._to_copy(values, dtype=float64), inverse), float(zero_point)), dtype=float32
        )
    return clamped(aten._to_copy(aten.round(level), dtype=float64), dtype)


def clamped(level: Tensor, dtype: Dtype) -> Any:
    """Return whole numbers in the range of a quantized dtype."""
    least, most = RANGES[dtype]
    return aten.clamp(aten.nan_to_num(level, float(least if dtype is qint32 else most)), least, most)


def packed(level: Tensor, dtype: Dtype) -> Any:
    """Return integers of 4 or 2 bits, several to a byte, the first in its lowest bits."""
    count = PACKED[dtype]
    flat = aten._to_copy(aten.reshape(level, [-1]), dtype=int32)
    missing = -flat.shape[0] % count
    if missing:
        flat = aten.cat([flat, aten.zeros([missing], dtype=int32, device=flat.device)])
    columns = aten.unbind(aten.reshape(flat, [-1, count]), 1)
    total = columns[0]
    for place, column in enumerate(columns[1:], 1):
        total = aten.add(total, aten.mul(column, 1 << (place * 8 // count)))
    return aten._to_copy(total, dtype=uint8)


def unpacked(tensor: Tensor) -> Any:
    """Return the integers of a tensor that keeps several in a byte, in its shape."""
    count = PACKED[tensor.dtype]
    bits = 8 // count
    whole = aten._to_copy(integers(tensor), dtype=int32)
    columns = [
        aten.bitwise_and(aten.bitwise_right_shift(whole, place * bits), (1 << bits) - 1) for place in range(count)
    ]
    flat = aten.reshape(aten.stack(columns, 1), [-1])
    return aten.reshape(aten.narrow(flat, 0, 0, tensor.numel()), list(tensor.shape))


def _finished(level: Tensor, dtype: Dtype, given: Quantizer) -> Any:
    if dtype in PACKED:
        return new(packed(level, dtype), dtype, given, tuple(level.shape))
    return new(level, dtype, given)


def check_parameters(name: str, zero_point: int, dtype: Dtype) -> None:
    """Refuse a zero point outside of the range of the dtype."""
    least, most = RANGES[dtype]
    check(zero_point <= most, lambda: f"{name} zero_point {zero_point} is above upper bound.")
    check(zero_point >= least, lambda: f"{name} zero_point {zero_point} is below lower bound.")


def quantize(values: Tensor, scale: float, zero_point: int, dtype: Dtype) -> Any:
    """Return the quantized tensor of numbers with one scale and zero point."""
    integer_dtype(dtype)
    check(values.dtype is float32, lambda: f"Quantize only works on Float Tensor, got {values.dtype.scalar_name}")
    if dtype not in PACKED:
        check_parameters("quantize_tensor_per_tensor_affine", zero_point, dtype)
    return _finished(levels(values, scale, zero_point, dtype), dtype, Quantizer(scale, zero_point))


def along(parameters: Tensor, axis: int, rank: int) -> Any:
    """Return one number for each index of a dimension, in a shape that broadcasts."""
    shape = [1] * rank
    shape[axis] = -1
    return aten.reshape(parameters, shape)


def quantize_channels(values: Tensor, given: Quantizer, dtype: Dtype) -> Any:
    """Return the quantized tensor of numbers with a scale and zero point for each index of a dimension."""
    rank, axis = values.dim(), given.axis
    assert axis is not None
    inverse = aten.reciprocal(aten._to_copy(along(given.scale, axis, rank), dtype=float32))
    zero_point = aten._to_copy(along(given.zero_point, axis, rank), dtype=float32)
    level = aten.round(aten.add(aten.mul(values, inverse), zero_point))
    whole = clamped(aten._to_copy(level, dtype=float64), dtype)
    return _finished(whole if dtype in PACKED else aten._to_copy(whole, dtype=INTEGERS[dtype]), dtype, given)


def requantized(values: Tensor, given: Quantizer, dtype: Dtype) -> Any:
    """Return the integers that stand for numbers under a quantizer."""
    if given.scheme is PER_TENSOR:
        return levels(values, given.scale, given.zero_point, dtype)
    return integers(quantize_channels(values, given, dtype))


def whole_numbers(tensor: Tensor) -> Any:
    """Return the integers of a quantized tensor in its shape, also those that are packed."""
    return unpacked(tensor) if tensor.dtype in PACKED else integers(tensor)


def composed_numbers(self: Tensor, scale: float, zero_point: int) -> Any:
    """`quantized::_numbers` on devices that have no kernel for it."""
    difference = aten._to_copy(aten.sub(aten._to_copy(self, dtype=int32), zero_point), dtype=float32)
    return aten.mul(difference, single(scale))


def dequantize(tensor: Tensor) -> Any:
    """Return the float32 numbers that a quantized tensor stands for."""
    given = quantizer(tensor)
    whole = whole_numbers(tensor)
    if given.scheme is PER_TENSOR:
        return NAMESPACE._numbers(whole, given.scale, given.zero_point)
    rank, axis = tensor.dim(), checked(given, tensor.shape, "dequantization").axis
    assert axis is not None
    scales, zero_points = along(given.scale, axis, rank), along(given.zero_point, axis, rank)
    if given.scheme is FLOAT_PARAMETERS:
        return aten.mul(aten.sub(aten._to_copy(whole, dtype=float32), zero_points), scales)
    exact = aten.mul(aten.sub(aten._to_copy(whole, dtype=float64), zero_points), scales)
    return aten._to_copy(exact, dtype=float32)

"""Quantized tensors: making them of numbers or integers, and their parts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.dtype import float32, float64, int8, int32, int64, qint8, qint32, quint8, uint8
from mindtorch_storage.quantized import INTEGERS, PACKED, PER_TENSOR, Quantizer

from ..call import aten
from ..meta.checks import check
from ..meta.memory_format import suggested
from ..meta.support import lacking
from ..quantized.rounding import check_parameters, levels, quantize, quantize_channels, single
from ..quantized.rounding import dequantize as numbers_of
from ..quantized.tensors import (
    checked,
    empty,
    integer_dtype,
    integers,
    is_quantized,
    new,
    per_channel,
    per_tensor,
    quantizer,
)
from ..typing import Tensor

_QUANTIZED = {uint8: quint8, int8: qint8, int32: qint32}


def quantize_per_tensor(self: Tensor, scale: float, zero_point: int, dtype: Dtype) -> Any:
    """One scale and zero point for all elements."""
    return quantize(aten.detach(self), scale, zero_point, dtype)


def quantize_by_tensors(self: Tensor, scale: Tensor, zero_point: Tensor, dtype: Dtype) -> Any:
    """One scale and zero point, in tensors."""
    return quantize_per_tensor(self, scale.item(), int(zero_point.item()), dtype)


def quantize_each(tensors: Any, scales: Tensor, zero_points: Tensor, dtype: Dtype) -> list[Any]:
    """Several tensors, each with a scale and zero point of its own."""
    pairs = zip(tensors, scales.tolist(), zero_points.tolist(), strict=True)
    return [quantize_per_tensor(one, scale, int(zero_point), dtype) for one, scale, zero_point in pairs]


def choose_parameters(
    low: float, high: float, least: int, most: int, preserve_sparsity: bool = False
) -> tuple[float, int]:
    """Return the scale and zero point with which integers from `least` to `most` cover numbers from `low` to `high`."""
    check(low <= high, lambda: "In ChooseQuantizationParams, min should be less than or equal to max")
    low, high = min(low, 0.0), max(high, 0.0)
    scale = (high - low) / (most - least)
    scale = single(scale)
    if scale == 0.0 or 1.0 / scale == float("inf"):
        scale = 0.1
    if scale < _SMALLEST:
        kept, scale = scale, _SMALLEST
        if low == 0.0:
            high = _SMALLEST * (most - least)
        elif high == 0.0:
            low = -_SMALLEST * (most - least)
        else:
            low, high = low * (_SMALLEST / kept), high * (_SMALLEST / kept)
    from_low, from_high = least - low / scale, most - high / scale
    error_low, error_high = abs(least) + abs(low / scale), abs(most) + abs(high / scale)
    start = from_low if error_low < error_high else from_high
    zero_point = least if start < least else most if start > most else round(start)
    return scale, int(zero_point)


_SMALLEST = 6.1e-5


def range_of(self: Tensor, reduce_range: bool, dtype: Dtype = quint8) -> tuple[float, int]:
    """Return the scale and zero point that cover a tensor's numbers."""
    least, most = (0, 255) if dtype is quint8 else (-128, 127)
    if reduce_range:
        least, most = least // 2, most // 2
    low, high = (aten.min(self).item(), aten.max(self).item()) if self.numel() else (0.0, 0.0)
    return exact_parameters(low, high, least, most)


def exact_parameters(low: float, high: float, least: int, most: int) -> tuple[float, int]:
    """Return the scale, not rounded to float32, and the zero point that cover numbers from `low` to `high`."""
    low, high = min(low, 0.0), max(high, 0.0)
    scale = (high - low) / (most - least)
    if single(scale) == 0.0:
        scale = 0.1
    if scale < _SMALLEST:
        return choose_parameters(low, high, least, most)
    from_low, from_high = least - low / scale, most - high / scale
    error_low, error_high = abs(least) - abs(low / scale), abs(most) - abs(high / scale)
    start = from_low if error_low < error_high else from_high
    zero_point = least if not start >= least else most if start > most else round(start)
    return scale, int(zero_point)


def choose_qparams(self: Tensor, reduce_range: bool = False) -> tuple[float, int]:
    """The scale and zero point that cover a tensor's numbers with 8 bits."""
    low, high = aten.min(self).item(), aten.max(self).item()
    check(low <= high, lambda: "In ChooseQuantizationParams, min should be less than or equal to max")
    scale, zero_point = range_of(self, reduce_range)
    return scale, zero_point if math.isfinite(scale) else -(2**31)  # what C++ makes of the quotient of two infinities


def quantize_dynamic(self: Tensor, dtype: Dtype, reduce_range: bool) -> Any:
    """A scale and zero point that cover the tensor's numbers."""
    check(
        dtype in (quint8, qint8),
        lambda: f"dtype {dtype.scalar_name}not supported",
    )
    scale, zero_point = range_of(self, reduce_range, dtype)
    return quantize_per_tensor(self, scale, zero_point, dtype)


def linear_dynamic(
    input: Tensor,
    weight: Tensor,
    sums: Tensor,
    bias: Tensor | None,
    out_features: int,
    scale: float,
    zero_point: int,
) -> Any:
    """Rows, rounded by the range of all of them, times a packed weight, on devices that have no kernel for it."""
    panels, words, columns, word = weight.shape
    rows = aten.reshape(aten.permute(weight, [0, 2, 1, 3]), [panels * columns, words * word])
    rows = aten.slice(aten.slice(rows, 0, 0, out_features), 1, 0, input.shape[-1])
    own_scale, own_zero = range_of(input, True)
    whole = aten.matmul(
        aten.sub(aten._to_copy(levels(input, own_scale, own_zero, quint8), dtype=float64), float(own_zero)),
        aten.t(aten.sub(aten._to_copy(rows, dtype=float64), float(zero_point))),
    )
    summed = aten._to_copy(aten._to_copy(whole, dtype=float32), dtype=float64)
    exact = aten.mul(summed, single(single(own_scale) * single(scale)))
    shifted = exact if bias is None else aten.add(exact, aten._to_copy(bias, dtype=float64))
    return aten._to_copy(shifted, dtype=float32)


def _of_channels(scales: Tensor, zero_points: Tensor, axis: int) -> Quantizer:
    check(scales.dim() == 1, lambda: "scale tensor must have dimension 1")
    check(zero_points.dim() == 1, lambda: "zero_points tensor must have dimension 1")
    check(scales.numel() == zero_points.numel(), lambda: "number of elements in scales and zero_points must match")
    floating = zero_points.dtype.is_floating_point
    scale = aten._to_copy(scales, dtype=float32 if floating else float64)
    return Quantizer(scale, aten._to_copy(zero_points, dtype=float32 if floating else int64), axis)


def quantize_per_channel(self: Tensor, scales: Tensor, zero_points: Tensor, axis: int, dtype: Dtype) -> Any:
    """A scale and zero point for every index of one dimension."""
    given = _of_channels(scales, zero_points, axis)
    checked(given, self.shape)
    integer_dtype(dtype)
    if self.dtype is not float32:
        raise RuntimeError(f"quantize_tensor_per_channel_affine expects a Float Tensor, got {self.dtype.scalar_name}")
    if not zero_points.dtype.is_floating_point:
        if dtype in PACKED:
            raise lacking(dtype, "quantize_tensor_per_channel_affine")
        for zero_point in given.zero_point.tolist():
            check_parameters("quantize_tensor_per_channel_affine", zero_point, dtype)
    return quantize_channels(aten.detach(self), given, dtype)


def dequantize(self: Tensor) -> Any:
    """The numbers, as float32."""
    if is_quantized(self):
        return numbers_of(self)
    return self if self.dtype is float32 else aten._to_copy(self, dtype=float32)


def dequantize_each(tensors: Sequence[Tensor]) -> list[Any]:
    """The numbers of several tensors, of which torch wants quantized ones."""
    if not tensors:
        raise NotImplementedError(
            "There were no tensor arguments to this function (e.g., you passed an empty list of Tensors), but no fallback "
            "function is registered for schema aten::dequantize.tensors."
        )
    if not any(is_quantized(one) for one in tensors):
        raise not_quantized("dequantize.tensors", tensors[0])
    return [dequantize(one) for one in tensors]


def not_quantized(name: str, tensor: Tensor) -> NotImplementedError:
    """Return the error of an operator that only quantized tensors have."""
    if tensor.device.type == "meta":
        return NotImplementedError(
            f"aten::{name}: attempted to run this operator with Meta tensors, but there was no fake impl or Meta kernel "
            "registered."
        )
    backend = "CPU" if tensor.device.type == "cpu" else tensor.device.type.upper()
    return NotImplementedError(
        f"Could not run 'aten::{name}' with arguments from the '{backend}' backend. This could be because the operator "
        "doesn't exist for this backend."
    )


def refused(name: str) -> Any:
    """Return the function of an operator that only quantized tensors have."""

    def refuse(self: Tensor, *rest: object) -> Any:
        if is_quantized(self):
            return _READ[name](self)
        raise not_quantized(name, self)

    return refuse


def _int_repr(self: Tensor) -> Any:
    """The integers, in the memory format that their strides suggest."""
    whole = integers(self)
    spec = suggested(whole._sig.spec)
    made = aten.empty_strided(list(spec.shape), list(spec.stride), dtype=spec.dtype, device=spec.device)
    return aten.copy_(made, whole)


def _channel_parameter(which: str) -> Any:
    return lambda self: aten.clone(getattr(per_channel(self), which))


_READ: dict[str, Any] = {
    "int_repr": _int_repr,
    "q_scale": lambda self: per_tensor(self).scale,
    "q_zero_point": lambda self: per_tensor(self).zero_point,
    "q_per_channel_scales": _channel_parameter("scale"),
    "q_per_channel_zero_points": _channel_parameter("zero_point"),
    "q_per_channel_axis": lambda self: per_channel(self).axis,
    "qscheme": lambda self: quantizer(self).scheme,
}


def _quantized_of(self: Tensor) -> Dtype:
    check(self.dtype in _QUANTIZED, lambda: f"ScalarType {self.dtype.scalar_name} has no quantized type")
    return _QUANTIZED[self.dtype]


def make_per_tensor(self: Tensor, scale: float, zero_point: int) -> Any:
    """The tensor that integers stand for."""
    return new(aten.clone(self), _quantized_of(self), Quantizer(scale, zero_point))


def make_per_channel(self: Tensor, scale: Tensor, zero_point: Tensor, axis: int) -> Any:
    """The tensor that integers stand for, with a scale for every index of one dimension."""
    given = _of_channels(scale, zero_point, axis)
    return new(aten.clone(self), _quantized_of(self), checked(given, self.shape))


def empty_affine(
    size: Any,
    dtype: Any = None,
    layout: object = None,
    device: Any = None,
    pin_memory: object = None,
    scale: float = 1.0,
    zero_point: int = 0,
    memory_format: Any = None,
) -> Any:
    """A tensor whose integers are not set."""
    _check_dtype(dtype)
    return empty(size, dtype, Quantizer(scale, zero_point), device, memory_format)


def _check_dtype(dtype: Any) -> None:
    check(
        dtype in INTEGERS,
        lambda: "Creation of quantized tensor requires quantized dtype like torch.quint8",
    )


def empty_per_channel(
    size: Any,
    scales: Any,
    zero_points: Any,
    axis: int,
    dtype: Any = None,
    layout: object = None,
    device: Any = None,
    pin_memory: object = None,
    memory_format: Any = None,
) -> Any:
    """A tensor with a scale for every index of one dimension, whose integers are not set."""
    _check_dtype(dtype)
    return empty(size, dtype, checked(_of_channels(scales, zero_points, axis), size), device, memory_format)


def is_per_tensor(self: Tensor) -> bool:
    """True for a quantized tensor with one scale."""
    return is_quantized(self) and quantizer(self).scheme is PER_TENSOR

"""`quantized_decomposed::*`: quantisation whose results are plain integer tensors, by tensor, channel, group and token."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.library import Library

quantized_decomposed_lib = Library("quantized_decomposed", "DEF")
_BOUNDS = {
    **{d: torch.iinfo(d) for d in (torch.uint8, torch.int8, torch.uint16, torch.int16, torch.int32)},
    **{d: torch.finfo(d) for d in (torch.float8_e5m2, torch.float8_e4m3fn)},
}
_BY = "int quant_min, int quant_max, ScalarType dtype"
_BACK = f"{_BY}, *, ScalarType? out_dtype=None"


def _quant_min_max_bounds_check(quant_min: int, quant_max: int, dtype: Any) -> None:
    if dtype not in _BOUNDS:
        raise ValueError(f"Unsupported dtype: {dtype}")
    least, most = int(_BOUNDS[dtype].min), int(_BOUNDS[dtype].max)
    if quant_min < least:
        raise AssertionError(
            f"quant_min out of bounds for dtype, quant_min_lower_bound: {least} quant_min: {quant_min}"
        )
    if quant_max > most:
        raise AssertionError(f"quant_max out of bounds for dtype, quant_max_upper_bound: {most} quant_max: {quant_max}")


def _per_token_quant_qparam_dim_check(input: Any, scales: Any, zero_points: Any) -> None:
    tokens = math.prod(input.shape[:-1])
    for name, values in (("scales", scales), ("zero_points", zero_points)):
        if tokens != values.numel():
            raise AssertionError(f"num_tokens: {tokens} {name}: {values.size()}")


def _single(input: Any) -> Any:
    """The input in float32, in which it is quantised."""
    if input.dtype in (torch.float16, torch.bfloat16):
        input = input.to(torch.float32)
    if input.dtype != torch.float32:
        raise AssertionError(f"Expecting input to have dtype torch.float32, but got dtype: {input.dtype}")
    return input


def _one(scale: Any, zero_point: Any) -> tuple[Any, Any]:
    for name, value in (("zero_point", zero_point), ("scale", scale)):
        if value.numel() != 1:
            raise AssertionError(f"Expecting {name} tensor to be one element, but received : {value.numel()}")
    return scale.item(), zero_point.item()


def quantize_per_tensor(input: Any, scale: float, zero_point: int, quant_min: int, quant_max: int, dtype: Any) -> Any:
    """Quantise with one scale and one zero point."""
    input = _single(input)
    _quant_min_max_bounds_check(quant_min, quant_max, dtype)
    return torch.clamp(torch.round(input * (1.0 / scale)) + zero_point, quant_min, quant_max).to(dtype)


def quantize_per_tensor_tensor(
    input: Any, scale: Any, zero_point: Any, quant_min: int, quant_max: int, dtype: Any
) -> Any:
    """As `quantize_per_tensor`, with tensors of one element."""
    return quantize_per_tensor(input, *_one(scale, zero_point), quant_min, quant_max, dtype)


def dequantize_per_tensor(
    input: Any,
    scale: float,
    zero_point: int,
    quant_min: int,
    quant_max: int,
    dtype: Any,
    *,
    out_dtype: Any = None,
) -> Any:
    """Undo `quantize_per_tensor`."""
    if input.dtype != dtype:
        raise AssertionError(f"Expecting input to have dtype: {dtype}, but got {input.dtype}")
    if dtype not in _BOUNDS:
        raise ValueError(f"Unsupported dtype in dequantize_per_tensor: {dtype}")
    return (input.to(torch.float32 if out_dtype is None else out_dtype) - zero_point) * scale


def dequantize_per_tensor_tensor(
    input: Any, scale: Any, zero_point: Any, quant_min: int, quant_max: int, dtype: Any, *, out_dtype: Any = None
) -> Any:
    """As `dequantize_per_tensor`, with tensors of one element."""
    given = _one(scale, zero_point)
    return dequantize_per_tensor(input, *given, quant_min, quant_max, dtype, out_dtype=out_dtype)


def _per_token_text(function: str, dtype: Any) -> str:
    return f"unsupported dtype in {function}: {dtype}"


def choose_qparams_per_token(input: Any, dtype: Any) -> Any:
    """Scales and zero points, all 0, for each last dimension."""
    scales = input.abs().amax(dim=-1, keepdim=True)
    if scales.dtype == torch.float16:
        scales = scales.float()
    if dtype != torch.int8:
        raise Exception(_per_token_text("choose_qparams_per_token", dtype))
    scales = scales.clamp(min=1e-5).div(127)
    return scales, torch.zeros_like(scales)


def choose_qparams_per_token_asymmetric(input: Any, dtype: Any) -> Any:
    """Scales and zero points for each last dimension, from its least and its greatest value."""
    least = input.amin(-1, keepdim=True).clamp(max=0)
    most = input.amax(-1, keepdim=True).clamp(min=0)
    scale = ((most - least) / 255.0).clamp(min=torch.finfo(torch.float32).eps)
    low, high = least / scale, most / scale
    point = torch.where((low - 128) + (high + 127) > 0, -128 - low, 127 - high).clamp(-128, 127).round()
    return scale.to(torch.float64), point.to(torch.int64)


def quantize_per_token(input: Any, scales: Any, zero_points: Any, quant_min: int, quant_max: int, dtype: Any) -> Any:
    """Quantise each last dimension with its own scale and zero point."""
    _quant_min_max_bounds_check(quant_min, quant_max, dtype)
    _per_token_quant_qparam_dim_check(input, scales, zero_points)
    return input.mul(1.0 / scales).add(zero_points).round().clamp(quant_min, quant_max).to(dtype)


def dequantize_per_token(
    input: Any,
    scales: Any,
    zero_points: Any,
    quant_min: int,
    quant_max: int,
    dtype: Any,
    output_dtype: Any = torch.float32,
) -> Any:
    """Undo `quantize_per_token`."""
    return ((input - zero_points) * scales).to(output_dtype)


def _define() -> None:
    kernels: dict[str, Callable[..., Any]] = {
        f"quantize_per_tensor(Tensor input, float scale, int zero_point, {_BY}) -> Tensor": quantize_per_tensor,
        f"quantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point, {_BY}) -> "
        "Tensor": quantize_per_tensor_tensor,
        f"dequantize_per_tensor(Tensor input, float scale, int zero_point, {_BACK}) -> Tensor": dequantize_per_tensor,
        f"dequantize_per_tensor.tensor(Tensor input, Tensor scale, Tensor zero_point, {_BACK}) -> "
        "Tensor": dequantize_per_tensor_tensor,
        "choose_qparams_per_token(Tensor input, ScalarType dtype) -> (Tensor, Tensor)": choose_qparams_per_token,
        "choose_qparams_per_token_asymmetric(Tensor input, ScalarType dtype) -> "
        "(Tensor, Tensor)": choose_qparams_per_token_asymmetric,
        f"quantize_per_token(Tensor input, Tensor scales, Tensor zero_points, {_BY}) -> Tensor": quantize_per_token,
        f"dequantize_per_token(Tensor input, Tensor scales, Tensor zero_points, {_BY}, ScalarType output_dtype) -> "
        "Tensor": dequantize_per_token,
    }
    for schema, kernel in kernels.items():
        quantized_decomposed_lib.define(schema)
        quantized_decomposed_lib.impl(schema.partition("(")[0], kernel, "CompositeExplicitAutograd")


_define()
adopt(globals())

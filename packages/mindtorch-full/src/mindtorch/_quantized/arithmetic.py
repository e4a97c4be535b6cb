"""Sums, products and joins of quantized tensors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

import mindtorch as torch
from mindtorch._tensor import Tensor
from mindtorch_storage.quantized import RANGES

from .rounding import alike, integers, laid_out_as, made_of, scaled, tensor_of


def _check_operands(one: Any, two: Any) -> None:
    torch._check(one.qscheme() == torch.per_tensor_affine, lambda: "Only per tensor quantization is supported in Add.")
    torch._check(one.qscheme() == two.qscheme(), lambda: "Both inputs to Add must have the same quantization scheme.")
    torch._check(one.dtype == two.dtype, lambda: "Add operands should have same data type.")


def add(qa: Tensor, qb: Tensor, scale: float, zero_point: int, relu: bool = False) -> Any:
    """The sum of numbers, rounded to another scale."""
    _check_operands(qa, qb)
    first, second, part = alike(qa, qb)
    pair = (qa.q_scale(), qa.q_zero_point(), qb.q_scale(), qb.q_zero_point())
    whole = torch.ops.quantized._add(first, second, *pair, float(scale), int(zero_point), relu, part)
    return laid_out_as(made_of(whole, scale, zero_point, qa.dtype), qa if qa.dim() >= qb.dim() else qb)


def mul(qa: Tensor, qb: Tensor, scale: float, zero_point: int, relu: bool = False) -> Any:
    """The product of numbers, rounded to another scale; that of the integers is exact."""
    _check_operands(qa, qb)
    factor = float(np.float32(qa.q_scale()) * np.float32(qb.q_scale()) * (np.float32(1) / np.float32(scale)))
    zeros = (qa.q_zero_point(), qb.q_zero_point(), int(zero_point))
    whole = torch.ops.quantized._mul(*alike(qa, qb)[:2], factor, *zeros, relu)
    return laid_out_as(made_of(whole, scale, zero_point, qa.dtype), qa)


def _number(b: Any) -> float:
    return float(b.item() if isinstance(b, torch.Tensor) else b)


def add_scalar(qa: Tensor, b: Any, relu: bool = False) -> Any:
    """The sum with a number: the zero point moves; where it would leave its range the scale changes, too."""
    scale, zero_point = qa.q_scale(), qa.q_zero_point()
    least, most = RANGES[qa.dtype]
    step = int(np.rint(_number(b) / scale))
    moved = zero_point - step
    if least <= moved <= most:
        level = integers(qa)
        level = np.maximum(level, moved) if relu else level
        return laid_out_as(tensor_of(level, scale, moved, qa.dtype), qa)
    reach, end = (most - moved, least) if moved < least else (moved - least, most)
    wider = reach / (most - least) * scale
    level = scaled(integers(qa) - zero_point + step, np.float32(scale) * (np.float32(1) / np.float32(wider)), end)
    level = np.maximum(level, end) if relu else level
    return laid_out_as(tensor_of(level, wider, end, qa.dtype), qa)


def mul_scalar(qa: Tensor, b: Any, relu: bool = False) -> Any:
    """The product with a number: the scale changes, and with a negative number the integers are mirrored."""
    number, scale, zero_point = _number(b), qa.q_scale(), qa.q_zero_point()
    least, most = RANGES[qa.dtype]
    level = integers(qa)
    if number == 0:
        scale, zero_point, level = 1.0, 0, np.zeros_like(level)
    elif number < 0:
        scale, zero_point, level = math.fabs(number) * scale, most - (zero_point - least), most + least - level
    else:
        scale = number * scale
    level = np.maximum(level, zero_point) if relu else level
    return laid_out_as(tensor_of(level, scale, zero_point, qa.dtype), qa)


def cat(qx: Tensor, dim: int, scale: float | None, zero_point: int | None, relu: bool = False) -> Any:
    """Tensors joined, rounded to one scale; by default that of the first."""
    first = qx[0]
    torch._check(all(one.dtype == first.dtype for one in qx), lambda: "All dtypes must be the same.")
    joined = torch.cat([one.dequantize() for one in qx], dim)
    joined = joined.relu() if relu else joined
    chosen = first.q_scale() if scale is None else scale
    return torch.quantize_per_tensor(
        joined, chosen, first.q_zero_point() if zero_point is None else zero_point, first.dtype
    )


def matmul(qa: Tensor, qb: Tensor, scale: float, zero_point: int) -> Any:
    """The product of matrices of numbers, rounded to another scale."""
    return torch.quantize_per_tensor(qa.dequantize() @ qb.dequantize(), scale, zero_point, qa.dtype)

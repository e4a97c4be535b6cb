"""Activations and normalization of quantized tensors: of the numbers, rounded once to the scale of the result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import mindtorch as torch
from mindtorch._tensor import Tensor
from mindtorch.nn import functional

from .rounding import channels_last, fused, integers, tensor_of


def _of_numbers(tensor: Any, scale: Any, zero_point: Any, compute: Callable[[Any], Any]) -> Any:
    return torch.quantize_per_tensor(compute(tensor.dequantize()), float(scale), int(zero_point), tensor.dtype)


def hardswish(input: Tensor, output_scale: float, output_zero_point: int) -> Any:
    """x times its share of a ramp from -3 to 3."""
    return _of_numbers(input, output_scale, output_zero_point, functional.hardswish)


def elu(
    self: Any,
    output_scale: float,
    output_zero_point: int,
    alpha: Any = 1,
    scale: Any = 1,
    input_scale: Any = 1,
) -> Any:
    """The exponential linear unit."""
    return _of_numbers(
        self, output_scale, output_zero_point, lambda x: torch.ops.aten.elu(x, alpha, scale, input_scale)
    )


def celu(self: Any, output_scale: float, output_zero_point: int, alpha: Any = 1) -> Any:
    """The continuous exponential linear unit."""
    return _of_numbers(self, output_scale, output_zero_point, lambda x: functional.celu(x, alpha))


def leaky_relu(qx: Tensor, negative_slope: Any, inplace: bool, output_scale: float, output_zero_point: int) -> Any:
    """x, and below 0 a share of it."""
    return _of_numbers(qx, output_scale, output_zero_point, lambda x: functional.leaky_relu(x, negative_slope))


def sigmoid(qx: Tensor, output_scale: float, output_zero_point: int) -> Any:
    """The logistic function."""
    return _of_numbers(qx, output_scale, output_zero_point, torch.sigmoid)


def softmax(qx: Tensor, dim: int, output_scale: float, output_zero_point: int) -> Any:
    """Shares that add up to 1."""
    return _of_numbers(qx, output_scale, output_zero_point, lambda x: functional.softmax(x, dim))


def prelu(qx: Tensor, weight: Any, output_scale: float, output_zero_point: int) -> Any:
    """x, and below 0 a share of it by channel."""
    return _of_numbers(qx, output_scale, output_zero_point, lambda x: functional.prelu(x, weight.dequantize()))


def relu6(qx: Tensor, inplace: bool = False) -> Any:
    """x between 0 and 6."""
    return torch.clamp(qx, 0, 6)


def dropout(self: Any, output_scale: float, output_zero_point: int, p: Any = 0.5, training: bool = False) -> Any:
    """Numbers, some of them 0 while training."""
    return _of_numbers(self, output_scale, output_zero_point, lambda x: functional.dropout(x, p, training))


def layer_norm(
    input: Tensor,
    normalized_shape: Any,
    weight: Any,
    bias: Any,
    eps: float,
    output_scale: float,
    output_zero_point: int,
) -> Any:
    """Normalized over the last dimensions."""
    return _of_numbers(
        input,
        output_scale,
        output_zero_point,
        lambda x: functional.layer_norm(x, list(normalized_shape), weight, bias, eps),
    )


def group_norm(
    input: Tensor, num_groups: int, weight: Any, bias: Any, eps: float, output_scale: float, output_zero_point: int
) -> Any:
    """Normalized over groups of channels."""
    return _of_numbers(
        input, output_scale, output_zero_point, lambda x: functional.group_norm(x, num_groups, weight, bias, eps)
    )


def instance_norm(
    input: Tensor, weight: Any, bias: Any, eps: float, output_scale: float, output_zero_point: int
) -> Any:
    """Normalized over the places of each channel."""
    return _of_numbers(
        input,
        output_scale,
        output_zero_point,
        lambda x: functional.instance_norm(x, weight=weight, bias=bias, eps=eps),
    )


def batch_norm(
    qx: Tensor,
    weight: Any,
    bias: Any,
    mean: Any,
    var: Any,
    eps: float,
    output_scale: float,
    output_zero_point: int,
    relu: bool = False,
) -> Any:
    """Normalized by what was seen in training: one factor and one addend for each channel."""
    scale, zero_point = float(output_scale), int(output_zero_point)
    one = torch.ones_like(mean)
    factor = 1 / torch.sqrt(var.detach() + eps) * (one if weight is None else weight.detach())
    addend = (torch.zeros_like(mean) if bias is None else bias.detach()) - mean.detach() * factor
    shape = [1, -1, *[1] * (qx.dim() - 2)]
    single = np.float32(scale)
    factors = (factor.numpy() * np.float32(qx.q_scale()) / single).reshape(shape)
    addends = (addend.numpy() / single).reshape(shape)
    level = np.rint(fused(integers(qx) - qx.q_zero_point(), factors, addends)) + zero_point
    level = np.maximum(level, zero_point) if relu else level
    made = tensor_of(level, scale, zero_point, qx.dtype)
    return made if qx.dim() < 4 else channels_last(made)

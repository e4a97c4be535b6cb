"""The layers of a quantized model as functions."""

from __future__ import annotations

import warnings
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.nn import functional
from mindtorch.nn.modules.utils import _ntuple

__all__ = [
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "avg_pool2d",
    "avg_pool3d",
    "celu",
    "clamp",
    "conv1d",
    "conv2d",
    "conv3d",
    "elu",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "interpolate",
    "leaky_relu",
    "linear",
    "max_pool1d",
    "max_pool2d",
    "threshold",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]


def _check(input: Tensor, name: str) -> None:
    if not input.is_quantized:
        raise ValueError(f"Input to 'quantized.{name}' must be quantized!")


def avg_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Any:
    """Means over windows.

    >>> import torch.ao.nn.quantized.functional as qF
    >>> x = torch.quantize_per_tensor(torch.arange(16.0).reshape(1, 1, 4, 4) / 4, 0.25, 0, torch.quint8)
    >>> qF.avg_pool2d(x, 2).dequantize()
    tensor([[[[0.5000, 1.0000],
              [2.5000, 3.0000]]]])
    """
    _check(input, "avg_pool2d")
    return functional.avg_pool2d(input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def avg_pool3d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    ceil_mode: bool = False,
    count_include_pad: bool = True,
    divisor_override: int | None = None,
) -> Any:
    """Means over windows.

    >>> import torch.ao.nn.quantized.functional as qF
    >>> x = torch.quantize_per_tensor(torch.arange(8.0).reshape(1, 1, 2, 2, 2) / 4, 0.25, 0, torch.quint8)
    >>> qF.avg_pool3d(x, 2).dequantize()
    tensor([[[[[1.]]]]])
    """
    _check(input, "avg_pool3d")
    return functional.avg_pool3d(input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Any:
    """Means, so that the result has a given size.

    >>> import torch.ao.nn.quantized.functional as qF
    >>> x = torch.quantize_per_tensor(torch.arange(16.0).reshape(1, 1, 4, 4) / 4, 0.25, 0, torch.quint8)
    >>> qF.adaptive_avg_pool2d(x, 1).dequantize()
    tensor([[[[2.]]]])
    """
    _check(input, "functional.adaptive_avg_pool2d")
    return functional.adaptive_avg_pool2d(input, output_size)


def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Any:
    """Means, so that the result has a given size.

    >>> import torch.ao.nn.quantized.functional as qF
    >>> x = torch.quantize_per_tensor(torch.arange(8.0).reshape(1, 1, 2, 2, 2) / 4, 0.25, 0, torch.quint8)
    >>> qF.adaptive_avg_pool3d(x, 1).dequantize()
    tensor([[[[[1.]]]]])
    """
    _check(input, "functional.adaptive_avg_pool3d")
    return functional.adaptive_avg_pool3d(input, output_size)


def _conv(
    rank: int,
    input: Tensor,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    groups: int,
    padding_mode: str,
    *to: Any,
) -> Any:
    if padding_mode != "zeros":
        raise NotImplementedError("Only zero-padding is supported!")
    if input.dtype != torch.quint8:
        raise NotImplementedError("Only torch.quint8 is supported for activation tensor!")
    if weight.dtype != torch.qint8:
        raise NotImplementedError("Only torch.qint8 is supported for weight tensor!")
    if input.ndim != rank + 2:
        raise ValueError(f"Input must have {rank + 2} dimensions!")
    many = _ntuple(rank)
    prepack = getattr(torch.ops.quantized, f"conv{rank}d_prepack")
    packed = prepack(weight, bias, many(stride), many(padding), many(dilation), groups)
    return getattr(torch.ops.quantized, f"conv{rank}d")(input, packed, *to)


def conv1d(
    input: Tensor,
    weight: Any,
    bias: Any,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    padding_mode: str = "zeros",
    scale: float = 1.0,
    zero_point: int = 0,
    dtype: Any = torch.quint8,
) -> Any:
    """A convolution over one dimension."""
    return _conv(1, input, weight, bias, stride, padding, dilation, groups, padding_mode, scale, zero_point)


def conv2d(
    input: Tensor,
    weight: Any,
    bias: Any,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    padding_mode: str = "zeros",
    scale: float = 1.0,
    zero_point: int = 0,
    dtype: Any = torch.quint8,
) -> Any:
    """A convolution over two dimensions."""
    return _conv(2, input, weight, bias, stride, padding, dilation, groups, padding_mode, scale, zero_point)


def conv3d(
    input: Tensor,
    weight: Any,
    bias: Any,
    stride: Any = 1,
    padding: Any = 0,
    dilation: Any = 1,
    groups: int = 1,
    padding_mode: str = "zeros",
    scale: float = 1.0,
    zero_point: int = 0,
    dtype: Any = torch.quint8,
) -> Any:
    """A convolution over three dimensions."""
    return _conv(3, input, weight, bias, stride, padding, dilation, groups, padding_mode, scale, zero_point)


def interpolate(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: Any = None
) -> Any:
    """Another size, by the nearest or by lines between neighbours."""
    _check(input, "interpolate")
    return functional.interpolate(input, size, scale_factor, mode, align_corners)


def linear(
    input: Tensor, weight: Any, bias: Any = None, scale: float | None = None, zero_point: int | None = None
) -> Any:
    """Rows times a weight; by default the result has the quantizer of the input.

    >>> import torch.ao.nn.quantized.functional as qF
    >>> x = torch.quantize_per_tensor(torch.tensor([[-1.0, 0.5, 2.0]]), 0.5, 10, torch.quint8)
    >>> qF.linear(x, torch.quantize_per_tensor(torch.ones(1, 3), 0.5, 0, torch.qint8)).dequantize()
    tensor([[1.5000]])
    """
    scale = input.q_scale() if scale is None else scale
    zero_point = input.q_zero_point() if zero_point is None else zero_point
    packed = torch.ops.quantized.linear_prepack(weight, bias)
    return torch.ops.quantized.linear(input, packed, scale, zero_point)


def max_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest of windows.

    >>> import torch.ao.nn.quantized.functional as qF
    >>> x = torch.quantize_per_tensor(torch.tensor([[-1.0, 0.5, 2.0]]), 0.5, 10, torch.quint8)
    >>> qF.max_pool1d(x, 3).dequantize()
    tensor([[2.]])
    """
    if return_indices:
        raise NotImplementedError("return_indices is not yet implemented!")
    return torch.max_pool1d(input, kernel_size, stride or [], padding, dilation, ceil_mode=ceil_mode)


def max_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """The largest of windows.

    >>> import torch.ao.nn.quantized.functional as qF
    >>> x = torch.quantize_per_tensor(torch.arange(16.0).reshape(1, 1, 4, 4) / 4, 0.25, 0, torch.quint8)
    >>> qF.max_pool2d(x, 2).dequantize()
    tensor([[[[1.2500, 1.7500],
              [3.2500, 3.7500]]]])
    """
    if return_indices:
        raise NotImplementedError("return_indices is not yet implemented!")
    return torch.max_pool2d(input, kernel_size, stride or [], padding, dilation, ceil_mode=ceil_mode)


def celu(input: Tensor, scale: float, zero_point: int, alpha: float = 1.0) -> Any:
    """The continuous exponential linear unit.

    >>> import torch.ao.nn.quantized.functional as qF
    >>> x = torch.quantize_per_tensor(torch.tensor([[-1.0, 0.5, 2.0]]), 0.5, 10, torch.quint8)
    >>> qF.celu(x, 0.5, 10).dequantize()
    tensor([[-0.5000,  0.5000,  2.0000]])
    """
    _check(input, "celu")
    return torch.ops.quantized.celu(input, scale, zero_point, alpha)


def leaky_relu(
    input: Tensor,
    negative_slope: float = 0.01,
    inplace: bool = False,
    scale: float | None = None,
    zero_point: int | None = None,
) -> Any:
    """x, and below 0 a share of it.

    >>> import torch.ao.nn.quantized.functional as qF
    >>> x = torch.quantize_per_tensor(torch.tensor([[-1.0, 0.5, 2.0]]), 0.5, 10, torch.quint8)
    >>> qF.leaky_relu(x, 0.1).dequantize()
    tensor([[0.0000, 0.5000, 2.0000]])
    """
    if scale is not None and zero_point is not None:
        if inplace:
            raise AssertionError("Cannot rescale with `inplace`")
        return torch.ops.quantized.leaky_relu(input, negative_slope, inplace, scale, zero_point)
    return functional.leaky_relu(input, negative_slope, inplace)


def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Any:
    """x between two bounds.

    >>> import torch.ao.nn.quantized.functional as qF
    >>> x = torch.quantize_per_tensor(torch.tensor([[-1.0, 0.5, 2.0]]), 0.5, 10, torch.quint8)
    >>> qF.hardtanh(x).dequantize()
    tensor([[-1.0000,  0.5000,  1.0000]])
    """
    _check(input, "hardtanh")
    return functional.hardtanh(input, min_val, max_val, inplace)


def hardswish(input: Tensor, scale: float, zero_point: int) -> Any:
    """x times its share of a ramp from -3 to 3.

    >>> import torch.ao.nn.quantized.functional as qF
    >>> x = torch.quantize_per_tensor(torch.tensor([[-1.0, 0.5, 2.0]]), 0.5, 10, torch.quint8)
    >>> qF.hardswish(x, 0.5, 10).dequantize()
    tensor([[-0.5000,  0.5000,  1.5000]])
    """
    _check(input, "hardswish")
    return torch.ops.quantized.hardswish(input, scale, zero_point)


def threshold(input: Tensor, threshold: float, value: float) -> Any:
    """x above a bound, else a number.

    >>> import torch.ao.nn.quantized.functional as qF
    >>> x = torch.quantize_per_tensor(torch.tensor([[-1.0, 0.5, 2.0]]), 0.5, 10, torch.quint8)
    >>> qF.threshold(x, 0.0, 1.0).dequantize()
    tensor([[1.0000, 0.5000, 2.0000]])
    """
    _check(input, "threshold")
    if threshold is None:
        raise ValueError("Input to 'threshold' must be specified!")
    if value is None:
        raise ValueError("Input to 'value' must be specified!")
    return torch.threshold(input, threshold, value)


def elu(input: Tensor, scale: float, zero_point: int, alpha: float = 1.0) -> Any:
    """The exponential linear unit.

    >>> import torch.ao.nn.quantized.functional as qF
    >>> x = torch.quantize_per_tensor(torch.tensor([[-1.0, 0.5, 2.0]]), 0.5, 10, torch.quint8)
    >>> qF.elu(x, 0.5, 10).dequantize()
    tensor([[-0.5000,  0.5000,  2.0000]])
    """
    _check(input, "elu")
    return torch.ops.quantized.elu(input, scale, zero_point, alpha)


def hardsigmoid(input: Tensor, inplace: bool = False) -> Any:
    """A ramp from 0 at -3 to 1 at 3.

    >>> import torch.ao.nn.quantized.functional as qF
    >>> x = torch.quantize_per_tensor(torch.tensor([[-1.0, 0.5, 2.0]]), 0.5, 10, torch.quint8)
    >>> qF.hardsigmoid(x).dequantize()
    tensor([[0.3320, 0.5820, 0.8320]])
    """
    _check(input, "hardsigmoid")
    return functional.hardsigmoid(input, inplace)


def clamp(input: Tensor, min_: float, max_: float) -> Any:
    """x between two bounds.

    >>> import torch.ao.nn.quantized.functional as qF
    >>> x = torch.quantize_per_tensor(torch.tensor([[-1.0, 0.5, 2.0]]), 0.5, 10, torch.quint8)
    >>> qF.clamp(x, 0.0, 1.0).dequantize()
    tensor([[0.0000, 0.5000, 1.0000]])
    """
    _check(input, "clamp")
    return torch.clamp(input, min_, max_)


def upsample(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: Any = None
) -> Any:
    """The older name of `interpolate`."""
    warnings.warn(
        "nn.quantized.functional.upsample is deprecated. Use nn.quantized.functional.interpolate instead.",
        stacklevel=2,
    )
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_bilinear(input: Tensor, size: Any = None, scale_factor: Any = None) -> Any:
    """The older name of `interpolate` by lines."""
    warnings.warn(
        "nn.quantized.functional.upsample_bilinear is deprecated. Use nn.quantized.functional.interpolate instead.",
        stacklevel=2,
    )
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


def upsample_nearest(input: Tensor, size: Any = None, scale_factor: Any = None) -> Any:
    """The older name of `interpolate` by the nearest."""
    warnings.warn(
        "nn.quantized.functional.upsample_nearest is deprecated. Use nn.quantized.functional.interpolate instead.",
        stacklevel=2,
    )
    return interpolate(input, size, scale_factor, mode="nearest")


adopt(globals())

"""Linear layers and convolutions: integers are multiplied exactly, and the scaled sum is rounded once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import mindtorch as torch
from mindtorch._tensor import Tensor
from mindtorch.nn import functional

from .packed import ConvPackedParams, LinearPackedParams
from .rounding import channels_last, fused, tensor_of

_EXACT = 2**24  # sums of whole numbers below are exact in float32
_CONVOLUTIONS = {1: functional.conv1d, 2: functional.conv2d, 3: functional.conv3d}
_TRANSPOSED = {1: functional.conv_transpose1d, 2: functional.conv_transpose2d, 3: functional.conv_transpose3d}


def _scales(weight: Any, axis: int, rank: int) -> tuple[Any, Any]:
    """Return scales and zero points of a weight, in shapes that go with `rank` dimensions whose channels are `axis`."""
    if weight.qscheme() == torch.per_tensor_affine:
        return np.float32(weight.q_scale()), weight.q_zero_point()
    shape = [1] * rank
    shape[axis] = -1
    scales = weight.q_per_channel_scales().numpy().astype(np.float32).reshape(shape)
    return scales, weight.q_per_channel_zero_points().numpy().reshape(shape)


def _shifted(tensor: Any, zero_point: Any, wide: bool) -> Any:
    whole = tensor.int_repr().to(torch.float64 if wide else torch.float32)
    return whole - (torch.from_numpy(zero_point) if isinstance(zero_point, np.ndarray) else zero_point)


def _whole_product(
    input: Tensor, weight: Any, zero_points: Any, depth: int, multiply: Callable[[Any, Any], Any]
) -> Any:
    """Return the product of integers as float32, computed in the narrowest type that holds all sums."""
    wide = depth * 255 * 255 >= _EXACT
    product = multiply(_shifted(input, input.q_zero_point(), wide), _shifted(weight, zero_points, wide))
    return product.round().numpy().astype(np.float32)


def _requantized(
    whole: Any, scales: Any, bias: Any, input_scale: float, by: str, to: tuple[float, int], relu: bool
) -> Any:
    """Return the integers of scaled sums: oneDNN adds bias and zero point to numbers, fbgemm scales bias and sum together."""
    scale, zero_point = np.float32(to[0]), to[1]
    factor = np.float32(input_scale) * scales
    with np.errstate(all="ignore"):
        if by == "onednn":
            found = whole * factor
            found = found if bias is None else found + bias
            found = np.maximum(found, 0) if relu else found
            return np.rint(found * (np.float32(1) / scale) + np.float32(zero_point))
        total = whole if bias is None else whole + bias / factor
        level = np.rint(total * (factor / scale)) + zero_point
        return np.maximum(level, zero_point) if relu else level


def linear(input: Tensor, packed: LinearPackedParams, scale: float, zero_point: int, relu: bool = False) -> Any:
    """Rows of integers times a weight of integers."""
    weight, bias = packed.unpack()
    torch._check(input.dim() != 0, lambda: "The dimension of input tensor should be larger than or equal to 1")
    torch._check(
        input.shape[-1] == weight.shape[1],
        lambda: f"The number of rows in the packB should be equal to K: {input.shape[-1]}",
    )
    torch._check(
        input.dtype == torch.quint8,
        lambda: f"quint8 expected for input of quantized linear, got {input.dtype}",
    )
    scales, zero_points = _scales(weight, 0, 2)
    rows = input.reshape(-1, input.shape[-1])
    whole = _whole_product(rows, weight, zero_points, weight.shape[1], lambda one, two: one @ two.t())
    added = None if bias is None else bias.detach().numpy()
    per_row = scales if np.ndim(scales) == 0 else scales.reshape(1, -1)
    level = _requantized(whole, per_row, added, input.q_scale(), packed.by, (scale, zero_point), relu)
    return tensor_of(level, scale, zero_point, torch.quint8).reshape(*input.shape[:-1], weight.shape[0])


def scaled_product(input: Tensor, packed: LinearPackedParams) -> Any:
    """Rows of integers times a weight of integers, as float32; scale and bias are applied with one rounding."""
    weight, bias = packed.unpack()
    scales, zero_points = _scales(weight, 0, 2)
    whole = _whole_product(input, weight, zero_points, weight.shape[1], lambda one, two: one @ two.t())
    factor = np.float32(input.q_scale()) * scales.reshape(1, -1)
    return fused(whole, factor, 0.0 if bias is None else bias.detach().numpy())


def conv(input: Tensor, packed: ConvPackedParams, scale: float, zero_point: int, relu: bool = False) -> Any:
    """A convolution of integers; its result has the channels last in memory, as torch's."""
    rank = input.dim() - 2
    weight, bias = packed.unpack()
    scales, zero_points = _scales(weight, 1 if packed.transposed else 0, weight.dim())
    depth = weight[0].numel() if not packed.transposed else weight.numel() // weight.shape[1]

    def multiply(one: Any, two: Any) -> Any:
        if packed.transposed:
            return _TRANSPOSED[rank](
                one, two, None, packed.stride, packed.padding, packed.output_padding, packed.groups, packed.dilation
            )
        return _CONVOLUTIONS[rank](one, two, None, packed.stride, packed.padding, packed.dilation, packed.groups)

    whole = _whole_product(input, weight, zero_points, depth, multiply)
    shape = [1, -1, *[1] * rank]
    added = None if bias is None else bias.detach().numpy().reshape(shape)
    per_channel = scales if np.ndim(scales) == 0 else scales.reshape(shape)
    level = _requantized(whole, per_channel, added, input.q_scale(), packed.by, (scale, zero_point), relu)
    return channels_last(tensor_of(level, scale, zero_point, input.dtype))

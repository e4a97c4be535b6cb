"""Linear layers and convolutions: integers are multiplied exactly, and the scaled sum is rounded once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import mindtorch as torch
from mindtorch._tensor import Tensor
from mindtorch.nn import functional
from mindtorch_dispatch.quantized.tensors import integers

from .packed import ConvPackedParams, LinearPackedParams, PackedParams
from .rounding import fused, made_of

_EXACT = 2**24  # sums of whole numbers below are exact in float32
_CONVOLUTIONS = {1: functional.conv1d, 2: functional.conv2d, 3: functional.conv3d}
_TRANSPOSED = {1: functional.conv_transpose1d, 2: functional.conv_transpose2d, 3: functional.conv_transpose3d}


def _shifted(tensor: Any, zero_point: Any, wide: bool) -> Any:
    whole = tensor.int_repr().to(torch.float64 if wide else torch.float32)
    return whole - zero_point


def _whole_product(
    input: Tensor, weight: Any, zero_points: Any, depth: int, multiply: Callable[[Any, Any], Any]
) -> Any:
    """Return the product of integers as float32, computed in the narrowest type that holds all sums."""
    wide = depth * 255 * 255 >= _EXACT
    product = multiply(_shifted(input, input.q_zero_point(), wide), _shifted(weight, zero_points, wide))
    return product.round().float()


def _sums(rows: Any, packed: PackedParams, zero_point: int) -> Any:
    """Return the products of rows of integers and a packed weight, without their zero points, as float32."""
    return torch.ops.quantized._linear_sums(rows, *packed.panels, packed.weight.shape[0], zero_point, packed.zero_point)


def _result(whole: Any, packed: PackedParams, input: Any, to: tuple[float, int], relu: bool) -> Any:
    """Return the integers of scaled sums, whose last dimension is the channels."""
    bias = None if packed.bias is None else packed.bias.detach()
    scaled_bias = packed.by != "onednn"
    return torch.ops.quantized._requantize(
        whole, packed.scales, bias, input.q_scale(), *to, scaled_bias, relu, input.dtype
    )


def linear(input: Tensor, packed: LinearPackedParams, scale: float, zero_point: int, relu: bool = False) -> Any:
    """Rows of integers times a weight of integers."""
    weight = packed.weight
    torch._check(input.dim() != 0, lambda: "The dimension of input tensor should be larger than or equal to 1")
    torch._check(
        input.shape[-1] == weight.shape[1],
        lambda: f"The number of rows in the packB should be equal to K: {input.shape[-1]}",
    )
    torch._check(
        input.dtype == torch.quint8,
        lambda: f"quint8 expected for input of quantized linear, got {input.dtype}",
    )
    level = _result(_rows_by(input, packed), packed, input, (float(scale), int(zero_point)), relu)
    return made_of(level.reshape(*input.shape[:-1], weight.shape[0]), scale, zero_point, torch.quint8)


def _rows_by(input: Tensor, packed: LinearPackedParams) -> Any:
    """Return rows of integers times a weight of integers."""
    if packed.zero_point is not None:
        return _sums(integers(input).reshape(-1, input.shape[-1]), packed, input.q_zero_point())
    zero_points = packed.weight.q_per_channel_zero_points()[:, None]
    rows = input.reshape(-1, input.shape[-1])
    return _whole_product(rows, packed.weight, zero_points, input.shape[-1], lambda one, two: one @ two.t())


def scaled_product(input: Tensor, packed: LinearPackedParams) -> Any:
    """Rows of integers times a weight of integers, as float32; scale and bias are applied with one rounding."""
    factor = np.float32(input.q_scale()) * packed.scales.numpy()
    return fused(_rows_by(input, packed).numpy(), factor, 0.0 if packed.bias is None else packed.bias.detach().numpy())


def _patches(input: Tensor, packed: ConvPackedParams) -> Any:
    """Return the integers that each place of the result is made of, channels last: (batch, *places, depth)."""
    rank = input.dim() - 2
    kernel = packed.weight.shape[2:]
    pads = [pad for one in reversed(packed.padding) for pad in (one, one)]
    whole = integers(input)
    padded = torch.nn.functional.pad(whole, pads, value=input.q_zero_point()) if any(pads) else whole
    last = padded.movedim(1, -1).contiguous()
    batch, *extents, channels = last.shape
    places = [
        (extent - dilation * (size - 1) - 1) // step + 1
        for extent, dilation, size, step in zip(extents, packed.dilation, kernel, packed.stride, strict=True)
    ]
    first, *steps, one = last.stride()
    moves = [by * step for by, step in zip(packed.stride, steps, strict=True)]
    apart = [by * step for by, step in zip(packed.dilation, steps, strict=True)]
    seen = last.as_strided([batch, *places, *kernel, channels], [first, *moves, *apart, one])
    return seen.flatten(rank + 1)


def conv(input: Tensor, packed: ConvPackedParams, scale: float, zero_point: int, relu: bool = False) -> Any:
    """A convolution of integers; its result has the channels last in memory, as torch's."""
    if packed.transposed or packed.groups != 1 or packed.zero_point is None:
        whole = _composed_conv(input, packed).movedim(1, -1)
    else:
        patches = _patches(input, packed)
        sums = _sums(patches.flatten(0, -2), packed, input.q_zero_point())
        whole = sums.view(*patches.shape[:-1], sums.shape[-1])
    level = _result(whole, packed, input, (float(scale), int(zero_point)), relu)
    return made_of(level.movedim(-1, 1), scale, zero_point, input.dtype)


def _composed_conv(input: Tensor, packed: ConvPackedParams) -> Any:
    """Return a convolution of integers that comes of one of numbers."""
    rank, weight = input.dim() - 2, packed.weight
    depth = weight[0].numel() if not packed.transposed else weight.numel() // weight.shape[1]
    zero_points = packed.zero_point
    if zero_points is None:
        shape = [1] * weight.dim()
        shape[1 if packed.transposed else 0] = -1
        zero_points = weight.q_per_channel_zero_points().reshape(shape)

    def multiply(one: Any, two: Any) -> Any:
        if packed.transposed:
            return _TRANSPOSED[rank](
                one, two, None, packed.stride, packed.padding, packed.output_padding, packed.groups, packed.dilation
            )
        return _CONVOLUTIONS[rank](one, two, None, packed.stride, packed.padding, packed.dilation, packed.groups)

    return _whole_product(input, weight, zero_points, depth, multiply)

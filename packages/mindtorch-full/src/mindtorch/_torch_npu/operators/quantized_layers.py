"""Layers whose results or operands have eight bits, under torch_npu's names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mindtorch as torch
from mindtorch._torch_npu._operator import operator, refuse
from mindtorch._torch_npu.operators._int8 import INT8, by_row, only_int8, only_nearest, to_int8
from mindtorch._torch_npu.operators.norm import normed
from mindtorch._torch_npu.operators.quantize import EXACT, factors
from mindtorch.nn import functional as F
from mindtorch.tensor.tensor import Tensor

__all__ = [
    "npu_add_rms_norm_dynamic_quant", "npu_add_rms_norm_quant", "npu_gelu_quant", "npu_quant_conv2d",
    "npu_rms_norm_quant", "npu_rms_norm_quant_v2", "npu_swiglu_quant",
]  # fmt: skip


@operator(
    "npu_rms_norm_quant(Tensor x, Tensor gamma, Tensor beta, Tensor scale, Tensor offset, float epsilon=1e-06, *, "
    "ScalarType? dst_dtype=None) -> Tensor"
)
def npu_rms_norm_quant(
    x: Tensor, gamma: Tensor, beta: Tensor, scale: Tensor, offset: Tensor, epsilon: float = 1e-6, *,
    dst_dtype: torch.dtype | None = None,
) -> Tensor:  # fmt: skip
    """Return `npu_rms_norm` plus `beta`, times a scale plus an offset, as int8."""
    only_int8("npu_rms_norm_quant", dst_dtype)
    made = normed(x, gamma, epsilon)[0] * gamma.float() + beta.float()
    return to_int8(made * scale.float() + offset.float())


@operator(
    "npu_rms_norm_quant_v2(Tensor x, Tensor gamma, Tensor scale, *, Tensor? offset=None, Tensor? beta=None, "
    "float epsilon=1e-06, bool div_mode=True, int? dst_dtype=None) -> (Tensor, Tensor)"
)
def npu_rms_norm_quant_v2(
    x: Tensor, gamma: Tensor, scale: Tensor, *, offset: Tensor | None = None, beta: Tensor | None = None,
    epsilon: float = 1e-6, div_mode: bool = True, dst_dtype: int | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return `npu_rms_norm` over a scale, or times it without `div_mode`, as int8, and the reciprocal root."""
    if dst_dtype not in INT8:
        refuse("npu_rms_norm_quant_v2", f"dst_dtype {dst_dtype}")
    made, rstd = normed(x, gamma, epsilon)
    made = made * gamma.float()
    made = made if beta is None else made + beta.float()
    made = made / scale.float() if div_mode else made * scale.float()
    return to_int8(made if offset is None else made + offset.float()), rstd


@operator(
    "npu_add_rms_norm_quant(Tensor x1, Tensor x2, Tensor gamma, Tensor scales1, Tensor? zero_points1, Tensor? beta=None, "
    "Tensor? scales2=None, Tensor? zero_points2=None, *, int axis=-1, float epsilon=1e-06, bool div_mode=True) "
    "-> (Tensor, Tensor, Tensor)"
)
def npu_add_rms_norm_quant(
    x1: Tensor, x2: Tensor, gamma: Tensor, scales1: Tensor, zero_points1: Tensor | None, beta: Tensor | None = None,
    scales2: Tensor | None = None, zero_points2: Tensor | None = None, *, axis: int = -1, epsilon: float = 1e-6,
    div_mode: bool = True,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Return `npu_rms_norm` of the sum as int8, once more with other scales where they are given, and the sum."""
    total = x1 + x2
    made = normed(total, gamma, epsilon)[0] * gamma.float()
    made = made if beta is None else made + beta.float()

    def quantised(scales: Tensor, zero_points: Tensor | None) -> Tensor:
        wide = made / scales.float() if div_mode else made * scales.float()
        return to_int8(wide if zero_points is None else wide + zero_points.float())

    second = quantised(scales2, zero_points2) if scales2 is not None else torch.empty_like(total, dtype=torch.int8)
    return quantised(scales1, zero_points1), second, total


@operator(
    "npu_add_rms_norm_dynamic_quant(Tensor x1, Tensor x2, Tensor gamma, *, Tensor? smooth_scale1=None, "
    "Tensor? smooth_scale2=None, Tensor? beta=None, float epsilon=1e-6, bool[2]? output_mask=None, int? y_dtype=None) "
    "-> (Tensor, Tensor, Tensor, Tensor, Tensor)"
)
def npu_add_rms_norm_dynamic_quant(
    x1: Tensor, x2: Tensor, gamma: Tensor, *, smooth_scale1: Tensor | None = None, smooth_scale2: Tensor | None = None,
    beta: Tensor | None = None, epsilon: float = 1e-6, output_mask: Sequence[bool] | None = None,
    y_dtype: int | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """Return `npu_rms_norm` of the sum in eight bits, twice where there are two smoothings, the sum, and the scales."""
    if y_dtype not in INT8:
        refuse("npu_add_rms_norm_dynamic_quant", f"y_dtype {y_dtype}")
    total = x1 + x2
    made = normed(total, gamma, epsilon)[0] * gamma.float()
    made = made if beta is None else made + beta.float()
    first, second = output_mask or (True, smooth_scale1 is not None and smooth_scale2 is not None)
    empty = (made.new_empty(0, dtype=torch.int8), made.new_empty(0))
    outs = [
        by_row(made if smooth is None else made * smooth.float()) if wanted else empty
        for smooth, wanted in ((smooth_scale1, first), (smooth_scale2, second))
    ]
    return outs[0][0], outs[1][0], total, outs[0][1], outs[1][1]


@operator(
    "npu_gelu_quant(Tensor self, *, Tensor? input_scale=None, Tensor? input_offset=None, str approximate='none', "
    "str quant_mode='dynamic', int? dst_type=None, str round_mode='rint') -> (Tensor, Tensor)"
)
def npu_gelu_quant(
    self: Tensor, *, input_scale: Tensor | None = None, input_offset: Tensor | None = None, approximate: str = "none",
    quant_mode: str = "dynamic", dst_type: int | None = None, round_mode: str = "rint",
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return `gelu` in eight bits and, where rows have scales of their own, those."""
    only_nearest("npu_gelu_quant", dst_type, round_mode)
    made = F.gelu(self.float(), approximate=approximate)
    made = made if input_scale is None else made * input_scale.float()
    if quant_mode == "dynamic":
        return by_row(made)
    if input_scale is None:
        raise RuntimeError("input_scale is needed with quant_mode static")
    return to_int8(made if input_offset is None else made + input_offset.float()), made.new_empty(0)


@operator(
    "npu_swiglu_quant(Tensor x, *, Tensor? smooth_scales=None, Tensor? offsets=None, Tensor? group_index=None, "
    "bool activate_left=False, int quant_mode=0, int group_list_type=0, ScalarType? dst_type=None) -> (Tensor, Tensor)"
)
def npu_swiglu_quant(
    x: Tensor, *, smooth_scales: Tensor | None = None, offsets: Tensor | None = None, group_index: Tensor | None = None,
    activate_left: bool = False, quant_mode: int = 0, group_list_type: int = 0, dst_type: torch.dtype | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return one half times `silu` of the other as int8, and the rows' scales: with `quant_mode` 1 each row's own."""
    only_int8("npu_swiglu_quant", dst_type)
    if quant_mode != 1 or group_index is not None or offsets is not None:
        raise NotImplementedError(
            "torch_npu.npu_swiglu_quant: only quant_mode 1 without groups and offsets is supported"
        )
    left, right = x.float().chunk(2, -1)
    wide = F.silu(left) * right if activate_left else left * F.silu(right)
    wide = wide if smooth_scales is None else wide * smooth_scales.float()
    return by_row(wide)


def _convolved(input: Tensor, weight: Tensor, steps: dict[str, Any], groups: int) -> Tensor:
    """Return the convolution of int8 images as int32, exact: of so many channels at a time as float32 has sums of."""
    channels, places = weight.shape[1], weight.shape[2] * weight.shape[3]
    if places > EXACT:
        refuse("npu_quant_conv2d", f"a kernel of {places} places")
    width = max(1, EXACT // places)
    if channels <= width:
        return F.conv2d(input.float(), weight.float(), **steps, groups=groups).to(torch.int32)
    made = []
    for images, kernels in zip(input.chunk(groups, 1), weight.chunk(groups, 0), strict=True):
        parts = zip(images.split(width, 1), kernels.split(width, 1), strict=True)
        products = [F.conv2d(part.float(), kernel.float(), **steps).to(torch.int32) for part, kernel in parts]
        made.append(torch.stack(products).sum(0, dtype=torch.int32))
    return torch.cat(made, 1)


@operator(
    "npu_quant_conv2d(Tensor input, Tensor weight, Tensor scale, int[2] strides=1, int[2] pads=0, int[2] dilations=1, "
    "int groups=1, int offset_x=0, str round_mode='rint', ScalarType? output_dtype=None, Tensor? bias=None, "
    "Tensor? offset=None, int? input_dtype=None, int? weight_dtype=None) -> Tensor"
)
def npu_quant_conv2d(
    input: Tensor, weight: Tensor, scale: Tensor, strides: Sequence[int] = (1, 1), pads: Sequence[int] = (0, 0),
    dilations: Sequence[int] = (1, 1), groups: int = 1, offset_x: int = 0, round_mode: str = "rint",
    output_dtype: torch.dtype | None = None, bias: Tensor | None = None, offset: Tensor | None = None,
    input_dtype: int | None = None, weight_dtype: int | None = None,
) -> Tensor:  # fmt: skip
    """Return the convolution of int8 images, exact, times the scale of each channel, as float16."""
    if input.dtype is not torch.int8 or weight.dtype is not torch.int8 or offset is not None or offset_x:
        refuse("npu_quant_conv2d", "anything but torch.int8 without offsets")
    if output_dtype not in (torch.float16, torch.bfloat16) or round_mode != "rint":
        refuse("npu_quant_conv2d", f"output_dtype {output_dtype} with round_mode {round_mode}")
    made = _convolved(input, weight, {"stride": strides, "padding": pads, "dilation": dilations}, groups)
    if bias is not None:
        made = made + bias.reshape(-1, 1, 1)
    return (made.float() * factors(scale).reshape(-1, 1, 1)).to(output_dtype)

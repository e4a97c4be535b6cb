"""Modules of regions and deformed convolutions: `ROIAlign`, `PSROIPool`, `ModulatedDeformConv`."""

from __future__ import annotations

import math
from typing import Any

import mindtorch as torch
from mindtorch import nn
from mindtorch._torch_npu.operators import regions
from mindtorch.autograd import Function
from mindtorch.autograd.function import FunctionCtx
from mindtorch.tensor.tensor import Tensor

__all__ = ["DCNv2", "ModulatedDeformConv", "ModulatedDeformConv2dFunction", "PSROIPool", "ROIAlign"]


class ROIAlign(nn.Module):
    """The means of the bins of regions, which are images' numbers and corners; `aligned` shifts them by half a pixel."""

    def __init__(
        self, output_size: tuple[int, int], spatial_scale: float, sampling_ratio: int, aligned: bool = True
    ) -> None:
        super().__init__()
        self.output_size, self.spatial_scale = output_size, spatial_scale
        self.sampling_ratio, self.aligned = sampling_ratio, aligned

    def forward(self, input_tensor: Tensor, rois: Tensor) -> Tensor:
        """Return the means. ValueError for regions that are not rows of five numbers."""
        if rois.dim() != 2 or rois.size(1) != 5:
            raise ValueError("Expected rois.dim() == 2 and rois.size(1) == 5")
        return regions.npu_roi_align(
            input_tensor.float(), rois, self.spatial_scale, *self.output_size, self.sampling_ratio, 3 * self.aligned
        )

    def extra_repr(self) -> str:
        """Return the options."""
        shown = ("output_size", "spatial_scale", "sampling_ratio", "aligned")
        return ", ".join(f"{name}={getattr(self, name)}" for name in shown)


class PSROIPool(nn.Module):
    """The means of the bins of regions, every bin from channels of its own."""

    def __init__(
        self, pooled_height: int = 7, pooled_width: int = 7, spatial_scale: float = 1 / 16.0, group_size: int = 7,
        output_dim: int = 22,
    ) -> None:  # fmt: skip
        super().__init__()
        if not pooled_height == pooled_width == group_size:
            raise ValueError("only pooled_height == pooled_width == group_size supported.")
        self.pooled_width, self.pooled_height = pooled_width, pooled_height
        self.spatial_scale, self.group_size, self.output_dim = spatial_scale, group_size, output_dim

    def forward(self, features: Tensor, rois: Tensor) -> Tensor:
        """Return the means; regions are [batch, 5, count]."""
        return regions.npu_ps_roi_pooling(features, rois, self.spatial_scale, self.group_size, self.output_dim)

    def extra_repr(self) -> str:
        """Return the options."""
        shown = ("pooled_width", "pooled_height", "spatial_scale", "group_size", "output_dim")
        return ", ".join(f"{name}={getattr(self, name)}" for name in shown)


class ModulatedDeformConv2dFunction(Function):
    """A convolution that reads where offsets say, each reading times its factor, with gradients for both."""

    @staticmethod
    def forward(
        ctx: FunctionCtx, input_tensor: Tensor, offset_ori: Tensor, mask: Tensor, weight: Tensor,
        bias: Tensor | None = None, with_bias: bool = False, stride: int = 1, padding: int = 0, dilation: int = 1,
        groups: int = 1, deformable_groups: int = 1, sort_index_for_npu_fp: Tensor | None = None,
        sort_index_for_npu_bp: Tensor | None = None,
    ) -> Tensor:  # fmt: skip
        if sort_index_for_npu_fp is None or sort_index_for_npu_bp is None:
            raise ValueError("the orders of the offsets' channels are needed")
        offsets = torch.cat([offset_ori.float().index_select(1, sort_index_for_npu_fp), mask.float()], 1)
        side, edge, gap = [1, 1, stride, stride], [padding] * 4, [1, 1, dilation, dilation]
        context: Any = ctx
        context.how = ([weight.shape[2], weight.shape[3]], side, edge, gap, groups, deformable_groups, True)
        out, read = regions.npu_deformable_conv2d(input_tensor.float(), weight, offsets, bias, *context.how)
        context.back, context.with_bias = sort_index_for_npu_bp, with_bias
        context.save_for_backward(input_tensor.float(), weight, read, offsets)
        return out

    @staticmethod
    def backward(ctx: FunctionCtx, *grad_outputs: Tensor) -> Any:
        context: Any = ctx
        image, weight, read, offsets = context.saved_tensors
        to_image, to_weight, to_all, to_bias = regions.npu_deformable_conv2dbk(
            image, grad_outputs[0], read, weight, offsets, *context.how
        )
        to_offset = to_all.index_select(1, context.back)
        to_mask = to_all[:, to_offset.shape[1] :]
        return to_image, to_offset, to_mask, to_weight, to_bias if context.with_bias else None, *(None,) * 8


class ModulatedDeformConv(nn.Module):
    """A convolution that learns where it reads: with `pack` the offsets and factors are a convolution's of the input."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: int | tuple[int, int], stride: int = 1,
        padding: int = 0, dilation: int = 1, groups: int = 1, deformable_groups: int = 1, bias: bool = True,
        pack: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        sizes = kernel_size if isinstance(kernel_size, tuple) else (kernel_size, kernel_size)
        self.in_channels, self.out_channels, self.kernel_size = in_channels, out_channels, sizes
        self.stride, self.padding, self.dilation, self.groups = stride, padding, dilation, groups
        self.deformable_groups, self.with_bias, self.pack = deformable_groups, bias, pack
        self.weight = nn.Parameter(torch.empty(out_channels, in_channels // groups, *sizes))
        self.bias = nn.Parameter(torch.empty(out_channels)) if bias else torch.zeros(out_channels)
        points = deformable_groups * sizes[0] * sizes[1]
        self.split_num = 2 * points
        if pack:
            self.conv_offset = nn.Conv2d(in_channels, 3 * points, sizes, stride, padding)
        order = [*range(1, self.split_num, 2), *range(0, self.split_num, 2)]
        self.sort_index_for_npu_fp = torch.tensor(order, dtype=torch.int32)
        self.sort_index_for_npu_bp = self.sort_index_for_npu_fp.argsort().to(torch.int32)
        self.init_param()

    def init_param(self) -> None:
        """Draw the weight; offsets begin at nowhere else."""
        bound = 1.0 / math.sqrt(self.in_channels * self.kernel_size[0] * self.kernel_size[1])
        self.weight.data.uniform_(-bound, bound)
        self.bias.data.zero_()
        if self.pack:
            self.conv_offset.weight.data.zero_()
            self.conv_offset.bias.data.zero_()

    def forward(self, x: Tensor | tuple[Tensor, Tensor, Tensor]) -> Tensor:
        """Return the convolution of an image or, without `pack`, of an image with its offsets and factors."""
        if isinstance(x, tuple):
            image, offset, mask = x
        else:
            image, found = x, self.conv_offset(x)
            offset, mask = found[:, : self.split_num], torch.sigmoid(found[:, self.split_num :])
        for name in ("sort_index_for_npu_fp", "sort_index_for_npu_bp"):
            setattr(self, name, getattr(self, name).to(image.device))
        if not self.with_bias:
            self.bias = self.bias.to(image.device)
        return ModulatedDeformConv2dFunction.apply(
            image, offset, mask, self.weight, self.bias, self.with_bias, self.stride, self.padding, self.dilation,
            self.groups, self.deformable_groups, self.sort_index_for_npu_fp, self.sort_index_for_npu_bp,
        )  # fmt: skip


DCNv2 = ModulatedDeformConv

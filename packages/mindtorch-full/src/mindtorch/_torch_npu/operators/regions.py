"""Regions of images, deformed convolutions and turned boxes, under torch_npu's names."""

from __future__ import annotations

import math
from collections.abc import Sequence

import mindtorch as torch
from mindtorch._torch_npu._operator import operator
from mindtorch._torch_npu.operators.gradients import pulled
from mindtorch.tensor.tensor import Tensor

__all__ = [
    "crop_and_resize", "image_normalize", "image_normalize_", "img_to_tensor", "npu_deformable_conv2d",
    "npu_deformable_conv2dbk", "npu_ps_roi_pooling", "npu_random_choice_with_mask", "npu_roi_align", "npu_roi_alignbk",
]  # fmt: skip

_LEGACY, _ALIGNED = 0, 3


def _between(places: Tensor, extent: int) -> Tensor:
    """Return how much each pixel of a line counts at places between them, of which those outside count nothing."""
    inside = (places >= -1) & (places <= extent)
    pixels = torch.arange(extent, device=places.device, dtype=places.dtype)
    near = (1 - (places.clamp(0, max(extent - 1, 0)).unsqueeze(-1) - pixels).abs()).clamp(min=0)
    return near * inside.unsqueeze(-1)


def _means(start: Tensor, size: Tensor, bins: int, samples: int, extent: int) -> Tensor:
    """Return for each region and bin how much each pixel of a line counts in the mean of so many samples."""
    counts = [samples] * len(start) if samples > 0 else [max(1, math.ceil(one / bins)) for one in size.tolist()]
    made = []
    for begin, length, count in zip(start, size, counts, strict=True):
        steps = (torch.arange(bins * count, device=start.device, dtype=start.dtype) + 0.5) / (bins * count)
        made.append(_between(begin + steps * length, extent).reshape(bins, count, extent).mean(1))
    return torch.stack(made) if made else start.new_zeros(0, bins, extent)


def _aligned(image: Tensor, rois: Tensor, scale: float, height: int, width: int, samples: int, mode: int) -> Tensor:
    if mode not in (_LEGACY, _ALIGNED):
        raise NotImplementedError(f"torch_npu.npu_roi_align: roi_end_mode {mode} is not supported, only 0 and 3")
    shift, least = (0.5, 0.0) if mode == _ALIGNED else (0.0, 1.0)
    x1, y1, x2, y2 = (rois[:, at].float() * scale - shift for at in range(1, 5))
    across = _means(x1, (x2 - x1).clamp(min=least) if least else x2 - x1, width, samples, image.shape[3])
    down = _means(y1, (y2 - y1).clamp(min=least) if least else y2 - y1, height, samples, image.shape[2])
    parts = image.float().index_select(0, rois[:, 0].long())
    return (down.unsqueeze(1) @ parts @ across.unsqueeze(1).transpose(-2, -1)).to(image.dtype)


@operator(
    "npu_roi_align(Tensor self, Tensor rois, float spatial_scale, int pooled_height, int pooled_width, int sample_num, "
    "int roi_end_mode) -> Tensor"
)
def npu_roi_align(
    self: Tensor, rois: Tensor, spatial_scale: float, pooled_height: int, pooled_width: int, sample_num: int,
    roi_end_mode: int,
) -> Tensor:  # fmt: skip
    """Return the means of the bins of every region; 3 as `roi_end_mode` shifts regions by half a pixel."""
    return _aligned(self, rois, spatial_scale, pooled_height, pooled_width, sample_num, roi_end_mode)


@operator(
    "npu_roi_alignbk(Tensor self, Tensor rois, int[] xdiff_shape, int pooled_width, int pooled_height, "
    "float spatial_scale, int sample_num, int? roi_end_mode=None) -> Tensor"
)
def npu_roi_alignbk(
    self: Tensor, rois: Tensor, xdiff_shape: Sequence[int], pooled_width: int, pooled_height: int,
    spatial_scale: float, sample_num: int, roi_end_mode: int | None = None,
) -> Tensor:  # fmt: skip
    """Return the gradient of `npu_roi_align` for the image."""
    if (pooled_height, pooled_width) != tuple(self.shape[2:]):
        pooled_height, pooled_width = self.shape[2:]
    return pulled(
        lambda x: _aligned(x, rois, spatial_scale, pooled_height, pooled_width, sample_num, roi_end_mode or _LEGACY),
        (self.new_zeros(tuple(xdiff_shape)),),
        self,
    )[0]


def _whole(start: Tensor, end: Tensor, bins: int, extent: int) -> tuple[Tensor, Tensor]:
    """Return which pixels of a line are in each region's bins, and how many."""
    size = (end - start).clamp(min=0.1) / bins
    steps = torch.arange(bins, device=start.device, dtype=start.dtype)
    low = (steps * size.unsqueeze(1) + start.unsqueeze(1)).floor().clamp(0, extent)
    high = ((steps + 1) * size.unsqueeze(1) + start.unsqueeze(1)).ceil().clamp(0, extent)
    pixels = torch.arange(extent, device=start.device, dtype=start.dtype)
    inside = (pixels >= low.unsqueeze(-1)) & (pixels < high.unsqueeze(-1))
    return inside.to(start.dtype), (high - low).clamp(min=0)


@operator("npu_ps_roi_pooling(Tensor self, Tensor rois, float spatial_scale, int group_size, int output_dim) -> Tensor")
def npu_ps_roi_pooling(self: Tensor, rois: Tensor, spatial_scale: float, group_size: int, output_dim: int) -> Tensor:
    """Return the means of the bins of every region, every bin from channels of its own; regions are [batch, 5, count]."""
    boxes = rois.float().transpose(1, 2).reshape(-1, 5)
    rounded = [torch.floor(boxes[:, at] + 0.5) for at in range(1, 5)]
    x1, y1 = rounded[0] * spatial_scale, rounded[1] * spatial_scale
    x2, y2 = (rounded[2] + 1) * spatial_scale, (rounded[3] + 1) * spatial_scale
    across, wide = _whole(x1, x2, group_size, self.shape[3])
    down, high = _whole(y1, y2, group_size, self.shape[2])
    numbers = boxes[:, 0].long().clamp(0, self.shape[0] - 1)
    parts = self.float().index_select(0, numbers)
    parts = parts.reshape(len(boxes), output_dim, group_size, group_size, *self.shape[2:])
    rows = down.reshape(len(boxes), 1, group_size, 1, 1, -1)
    columns = across.reshape(len(boxes), 1, 1, group_size, -1, 1)
    total = (rows @ parts @ columns).reshape(len(boxes), output_dim, group_size, group_size)
    count = (high.unsqueeze(-1) * wide.unsqueeze(1)).unsqueeze(1)
    return (total / count.clamp(min=1)).to(self.dtype)


def _sampled(image: Tensor, y: Tensor, x: Tensor, groups: int) -> Tensor:
    """Return an image's values at places between pixels, zero outside; places are of batch, group and any others."""
    batch, channels, height, width = image.shape
    flat = image.reshape(batch, groups, channels // groups, height * width)
    top, left = y.floor(), x.floor()
    total = image.new_zeros(batch, groups, channels // groups, *y.shape[2:])
    for down in (0, 1):
        for right in (0, 1):
            row, column = top + down, left + right
            weight = (1 - (y - row).abs()) * (1 - (x - column).abs())
            inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
            place = (row.clamp(0, height - 1) * width + column.clamp(0, width - 1)).long()
            index = place.reshape(batch, groups, 1, -1).expand(-1, -1, channels // groups, -1)
            found = flat.gather(3, index).reshape(total.shape)
            total = total + found * (weight * inside).unsqueeze(2)
    return total.reshape(batch, channels, *y.shape[2:])


def _deformed(
    image: Tensor, weight: Tensor, offset: Tensor, bias: Tensor | None, stride: Sequence[int], padding: Sequence[int],
    dilation: Sequence[int], groups: int, deformable_groups: int, modulated: bool,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return the convolution of an image sampled at moved places, and the samples."""
    high, wide = weight.shape[2:]
    batch, _, rows, columns = offset.shape
    points = offset.reshape(batch, 3 if modulated else 2, deformable_groups, high * wide, rows, columns)

    def line(count: int, step: int, before: int, size: int, gap: int) -> Tensor:
        starts = torch.arange(count, device=image.device, dtype=image.dtype) * step - before
        return torch.arange(size, device=image.device, dtype=image.dtype).unsqueeze(1) * gap + starts

    down = line(rows, stride[2], padding[0], high, dilation[2]).reshape(high, 1, rows, 1)
    across = line(columns, stride[3], padding[2], wide, dilation[3]).reshape(1, wide, 1, columns)
    grid = (high, wide, rows, columns)
    y = points[:, 1] + down.expand(grid).reshape(high * wide, rows, columns)
    x = points[:, 0] + across.expand(grid).reshape(high * wide, rows, columns)
    found = _sampled(image, y, x, deformable_groups)
    if modulated:
        found = found * points[:, 2].repeat_interleave(image.shape[1] // deformable_groups, 1)
    split = found.reshape(batch, groups, -1, rows * columns)
    made = weight.reshape(groups, weight.shape[0] // groups, -1) @ split
    made = made.reshape(batch, weight.shape[0], rows, columns)
    return made if bias is None else made + bias.reshape(-1, 1, 1), found


_KERNEL = (
    "int[2] kernel_size, int[] stride, int[] padding, int[4] dilation=[1,1,1,1], int groups=1, "
    "int deformable_groups=1, bool modulated=True"
)


@operator(
    f"npu_deformable_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor? bias, {_KERNEL}) -> (Tensor, Tensor)"
)
def npu_deformable_conv2d(
    input: Tensor, weight: Tensor, offset: Tensor, bias: Tensor | None, kernel_size: Sequence[int],
    stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int] = (1, 1, 1, 1), groups: int = 1,
    deformable_groups: int = 1, modulated: bool = True,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return a convolution that reads where offsets say, and what it has read.

    The channels of `offset` are all shifts to the right, all shifts down and, with `modulated`, all factors.
    """
    made, found = _deformed(
        input, weight, offset, bias, stride, padding, dilation, groups, deformable_groups, modulated
    )
    return made, _laid_out(found, weight)


def _laid_out(found: Tensor, weight: Tensor) -> Tensor:
    """Return samples as an image in which each output has a block of the kernel's sizes."""
    (high, wide), (batch, channels, _, rows, columns) = weight.shape[2:], found.shape
    blocks = found.reshape(batch, channels, high, wide, rows, columns).permute(0, 1, 4, 2, 5, 3)
    return blocks.reshape(batch, channels, rows * high, columns * wide)


@operator(
    "npu_deformable_conv2dbk(Tensor input, Tensor grad_output, Tensor offset_out, Tensor weight, Tensor offset, "
    f"{_KERNEL}) -> (Tensor, Tensor, Tensor, Tensor)"
)
def npu_deformable_conv2dbk(
    input: Tensor, grad_output: Tensor, offset_out: Tensor, weight: Tensor, offset: Tensor, kernel_size: Sequence[int],
    stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int] = (1, 1, 1, 1), groups: int = 1,
    deformable_groups: int = 1, modulated: bool = True,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """Return the gradients of `npu_deformable_conv2d` for the image, the weight, the offsets and the bias."""
    how = (stride, padding, dilation, groups, deformable_groups, modulated)
    found = pulled(lambda x, w, o: _deformed(x, w, o, None, *how)[0], (input, weight, offset), grad_output)
    return found[0], found[1], found[2], grad_output.sum((0, 2, 3))


@operator(
    "crop_and_resize(Tensor self, float[]? boxes, int[] box_index, int[] crop_size, float extrapolation_value=0, "
    'str method="bilinear") -> Tensor'
)
def crop_and_resize(
    self: Tensor, boxes: Sequence[float] | None, box_index: Sequence[int], crop_size: Sequence[int],
    extrapolation_value: float = 0.0, method: str = "bilinear",
) -> Tensor:  # fmt: skip
    """Return parts of images in one size; a box is top, left, bottom and right in shares of its image."""
    if method != "bilinear":
        raise NotImplementedError(f"torch_npu.crop_and_resize: the method {method} is not supported")
    corners = torch.tensor(list(boxes or ()), device=self.device, dtype=torch.float32).reshape(-1, 4)
    lines = []
    for low, high, count, extent in ((0, 2, crop_size[0], self.shape[2]), (1, 3, crop_size[1], self.shape[3])):
        start, end = corners[:, low] * (extent - 1), corners[:, high] * (extent - 1)
        steps = torch.arange(count, device=self.device, dtype=torch.float32) / max(count - 1, 1)
        places = start.unsqueeze(1) + steps * (end - start).unsqueeze(1) if count > 1 else ((start + end) / 2)[:, None]
        lines.append((_between(places, extent), (places >= 0) & (places <= extent - 1)))
    (down, rows), (across, columns) = lines
    parts = self.float().index_select(0, torch.tensor(list(box_index), device=self.device))
    made = down.unsqueeze(1) @ parts @ across.unsqueeze(1).transpose(-2, -1)
    inside = (rows.unsqueeze(-1) & columns.unsqueeze(1)).unsqueeze(1)
    return torch.where(inside, made, torch.full_like(made, extrapolation_value)).to(self.dtype)


@operator("img_to_tensor(Tensor self) -> Tensor")
def img_to_tensor(self: Tensor) -> Tensor:
    """Return images of bytes, channels last, as shares of 255, channels first."""
    return self.permute(0, 3, 1, 2).float().div(255).contiguous()


@operator("image_normalize(Tensor self, float[]? mean, float[]? variance, int dtype=0) -> Tensor")
def image_normalize(
    self: Tensor, mean: Sequence[float] | None, variance: Sequence[float] | None, dtype: int = 0
) -> Tensor:
    """Return images less the mean of each channel, over its deviation; `dtype` 1 gives float16."""
    sides = [
        torch.tensor(list(one or (default,)), device=self.device, dtype=torch.float32).reshape(1, -1, 1, 1)
        for one, default in ((mean, 0.0), (variance, 1.0))
    ]
    made = (self.float() - sides[0]) / sides[1]
    return made.half() if dtype == 1 else made


@operator("image_normalize_(Tensor(a!) self, float[]? mean, float[]? variance, int dtype=0) -> Tensor(a!)")
def image_normalize_(
    self: Tensor, mean: Sequence[float] | None, variance: Sequence[float] | None, dtype: int = 0
) -> Tensor:
    """`image_normalize` in place."""
    return self.copy_(image_normalize(self, mean, variance, dtype))


@operator("npu_random_choice_with_mask(Tensor x, int count=256, int seed=0, int seed2=0) -> (Tensor, Tensor)")
def npu_random_choice_with_mask(x: Tensor, count: int = 256, seed: int = 0, seed2: int = 0) -> tuple[Tensor, Tensor]:
    """Return places where the tensor is true, by chance and so many, and which of them are there; 0 is all of them.

    A seed draws the same ones every time; without one they are drawn from the device's stream.
    """
    places = x.nonzero()
    if seed or seed2:
        stream = torch.Generator().manual_seed(seed * 2**31 + seed2)
        order = torch.randperm(len(places), generator=stream).to(x.device)
    else:
        order = torch.randperm(len(places), device=x.device)
    wanted = count or len(places)
    chosen = places.index_select(0, order[:wanted]).to(torch.int32)
    there = torch.arange(wanted, device=x.device) < len(chosen)
    return torch.cat((chosen, chosen.new_zeros(wanted - len(chosen), x.dim()))), there

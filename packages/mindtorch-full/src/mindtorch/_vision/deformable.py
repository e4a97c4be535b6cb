"""Deformable convolution: samples between the pixels, then a product with the kernel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import mindtorch as torch


def _positions(count: int, kernel: int, stride: int, pad: int, dilation: int, like: Any) -> Any:
    """Return where an unmoved kernel reads, [kernel, count]."""
    at = torch.arange(count, device=like.device) * stride - pad
    return (at + torch.arange(kernel, device=like.device)[:, None] * dilation).to(like.dtype)


class Sampling:
    """What one call reads: points [B, offset groups, kernel and output places] of the images."""

    def __init__(
        self,
        input: Any,
        weight: Any,
        offset: Any,
        mask: Any,
        stride_h: int,
        stride_w: int,
        pad_h: int,
        pad_w: int,
        dilation_h: int,
        dilation_w: int,
        groups: int,
        offset_groups: int,
        use_mask: bool,
    ) -> None:
        batch, channels, self.height, self.width = input.shape
        kernel_h, kernel_w = weight.shape[2:]
        self.high, self.wide = offset.shape[-2:]
        self.shape, self.offset, self.groups = input.shape, offset, groups
        self.weight = weight.reshape(groups, weight.shape[0] // groups, -1)
        self.kernel = weight.shape
        self.image = input.reshape(batch, offset_groups, channels // offset_groups, -1)
        self.given_mask = mask
        self.mask = mask.reshape(batch, offset_groups, 1, -1) if use_mask else None
        y = _positions(self.high, kernel_h, stride_h, pad_h, dilation_h, offset)[:, None, :, None]
        x = _positions(self.wide, kernel_w, stride_w, pad_w, dilation_w, offset)[None, :, None, :]
        moved = offset.reshape(batch, offset_groups, kernel_h, kernel_w, 2, self.high, self.wide)
        self.y, self.x = (y + moved[:, :, :, :, 0]).flatten(2), (x + moved[:, :, :, :, 1]).flatten(2)

    def corners(self) -> Iterator[tuple[Any, Any, Any, Any]]:
        """Yield for each of the four pixels around the points: where it is, its weight, and how that moves with y and x."""
        y, x = self.y, self.x
        outside = (y <= -1) | (y >= self.height) | (x <= -1) | (x >= self.width)
        low_y, low_x = y.floor(), x.floor()
        for down in (0, 1):
            for across in (0, 1):
                at_y, at_x = low_y + down, low_x + across
                there = (at_y >= 0) & (at_y < self.height) & (at_x >= 0) & (at_x < self.width) & ~outside
                place = at_y.clamp(0, self.height - 1) * self.width + at_x.clamp(0, self.width - 1)
                part_y, part_x = (1 - (y - at_y).abs()) * there, (1 - (x - at_x).abs()) * there
                yield place.long()[:, :, None], part_y * part_x, part_x * (2 * down - 1), part_y * (2 * across - 1)

    def _values(self, place: Any) -> Any:
        return self.image.gather(3, place.expand(-1, -1, self.image.shape[2], -1))

    def samples(self) -> Any:
        """Return the values at the points, [B, offset groups, C, points]."""
        return sum(self._values(place) * weight[:, :, None] for place, weight, _, _ in self.corners())

    def _columns(self, samples: Any) -> Any:
        masked = samples if self.mask is None else samples * self.mask
        return masked.reshape(self.shape[0], self.groups, self.weight.shape[2], self.high * self.wide)

    def product(self, bias: Any) -> Any:
        """Return the result of the convolution."""
        product = torch.matmul(self.weight, self._columns(self.samples()))
        return product.reshape(self.shape[0], -1, self.high, self.wide) + bias.reshape(1, -1, 1, 1)

    def gradients(self, grad: Any) -> tuple[Any, Any, Any, Any]:
        """Return the gradients of input, weight, offset and mask."""
        grad = grad.reshape(self.shape[0], self.groups, self.weight.shape[1], -1)
        samples = self.samples()
        of_weight = torch.matmul(grad, self._columns(samples).transpose(-1, -2)).sum(0).reshape(self.kernel)
        of_masked = torch.matmul(self.weight.transpose(-1, -2), grad).reshape(samples.shape)
        of_mask = torch.zeros_like(self.given_mask)
        of_samples = of_masked
        if self.mask is not None:
            of_mask = (of_masked * samples).sum(2).reshape(self.given_mask.shape)
            of_samples = of_masked * self.mask
        of_image = torch.zeros_like(self.image)
        of_y, of_x = torch.zeros_like(self.y), torch.zeros_like(self.x)
        for place, weight, by_y, by_x in self.corners():
            of_image.scatter_add_(3, place.expand_as(of_samples), of_samples * weight[:, :, None])
            moved = (self._values(place) * of_samples).sum(2)
            of_y += moved * by_y
            of_x += moved * by_x
        batch, offset_groups = self.y.shape[:2]
        parts = (one.reshape(batch, offset_groups, -1, 1, self.high, self.wide) for one in (of_y, of_x))
        of_offset = torch.cat(list(parts), 3).reshape(self.offset.shape)
        return of_image.reshape(self.shape), of_weight, of_offset, of_mask

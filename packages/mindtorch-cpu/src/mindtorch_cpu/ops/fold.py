"""Sliding blocks as columns, and columns summed back."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from mindtorch_dispatch.meta.fold import blocks

from ..register import kernel

Pair = Sequence[int]


def _padded(shape: Sequence[int], padding: Pair, dtype: Any) -> Any:
    *rest, height, width = shape
    return np.zeros((*rest, height + 2 * padding[0], width + 2 * padding[1]), dtype)


def _inside(array: Any, padding: Pair) -> Any:
    top, left = padding
    return array[..., top : array.shape[-2] - top, left : array.shape[-1] - left]


def _windows(image: Any, counts: Pair, kernel_size: Pair, dilation: Pair, stride: Pair) -> Iterator[tuple[int, Any]]:
    """Yield, per place in the window, its number and the view (*, rows, columns) of what stands there."""
    for place in range(kernel_size[0] * kernel_size[1]):
        row, column = divmod(place, kernel_size[1])
        top, left = row * dilation[0], column * dilation[1]
        yield (
            place,
            image[
                ...,
                top : top + stride[0] * (counts[0] - 1) + 1 : stride[0],
                left : left + stride[1] * (counts[1] - 1) + 1 : stride[1],
            ],
        )


@kernel("im2col", upcast=False)
def im2col(out: Any, self: Any, kernel_size: Pair, dilation: Pair, padding: Pair, stride: Pair) -> None:
    """Blocks as columns."""
    image = _padded(self.shape, padding, self.dtype)
    _inside(image, padding)[...] = self
    counts = blocks(self.shape[-2:], kernel_size, dilation, padding, stride)
    # The columns are split by reshaping, which only contiguous memory allows without a copy.
    target = out if out.flags.c_contiguous else np.empty(out.shape, out.dtype)
    columns = target.reshape(*self.shape[:-2], kernel_size[0] * kernel_size[1], *counts)
    for place, window in _windows(image, counts, kernel_size, dilation, stride):
        columns[..., place, :, :] = window
    if target is not out:
        out[...] = target


@kernel("col2im")
def col2im(
    out: Any, self: Any, output_size: Pair, kernel_size: Pair, dilation: Pair, padding: Pair, stride: Pair
) -> None:
    """Columns summed into the image."""
    image = _padded(out.shape, padding, out.dtype)
    counts = blocks(out.shape[-2:], kernel_size, dilation, padding, stride)
    columns = self.reshape(*out.shape[:-2], kernel_size[0] * kernel_size[1], *counts)
    for place, window in _windows(image, counts, kernel_size, dilation, stride):
        np.add(window, columns[..., place, :, :], out=window)
    out[...] = _inside(image, padding)

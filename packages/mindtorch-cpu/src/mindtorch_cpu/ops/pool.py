"""Pooling over windows: one pass over the whole batch per position in the window."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..reduced import widened
from ..register import kernel


def extended(x: Any, size: Sequence[int], kernel: Any, stride: Any, padding: Any, dilation: Any, fill: Any) -> Any:
    """Return `x` with `fill` around the last dimensions, as far as the windows reach."""
    dims = len(kernel)
    reach = [
        max((size[at] - 1) * stride[at] + (kernel[at] - 1) * dilation[at] + 1, x.shape[at - dims] + padding[at])
        for at in range(dims)
    ]
    if not any(padding) and all(reach[at] == x.shape[at - dims] for at in range(dims)):
        return x
    wide = np.full((*x.shape[:-dims], *reach), fill, x.dtype)
    inner: list[Any] = [slice(padding[at], padding[at] + x.shape[at - dims]) for at in range(dims)]
    wide[(..., *inner)] = x
    return wide


def places(size: Sequence[int], kernel: Any, stride: Any, dilation: Any) -> Iterator[tuple[tuple[int, ...], Any]]:
    """Yield each offset in the window with the index of what all windows have there."""
    for offset in itertools.product(*(range(extent) for extent in kernel)):
        begins = [at * gap for at, gap in zip(offset, dilation, strict=True)]
        yield (
            offset,
            (
                ...,
                *(
                    slice(begin, begin + (count - 1) * step + 1, step)
                    for begin, count, step in zip(begins, size, stride, strict=True)
                ),
            ),
        )


def _flat_positions(coordinates: Sequence[Any], spatial: Sequence[int]) -> Any:
    """Return the positions in a plane of the given coordinates, broadcast against each other."""
    total: Any = 0
    for at, values in enumerate(coordinates):
        shape = [1] * len(spatial)
        shape[at] = -1
        total = total * spatial[at] + values.reshape(shape)
    return total


def lowest(dtype: Any) -> Any:
    """Return what is less than everything."""
    return -np.inf if dtype.kind == "f" or dtype.kind == "V" else np.iinfo(dtype).min


@kernel("max_pool2d_with_indices", "max_pool3d_with_indices")
def max_pool(outs: Any, x: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool) -> None:
    """The first largest value of every window, or its last nan, and where it was in its plane."""
    out, index = outs
    dims = len(kernel_size)
    size, spatial = out.shape[-dims:], x.shape[-dims:]
    wide = extended(x, size, kernel_size, stride, padding, dilation, lowest(x.dtype))
    begins = [np.arange(size[at]) * stride[at] - padding[at] for at in range(dims)]
    inside = [np.where(b < 0, b + -(b // gap) * gap, b) for b, gap in zip(begins, dilation, strict=True)]
    out.fill(lowest(x.dtype))
    index[...] = _flat_positions(inside, spatial)
    for offset, place in places(size, kernel_size, stride, dilation):
        values = wide[place]
        better = values > out
        if x.dtype.kind == "f":
            np.logical_or(better, values != values, better)
        np.copyto(out, values, where=better)
        here = [b + at * gap for b, at, gap in zip(begins, offset, dilation, strict=True)]
        np.copyto(index, _flat_positions(here, spatial), where=better)


def check_places(index: Any, spatial: Sequence[int]) -> None:
    """Refuse places that a plane of these extents does not have."""
    wrong = index[(index < 0) | (index >= math.prod(spatial))]
    if wrong.size:
        raise RuntimeError(
            f"Found an invalid max index: {wrong.reshape(-1)[0]} (output volumes are of size "
            f"{'x'.join(map(str, spatial))})"
        )


def scatter_add(out: Any, values: Any, index: Any, dims: int) -> None:
    """Write to `out` the sum of the values sent to each position of a plane (the last `dims` dimensions)."""
    if not values.size:
        out.fill(0)
        return
    check_places(index, out.shape[-dims:])
    area = int(np.prod(out.shape[-dims:]))
    planes = out.size // area if area else 0
    flat = index.reshape(planes, -1) + np.arange(planes)[:, None] * area
    sums = np.bincount(flat.reshape(-1), values.reshape(-1), minlength=out.size)
    out[...] = sums.reshape(out.shape)


@kernel("max_pool2d_with_indices_backward", "max_pool3d_with_indices_backward")
def max_pool_backward(
    out: Any, grad: Any, x: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool, index: Any
) -> None:
    """Gradients go to where the maxima were."""
    scatter_add(out, grad, index, len(kernel_size))


def _counts(
    spatial: Sequence[int],
    size: Sequence[int],
    kernel_size: Any,
    stride: Any,
    padding: Any,
    include_pad: bool,
    divisor: int | None,
) -> Any:
    """Return by how much each window's sum is divided, shaped like the last dimensions."""
    if divisor is not None:
        return divisor
    total: Any = 1
    for at, extent in enumerate(spatial):
        begin = np.arange(size[at]) * stride[at] - padding[at]
        end = np.minimum(begin + kernel_size[at], extent + padding[at])
        length = end - begin if include_pad else np.minimum(end, extent) - np.maximum(begin, 0)
        shape = [1] * len(spatial)
        shape[at] = -1
        total = total * length.reshape(shape)
    return total


def _divide_towards_zero(sums: Any, counts: Any) -> None:
    """Divide integers in place as C does; floats do not hold all of them."""
    rest = np.fmod(sums, counts)
    np.floor_divide(sums - rest, counts, sums)


@kernel("avg_pool2d", "avg_pool3d")
def avg_pool(
    out: Any,
    x: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    include_pad: bool,
    divisor: int | None,
) -> None:
    """The mean of every window."""
    dims = len(kernel_size)
    size, spatial = out.shape[-dims:], x.shape[-dims:]
    wide = extended(x, size, kernel_size, stride, padding, [1] * dims, 0)
    out.fill(0)
    for _, place in places(size, kernel_size, stride, [1] * dims):
        np.add(out, wide[place], out)
    counts = _counts(spatial, size, kernel_size, stride, padding, include_pad, divisor)
    if out.dtype.kind in "iu":
        _divide_towards_zero(out, counts)
    else:
        np.divide(out, np.asarray(counts, out.dtype), out)


@kernel("avg_pool2d_backward", "avg_pool3d_backward", upcast=False)
def avg_pool_backward(
    out: Any,
    grad: Any,
    x: Any,
    kernel_size: Any,
    stride: Any,
    padding: Any,
    ceil_mode: bool,
    include_pad: bool,
    divisor: int | None,
) -> None:
    """Every window's gradient is shared out among its positions, which add what they get in the order of the windows.

    Halves are rounded after every sum, as in torch.
    """
    dims = len(kernel_size)
    size, spatial = grad.shape[-dims:], x.shape[-dims:]
    given = widened(grad)
    counts = _counts(spatial, size, kernel_size, stride, padding, include_pad, divisor)
    share = (given / np.asarray(counts, given.dtype)).astype(grad.dtype, copy=False)
    wide = np.zeros_like(extended(np.empty(x.shape, grad.dtype), size, kernel_size, stride, padding, [1] * dims, 0))
    for _, place in reversed(list(places(size, kernel_size, stride, [1] * dims))):
        wide[place] += share
    out[...] = wide[(..., *(slice(padding[at], padding[at] + spatial[at]) for at in range(dims)))]

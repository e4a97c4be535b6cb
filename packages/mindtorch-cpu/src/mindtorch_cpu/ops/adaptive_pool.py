"""Pooling to a given size, fractional pooling, unpooling."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from ..register import kernel
from ..weighted_sums import WeightTable, gather
from .pool import check_places, scatter_add


def _bounds(extent: int, count: int) -> tuple[Any, Any]:
    """Return where each of `count` windows over `extent` positions begins and ends."""
    at = np.arange(count)
    return at * extent // count, -(-(at + 1) * extent // count)


@lru_cache(maxsize=128)
def _averaging(extent: int, count: int, dtype: Any, back: bool) -> WeightTable:
    """Return what averages windows along one dimension, or its transpose, which serves the gradient."""
    begin, end = _bounds(extent, count)
    lengths = end - begin
    begins = np.concatenate([[0], np.cumsum(lengths)])
    index = np.arange(begins[-1]) + np.repeat(begin - begins[:-1], lengths)
    made = WeightTable(begins, index, np.repeat(1 / lengths, lengths).astype(dtype))
    return made.transposed(extent) if back else made


def _along(out: Any, x: Any, dims: int, back: bool) -> None:
    """Write to `out` what becomes of `x` when its last dimensions, one after the other, are averaged or spread."""
    for axis in range(x.ndim - dims, x.ndim):
        small, large = (x, out) if back else (out, x)
        made = _averaging(large.shape[axis], small.shape[axis], x.dtype, back)
        x = gather(x, made, axis, out if axis == x.ndim - 1 else None)
    if x is not out:
        out[...] = x


@kernel("_adaptive_avg_pool2d", "_adaptive_avg_pool3d")
def average(out: Any, x: Any, output_size: Any) -> None:
    """A mean over a box is a mean along each dimension in turn."""
    _along(out, x, len(output_size), False)


@kernel("_adaptive_avg_pool2d_backward")
def average2d_backward(out: Any, grad: Any, x: Any) -> None:
    """The gradient, spread along each dimension in turn."""
    _along(out, grad, 2, True)


@kernel("_adaptive_avg_pool3d_backward")
def average3d_backward(out: Any, grad: Any, x: Any) -> None:
    """The gradient, spread along each dimension in turn."""
    _along(out, grad, 3, True)


def _best(flat: Any) -> Any:
    """Return the position of the first largest value along the last dimension, or of the last nan."""
    best = np.argmax(flat, axis=-1)
    nan = flat != flat
    if nan.any():
        last = flat.shape[-1] - 1 - np.argmax(nan[..., ::-1], axis=-1)
        best = np.where(nan.any(axis=-1), last, best)
    return best


def _largest_along(values: Any, places: Any, axis: int, count: int) -> tuple[Any, Any]:
    """Return the largest value of each of `count` windows along an axis, and the place of each."""
    begin, end = _bounds(values.shape[axis], count)
    # Short windows name their last position again: it is found after the first, and is the same place.
    index = np.minimum(begin[:, None] + np.arange((end - begin).max()), end[:, None] - 1)
    windows, whose = (np.moveaxis(np.take(one, index, axis=axis), axis + 1, -1) for one in (values, places))
    best = _best(windows)[..., None]
    return np.take_along_axis(windows, best, -1)[..., 0], np.take_along_axis(whose, best, -1)[..., 0]


@kernel("adaptive_max_pool2d", "adaptive_max_pool3d")
def largest(outs: Any, x: Any, output_size: Any) -> None:
    """The largest value of every window, and where it was in its plane.

    The first in the order of memory is the first of its row in the first row that has it: one axis after the other.
    """
    out, index = outs
    if out.size == 0:
        return
    spatial = x.shape[-len(output_size) :]
    values, places = x, np.broadcast_to(np.arange(int(np.prod(spatial))).reshape(spatial), x.shape)
    for axis in reversed(range(x.ndim - len(output_size), x.ndim)):
        values, places = _largest_along(values, places, axis, output_size[axis - x.ndim])
    out[...] = values
    index[...] = places


def _to_indices(dims: int) -> Any:
    def backward(out: Any, grad: Any, x: Any, *values: Any) -> None:
        scatter_add(out, grad, values[-1], dims)

    return backward


kernel("adaptive_max_pool2d_backward", "fractional_max_pool2d_backward")(_to_indices(2))
kernel("adaptive_max_pool3d_backward", "fractional_max_pool3d_backward")(_to_indices(3))


def _starts(sample: Any, extent: int, width: int, count: int) -> Any:
    """Return where the windows of a pseudo-random sequence begin, (..., count)."""
    begins = np.full((*sample.shape, count), extent - width, np.int64)
    if count > 1:
        # In the samples' own precision, because the truncation decides which position is meant.
        step = sample.dtype.type((extent - width) / sample.dtype.type(count - 1))
        at = np.arange(count - 1).astype(sample.dtype)
        begins[..., :-1] = ((at + sample[..., None]) * step).astype(np.int64)
        begins[..., :-1] -= (sample[..., None] * step).astype(np.int64)
    return begins


@kernel("fractional_max_pool2d", "fractional_max_pool3d")
def fractional(outs: Any, x: Any, kernel_size: Any, output_size: Any, samples: Any) -> None:
    """The largest value of every window of a pseudo-random grid, and where it was in its plane."""
    out, index = outs
    dims = len(kernel_size)
    spatial, planes = x.shape[-dims:], x.reshape(-1, *x.shape[-dims:])
    samples = samples.reshape(-1, dims)[: len(planes)]
    flat: Any = 0
    for at in range(dims):
        # The last sample belongs to the first dimension: width is drawn first.
        begins = _starts(samples[:, dims - 1 - at if dims == 2 else at], spatial[at], kernel_size[at], output_size[at])
        where = begins[:, :, None] + np.arange(kernel_size[at])
        shape = [len(planes)] + [1] * (2 * dims)
        shape[1 + at], shape[1 + dims + at] = output_size[at], kernel_size[at]
        flat = flat * spatial[at] + where.reshape(shape)
    flat = flat.reshape(len(planes), int(np.prod(output_size)), int(np.prod(kernel_size)))
    plain = planes.reshape(len(planes), int(np.prod(spatial)))
    chosen = flat.reshape(len(planes), flat.shape[1] * flat.shape[2])
    values = np.take_along_axis(plain, chosen, axis=1).reshape(flat.shape)
    best = _best(values)[..., None]
    out[...] = np.take_along_axis(values, best, axis=-1).reshape(out.shape)
    index[...] = np.take_along_axis(flat, best, axis=-1).reshape(index.shape)


@kernel("max_unpool2d", "max_unpool3d", upcast=False)
def unpool(out: Any, x: Any, indices: Any, output_size: Any, stride: Any, padding: Any) -> None:
    """Values put where their maxima were, zeros elsewhere."""
    if not out.size:
        return
    area = int(np.prod(output_size))
    check_places(indices, output_size)
    planes = int(np.prod(out.shape[: -len(output_size)]))
    flat = np.zeros((planes, area), out.dtype)
    if x.size:
        np.put_along_axis(flat, indices.reshape(planes, -1), x.reshape(planes, -1), axis=1)
    out[...] = flat.reshape(out.shape)

"""Pooling."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch_npu.simulator.kernels import kernel
from mindtorch_npu.simulator.kernels.windows import each, extents, inner, places, surrounded
from mindtorch_npu.simulator.typing import Array


def _windows(
    dims: int, size: Sequence[int], stride: Sequence[int], padding: Sequence[int]
) -> tuple[list[int], list[int], list[int]]:
    size = each(size, dims)
    return size, each(stride, dims) if stride else size, each(padding, dims)


def _divisors(shape: Any, counts: Any, size: Any, step: Any, pad: Any, include: bool, divisor: int) -> Any:
    """Return by how much each window's sum is divided."""
    if divisor:
        return divisor
    total: Any = 1
    for axis, (n, count, k, s, p) in enumerate(zip(shape, counts, size, step, pad, strict=True)):
        begin = np.arange(count) * s - p
        end = np.minimum(begin + k, n + p)
        length = end - begin if include else np.minimum(end, n) - np.maximum(begin, 0)
        total = total * length.reshape([-1 if place == axis else 1 for place in range(len(counts))])
    return total


def _average(dims: int) -> Any:
    def pool(
        x: Array,
        size: Sequence[int],
        stride: Sequence[int],
        padding: Sequence[int],
        ceil: bool,
        include: bool,
        divisor: int,
        *cube: int,
    ) -> Any:
        size, step, pad = _windows(dims, size, stride, padding)
        gap, shape = [1] * dims, x.shape[-dims:]
        counts = extents(shape, size, step, pad, gap, ceil)
        wide = surrounded(x, pad, counts, size, step, gap, 0)
        total = sum(wide[cut] for _, cut in places(counts, size, step, gap))
        return total / np.asarray(_divisors(shape, counts, size, step, pad, include, divisor), x.dtype)

    return pool


def _average_backward(dims: int) -> Any:
    def spread(
        grad: Array,
        x: Array,
        size: Sequence[int],
        stride: Sequence[int],
        padding: Sequence[int],
        ceil: bool,
        include: bool,
        divisor: int,
        *cube: int,
    ) -> Any:
        size, step, pad = _windows(dims, size, stride, padding)
        gap, shape, counts = [1] * dims, x.shape[-dims:], grad.shape[-dims:]
        wide = surrounded(np.zeros(x.shape, grad.dtype), pad, counts, size, step, gap, 0)
        share = grad / np.asarray(_divisors(shape, counts, size, step, pad, include, divisor), grad.dtype)
        for _, cut in places(counts, size, step, gap):
            wide[cut] += share
        return inner(wide, pad, shape)

    return spread


def _largest(dims: int) -> Any:
    def pool(
        x: Array,
        size: Sequence[int],
        stride: Sequence[int],
        padding: Sequence[int],
        dilation: Sequence[int],
        ceil: bool,
    ) -> tuple[Any, Any]:
        size, step, pad = _windows(dims, size, stride, padding)
        gap, shape = each(dilation, dims), x.shape[-dims:]
        counts = extents(shape, size, step, pad, gap, ceil)
        wide = surrounded(x, pad, counts, size, step, gap, -np.inf)
        numbers = np.arange(int(np.prod(shape))).reshape(shape)
        numbers = surrounded(numbers, pad, counts, size, step, gap, -1)
        best: Any = None
        for _, cut in places(counts, size, step, gap):
            value, number = wide[cut], np.broadcast_to(numbers[cut], wide[cut].shape)
            if best is None:
                best, where = value.copy(), number.copy()
                continue
            better = ((value > best) | (value != value) | (where < 0)) & (number >= 0)
            best, where = np.where(better, value, best), np.where(better, number, where)
        return best, where

    return pool


def _returned(grad: Any, shape: Sequence[int], where: Any, dims: int) -> Any:
    """Return gradients added up at the places their values came from."""
    planes, area = int(np.prod(shape[:-dims])), int(np.prod(shape[-dims:]))
    flat = np.zeros((planes, area), grad.dtype)
    rows = np.arange(planes)[:, None]
    np.add.at(flat, (rows, where.reshape(planes, -1).astype(np.int64)), grad.reshape(planes, -1))
    return flat.reshape(shape)


def _bounds(extent: int, count: int) -> list[slice]:
    return [slice(at * extent // count, -(-(at + 1) * extent // count)) for at in range(count)]


def _adaptive(x: Any, counts: Any, reduce: Any) -> Any:
    dims = len(counts)
    made = np.empty((*x.shape[:-dims], *counts), x.dtype)
    cuts = [_bounds(extent, count) for extent, count in zip(x.shape[-dims:], counts, strict=True)]
    for cell in itertools.product(*map(range, counts)):
        window: tuple[Any, ...] = tuple(cut[at] for cut, at in zip(cuts, cell, strict=True))
        here: tuple[Any, ...] = (..., *cell)
        made[here] = reduce(x[(..., *window)].reshape(*x.shape[:-dims], -1), window)
    return made


def _adaptive_mean(x: Array, counts: object) -> Any:
    return _adaptive(x, counts, lambda flat, window: flat.mean(-1))


def _adaptive_mean_backward(dims: int) -> Any:
    def spread(grad: Any, x: Any) -> Any:
        made = np.zeros(x.shape, grad.dtype)
        counts = grad.shape[-dims:]
        cuts = [_bounds(extent, count) for extent, count in zip(x.shape[-dims:], counts, strict=True)]
        for cell in itertools.product(*map(range, counts)):
            window: tuple[Any, ...] = (..., *(cut[at] for cut, at in zip(cuts, cell, strict=True)))
            size = int(np.prod([one.stop - one.start for one in window[1:]]))
            made[window] += (grad[(..., *cell)] / size)[(..., *[None] * dims)]
        return made

    return spread


def _adaptive_max(x: Any, counts: Any) -> tuple[Any, Any]:
    dims = len(counts)
    numbers = np.arange(int(np.prod(x.shape[-dims:]))).reshape(x.shape[-dims:])
    values = _adaptive(x, counts, lambda flat, window: flat.max(-1))
    where = np.empty(values.shape, np.int64)
    cuts = [_bounds(extent, count) for extent, count in zip(x.shape[-dims:], counts, strict=True)]
    for cell in itertools.product(*map(range, counts)):
        window: tuple[Any, ...] = tuple(cut[at] for cut, at in zip(cuts, cell, strict=True))
        flat = x[(..., *window)].reshape(*x.shape[:-dims], -1)
        here: tuple[Any, ...] = (..., *cell)
        where[here] = numbers[window].reshape(-1)[flat.argmax(-1)]
    return values, where


def _unpool(x: Any, where: Any, shape: Any) -> Any:
    lead = x.shape[: x.ndim - len(shape)]
    planes, area = int(np.prod(lead)), int(np.prod(shape))
    places_, values = where.reshape(planes, -1), x.reshape(planes, -1)
    if places_.size and (places_.min() < 0 or places_.max() >= area):
        raise IndexError("MaxUnpool2d: an index is out of range")
    flat = np.zeros((planes, area), x.dtype)
    np.put_along_axis(flat, places_, values, 1)
    return flat.reshape(*lead, *shape)


kernel("AvgPool2d", _average(2), workspace=True)
kernel("AvgPool2dBackward", _average_backward(2), workspace=True)
kernel("AvgPool3d", _average(3), workspace=True)
kernel("AvgPool3dBackward", _average_backward(3), workspace=True)
kernel("MaxPool2dWithIndices", _largest(2), workspace=True)
kernel("MaxPool3dWithArgmax", _largest(3), workspace=True)
kernel("MaxPool2dWithIndicesBackward", lambda grad, x, where, *how: _returned(grad, x.shape, where, 2), workspace=True)
kernel("MaxPool3dWithArgmaxBackward", lambda grad, x, where, *how: _returned(grad, x.shape, where, 3), workspace=True)
kernel("AdaptiveAvgPool2d", _adaptive_mean, workspace=True)
kernel("AdaptiveAvgPool3d", _adaptive_mean, workspace=True)
kernel("AdaptiveAvgPool2dBackward", _adaptive_mean_backward(2), workspace=True)
kernel("AdaptiveAvgPool3dBackward", _adaptive_mean_backward(3), workspace=True)
kernel("AdaptiveMaxPool2d", _adaptive_max, workspace=True)
kernel("AdaptiveMaxPool3d", _adaptive_max, workspace=True)
kernel("AdaptiveMaxPool2dBackward", lambda grad, x, where: _returned(grad, x.shape, where, 2), workspace=True)
kernel("AdaptiveMaxPool3dBackward", lambda grad, x, where: _returned(grad, x.shape, where, 3), workspace=True)
kernel("MaxUnpool2d", _unpool, workspace=True)

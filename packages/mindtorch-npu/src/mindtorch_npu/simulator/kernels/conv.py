"""Convolutions of one to three dimensions, one matrix product per place in the window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch_npu.simulator.kernels import kernel
from mindtorch_npu.simulator.kernels.windows import each, extents, inner, places, surrounded
from mindtorch_npu.simulator.typing import Array


def _split(x: Any, groups: int, axis: int) -> Any:
    shape = (*x.shape[:axis], groups, x.shape[axis] // groups, *x.shape[axis + 1 :])
    return x.reshape(shape)


def _geometry(
    x: Any, stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int]
) -> tuple[list[int], list[int], list[int]]:
    dims = x.ndim - 2
    return each(stride, dims), each(padding, dims), each(dilation, dims)


def _forward(
    x: Any,
    weight: Any,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
    counts: Any = None,
) -> Any:
    step, pad, gap = _geometry(x, stride, padding, dilation)
    size = weight.shape[2:]
    counts = counts or extents(x.shape[2:], size, step, pad, gap)
    wide = _split(surrounded(x, pad, counts, size, step, gap, 0), groups, 1)
    parts = _split(weight, groups, 0)
    out = np.zeros((x.shape[0], groups, parts.shape[1], *counts), x.dtype)
    for place, cut in places(counts, size, step, gap):
        out += np.einsum("ngc...,goc->ngo...", wide[cut], parts[(..., *place)], optimize=True)
    return out.reshape(x.shape[0], weight.shape[0], *counts)


def _to_input(
    grad: Array,
    weight: Array,
    shape: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> Any:
    """Return the gradient for an input of spatial `shape`."""
    step, pad, gap = _geometry(grad, stride, padding, dilation)
    size, counts = weight.shape[2:], grad.shape[2:]
    parts, grads = _split(weight, groups, 0), _split(grad, groups, 1)
    empty = np.zeros((grad.shape[0], groups, parts.shape[2], *shape), grad.dtype)
    wide = surrounded(empty, pad, counts, size, step, gap, 0)
    for place, cut in places(counts, size, step, gap):
        wide[cut] += np.einsum("ngo...,goc->ngc...", grads, parts[(..., *place)], optimize=True)
    return inner(wide, pad, shape).reshape(grad.shape[0], groups * parts.shape[2], *shape)


def _to_weight(
    grad: Array,
    x: Array,
    shape: Sequence[int],
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    groups: int,
) -> Any:
    """Return the gradient for a weight of `shape`."""
    step, pad, gap = _geometry(x, stride, padding, dilation)
    size, counts = shape[2:], grad.shape[2:]
    wide = _split(surrounded(x, pad, counts, size, step, gap, 0), groups, 1)
    grads = _split(grad, groups, 1)
    made = np.zeros((groups, shape[0] // groups, *shape[1:]), x.dtype)
    for place, cut in places(counts, size, step, gap):
        rows, columns = (np.moveaxis(one, 0, 2).reshape(groups, one.shape[2], -1) for one in (grads, wide[cut]))
        here: tuple[Any, ...] = (..., *place)
        made[here] = rows @ columns.swapaxes(1, 2)
    return made.reshape(shape)


def _bias(out: Array, bias: Array | None) -> Any:
    return out if bias is None else out + bias.reshape(-1, *[1] * (out.ndim - 2))


def _convolution(
    x: Array,
    weight: Array,
    bias: Array,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    extra: object,
    groups: int,
    cube: int,
) -> Any:
    if not transposed:
        return _bias(_forward(x, weight, stride, padding, dilation, groups), bias)
    step, pad, gap = _geometry(x, stride, padding, dilation)
    more = each(extra or [0], x.ndim - 2)
    shape = [
        (n - 1) * s - 2 * p + d * (k - 1) + 1 + e
        for n, s, p, d, k, e in zip(x.shape[2:], step, pad, gap, weight.shape[2:], more, strict=True)
    ]
    return _bias(_to_input(x, weight, shape, stride, padding, dilation, groups), bias)


def _backward(
    grad: Array,
    x: Array,
    weight: Array,
    bias_sizes: object,
    stride: Sequence[int],
    padding: Sequence[int],
    dilation: Sequence[int],
    transposed: bool,
    extra: object,
    groups: int,
    mask: Array,
    cube: int,
) -> Any:
    how = (stride, padding, dilation, groups)
    if transposed:
        to_input = _forward(grad, weight, *how, x.shape[2:]) if mask[0] else None
        to_weight = _to_weight(x, grad, weight.shape, *how) if mask[1] else None
    else:
        to_input = _to_input(grad, weight, x.shape[2:], *how) if mask[0] else None
        to_weight = _to_weight(grad, x, weight.shape, *how) if mask[1] else None
    return to_input, to_weight, grad.sum((0, *range(2, grad.ndim))) if mask[2] else None


def _unfolded(
    x: Array, size: Sequence[int], dilation: Sequence[int], padding: Sequence[int], stride: Sequence[int]
) -> Any:
    size, step, pad, gap = (each(values, 2) for values in (size, stride, padding, dilation))
    single = x.ndim == 3
    x = x[None] if single else x
    counts = extents(x.shape[2:], size, step, pad, gap)
    wide = surrounded(x, pad, counts, size, step, gap, 0)
    columns = np.stack([wide[cut] for _, cut in places(counts, size, step, gap)], 2)
    made = columns.reshape(x.shape[0], x.shape[1] * size[0] * size[1], counts[0] * counts[1])
    return made[0] if single else made


def _folded(
    columns: Any, shape: Any, size: Any, dilation: Sequence[int], padding: Sequence[int], stride: Sequence[int]
) -> Any:
    size, step, pad, gap = (each(values, 2) for values in (size, stride, padding, dilation))
    single = columns.ndim == 2
    columns = columns[None] if single else columns
    counts = extents(shape, size, step, pad, gap)
    channels = columns.shape[1] // (size[0] * size[1])
    parts = columns.reshape(columns.shape[0], channels, size[0] * size[1], *counts)
    empty = np.zeros((columns.shape[0], channels, *shape), columns.dtype)
    wide = surrounded(empty, pad, counts, size, step, gap, 0)
    for number, (_, cut) in enumerate(places(counts, size, step, gap)):
        wide[cut] += parts[:, :, number]
    made = inner(wide, pad, shape)
    return made[0] if single else made


kernel("Convolution", _convolution, workspace=True)
kernel("ConvolutionBackward", _backward, workspace=True)
kernel("Im2col", _unfolded, workspace=True)
kernel("Im2colBackward", _folded, workspace=True)

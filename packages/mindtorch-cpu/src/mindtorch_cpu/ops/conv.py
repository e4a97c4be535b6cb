"""Convolutions as matrix products over columns of windows, one sample at a time so that the columns stay small.

With the columns of a sample being its windows, (groups, channels * kernel, positions):

    result         = weight @ columns               correlate
    weight's grad  = grad @ columns.T               weight_gradient
    input's grad   = windows of weight.T @ grad,    scatter: added up where they overlap

A transposed convolution is `scatter` forward and `correlate` backward.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from ..register import kernel


class Geometry:
    """Strides, padding, dilation and groups of one convolution."""

    __slots__ = ("dilation", "groups", "kernel", "padding", "stride")

    def __init__(
        self, kernel: Sequence[int], stride: Sequence[int], padding: Sequence[int], dilation: Sequence[int], groups: int
    ) -> None:
        self.kernel = tuple(kernel)
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.groups = groups

    def is_pointwise(self) -> bool:
        """True when the windows are the positions themselves."""
        return all(one == 1 for one in self.kernel) and all(s == 1 for s in self.stride) and not any(self.padding)


def padded(array: Any, padding: Sequence[int]) -> Any:
    """Return (batch, channels, *spatial) with zeros around."""
    if not any(padding):
        return array
    shape = [*array.shape[:2], *(extent + 2 * pad for extent, pad in zip(array.shape[2:], padding, strict=True))]
    out = np.zeros(shape, array.dtype)
    inner: list[Any] = [slice(pad, pad + extent) for pad, extent in zip(padding, array.shape[2:], strict=True)]
    out[(..., *inner)] = array
    return out


def windows(array: Any, geometry: Geometry, size: Sequence[int]) -> Any:
    """Return the view (batch, channels, *kernel, *positions) of a padded array."""
    steps = array.strides[2:]
    return as_strided(
        array,
        (*array.shape[:2], *geometry.kernel, *size),
        (
            *array.strides[:2],
            *(step * gap for step, gap in zip(steps, geometry.dilation, strict=True)),
            *(step * jump for step, jump in zip(steps, geometry.stride, strict=True)),
        ),
        writeable=False,
    )


def _columns(view: Any, sample: int, buffer: Any, groups: int) -> Any:
    """Copy one sample's windows into `buffer` and return it as (groups, channels * kernel, positions)."""
    np.copyto(buffer, view[sample])
    positions = math.prod(buffer.shape[(buffer.ndim + 1) // 2 :])
    return buffer.reshape(groups, -1, positions)


def correlate(out: Any, x: Any, weight: Any, geometry: Geometry) -> None:
    """Write the convolution of `x` with `weight` (features, channels / groups, *kernel) to `out`."""
    groups, size = geometry.groups, out.shape[2:]
    if not out.size:
        return
    matrices = np.ascontiguousarray(weight).reshape(groups, weight.shape[0] // groups, -1)
    target = out if out.flags.c_contiguous else np.empty(out.shape, out.dtype)
    rows = target.reshape(out.shape[0], groups, matrices.shape[1], -1)
    if geometry.is_pointwise():
        flat = np.ascontiguousarray(x).reshape(x.shape[0], groups, -1, rows.shape[-1])
        np.matmul(matrices, flat, out=rows)
    else:
        view = windows(padded(x, geometry.padding), geometry, size)
        buffer = np.empty(view.shape[1:], x.dtype)
        for sample in range(out.shape[0]):
            np.matmul(matrices, _columns(view, sample, buffer, groups), out=rows[sample])
    if target is not out:
        out[...] = target


def scatter(out: Any, grad: Any, weight: Any, geometry: Geometry) -> None:
    """Write to `out` what `correlate` turns into `grad`, transposed: every value spread over its window."""
    groups, size = geometry.groups, grad.shape[2:]
    matrices = np.ascontiguousarray(weight).reshape(groups, weight.shape[0] // groups, -1).swapaxes(1, 2)
    flat = np.ascontiguousarray(grad).reshape(grad.shape[0], groups, weight.shape[0] // groups, math.prod(size))
    extents = [extent + 2 * pad for extent, pad in zip(out.shape[2:], geometry.padding, strict=True)]
    channels = out.shape[1]
    inner = (slice(None), *(slice(p, p + e) for p, e in zip(geometry.padding, out.shape[2:], strict=True)))
    places = [
        tuple(
            slice(at * gap, at * gap + (count - 1) * step + 1, step)
            for at, gap, step, count in zip(offset, geometry.dilation, geometry.stride, size, strict=True)
        )
        for offset in itertools.product(*(range(extent) for extent in geometry.kernel))
    ]
    for sample in range(out.shape[0]):
        if not flat[sample].size:
            out[sample] = 0
            continue
        spread = np.matmul(matrices, flat[sample]).reshape(channels, len(places), *size)
        whole = np.zeros((channels, *extents), out.dtype)
        for number, place in enumerate(places):
            whole[(slice(None), *place)] += spread[:, number]
        out[sample] = whole[inner]


def weight_gradient(out: Any, x: Any, grad: Any, geometry: Geometry) -> None:
    """Write the gradient of the weight to `out` (features, channels / groups, *kernel)."""
    groups, size = geometry.groups, grad.shape[2:]
    flat = np.ascontiguousarray(grad).reshape(grad.shape[0], groups, out.shape[0] // groups, math.prod(size))
    total = np.zeros((groups, out.shape[0] // groups, math.prod(out.shape[1:])), out.dtype)
    if flat.size:
        view = windows(padded(x, geometry.padding), geometry, size)
        buffer = np.empty(view.shape[1:], x.dtype)
        for sample in range(x.shape[0]):
            total += np.matmul(flat[sample], _columns(view, sample, buffer, groups).swapaxes(1, 2))
    out[...] = total.reshape(out.shape)


@kernel("convolution")
def convolution(
    out: Any,
    input: Any,
    weight: Any,
    bias: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
) -> None:
    """Convolution, plain or transposed."""
    if not out.size:
        return
    geometry = Geometry(weight.shape[2:], stride, padding, dilation, groups)
    if transposed:
        scatter(out, input, weight, geometry)
    else:
        correlate(out, input, weight, geometry)
    if bias is not None:
        np.add(out, bias.reshape(-1, *[1] * (out.ndim - 2)), out)


@kernel("convolution_backward")
def convolution_backward(
    outs: Any,
    grad: Any,
    input: Any,
    weight: Any,
    bias_sizes: Any,
    stride: Any,
    padding: Any,
    dilation: Any,
    transposed: bool,
    output_padding: Any,
    groups: int,
    mask: Any,
) -> None:
    """Gradients of input, weight and bias; zeros of a result without elements."""
    if not grad.size:
        for gradient in filter(lambda one: one is not None, outs):
            gradient[...] = 0
        return
    geometry = Geometry(weight.shape[2:], stride, padding, dilation, groups)
    if outs[0] is not None:
        (correlate if transposed else scatter)(outs[0], grad, weight, geometry)
    if outs[1] is not None:
        small, large = (input, grad) if transposed else (grad, input)
        weight_gradient(outs[1], large, small, geometry)
    if outs[2] is not None:
        outs[2][...] = np.add.reduce(grad, axis=(0, *range(2, grad.ndim)))


@kernel("conv_tbc")
def conv_tbc(out: Any, self: Any, weight: Any, bias: Any, pad: int) -> None:
    """Convolution over the first dimension: one matrix product per kernel position."""
    out[...] = bias
    if pad:
        wide = np.zeros((self.shape[0] + 2 * pad, *self.shape[1:]), self.dtype)
        wide[pad : pad + self.shape[0]] = self
        self = wide
    for at in range(weight.shape[0]):
        out += np.matmul(self[at : at + out.shape[0]], weight[at])

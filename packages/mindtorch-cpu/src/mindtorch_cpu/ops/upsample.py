"""Resizing, one dimension after the other: along each, a few positions are taken, weighted and added.

Indices and weights are computed in the precision torch uses, because which neighbour is taken depends on it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np

from ..reduced import rounder, widened
from ..register import kernel
from ..weighted_sums import WeightTable, gather


def _scale(extent: int, count: int, align: bool, scale: float | None, real: Any) -> Any:
    if align:
        return real(extent - 1) / real(count - 1) if count > 1 else real(0)
    return real(1.0 / scale) if scale is not None and scale > 0 else real(extent) / real(count)


def _source(extent: int, count: int, align: bool, scale: float | None, real: Any, cubic: bool = False) -> Any:
    """Return where in the input each output position lies."""
    step = _scale(extent, count, align, scale, real)
    at = np.arange(count).astype(real)
    if align:
        return step * at
    where = step * (at + real(0.5)) - real(0.5)
    return where if cubic else np.maximum(where, real(0))


def nearest(extent: int, count: int, align: bool, scale: float | None, real: Any) -> WeightTable:
    """The position to the left of the exact place; a given factor says nothing where the extent stays or doubles."""
    if count in (extent, 2 * extent):
        return WeightTable.of_table((np.arange(count) * extent // max(count, 1))[:, None], None)
    step = real(1.0 / scale) if scale is not None and scale > 0 else np.float32(extent) / np.float32(count)
    index = np.floor(np.arange(count).astype(np.float32) * np.float32(step)).astype(np.int64)
    return WeightTable.of_table(np.minimum(index, extent - 1)[:, None], None)


def nearest_exact(extent: int, count: int, align: bool, scale: float | None, real: Any) -> WeightTable:
    """The position nearest to the middle of the output position."""
    step = real(1.0 / scale) if scale is not None and scale > 0 else np.float32(extent) / np.float32(count)
    index = np.floor((np.arange(count).astype(np.float32) + np.float32(0.5)) * np.float32(step)).astype(np.int64)
    return WeightTable.of_table(np.minimum(index, extent - 1)[:, None], None)


def linear(extent: int, count: int, align: bool, scale: float | None, real: Any) -> WeightTable:
    """The two neighbours."""
    if extent == count:
        return WeightTable.of_table(np.arange(count)[:, None], None)
    where = _source(extent, count, align, scale, real)
    first = np.minimum(where.astype(np.int64), extent - 1)
    second = first + (first < extent - 1)
    share = np.clip(where - first.astype(real), real(0), real(1))
    return WeightTable.of_table(np.stack([first, second], 1), np.stack([real(1) - share, share], 1).astype(real))


def _near(x: Any, a: Any) -> Any:
    return ((a + 2) * x - (a + 3)) * x * x + 1


def _far(x: Any, a: Any) -> Any:
    return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a


def cubic_weights(share: Any) -> Any:
    """Return the weights of four neighbours for a place `share` of the way from the second to the third."""
    a = share.dtype.type(-0.75)
    return np.stack([_far(share + 1, a), _near(share, a), _near(1 - share, a), _far(2 - share, a)], -1)


def cubic(extent: int, count: int, align: bool, scale: float | None, real: Any) -> WeightTable:
    """Four neighbours."""
    if extent == count and (align or not scale or scale == 1):
        return WeightTable.of_table(np.arange(count)[:, None], None)
    where = _source(extent, count, align, scale, real, cubic=True)
    base = np.minimum(np.floor(where).astype(np.int64), extent - 1)
    share = np.clip(where - base.astype(real), real(0), real(1))
    index = np.clip(base[:, None] + np.arange(-1, 3), 0, extent - 1)
    return WeightTable.of_table(index, cubic_weights(share).astype(real))


def _triangle(x: float) -> float:
    return max(0.0, 1.0 - abs(x))


def _soft_cubic(x: float) -> float:
    x, a = abs(x), -0.5
    return _near(x, a) if x < 1 else _far(x, a) if x < 2 else 0.0


def _lanczos(x: float) -> float:
    if abs(x) >= 3:
        return 0.0
    return 1.0 if x == 0 else 3 * math.sin(math.pi * x) * math.sin(math.pi * x / 3) / (math.pi * x) ** 2


def antialiased(filter_: Callable[[float], float], width: int) -> Callable[..., WeightTable]:
    """Return the table of a filter that widens when the image shrinks."""

    def table(extent: int, count: int, align: bool, scale: float | None, real: Any) -> WeightTable:
        step = float(_scale(extent, count, align, scale, real))
        support = width * 0.5 * max(step, 1.0)
        inverse = 1.0 / step if step >= 1.0 else 1.0
        begins: list[int] = [0]
        index: list[int] = []
        weights: list[float] = []
        for at in range(count):
            center = step * (at + 0.5)
            begin = max(int(center - support + 0.5), 0)
            length = min(int(center + support + 0.5), extent) - begin
            given = [filter_((j + begin - center + 0.5) * inverse) for j in range(length)]
            total = sum(given)
            index += range(begin, begin + length)
            weights += [value / total for value in given] if total else given
            begins.append(len(index))
        return WeightTable(np.array(begins, np.int64), np.array(index, np.int64), np.array(weights, real))

    return table


@lru_cache(maxsize=128)
def _weights(
    kind: Callable[..., WeightTable],
    extent: int,
    count: int,
    align: bool,
    scale: float | None,
    real: Any,
    back: bool = False,
    half: Any = None,
) -> WeightTable:
    """Return the table of one dimension, or their transpose, which serves the gradient; with weights that are halves."""
    made = kind(extent, count, align, scale, real)
    if half is not None and made.weights is not None:
        rounded = rounder(half)
        weights = rounded(made.weights)
        if kind is linear:  # the first of two is what the second leaves
            weights[::2] = rounded(1 - weights[1::2])
        made = made._replace(weights=weights)
    return made.transposed(extent) if back else made


_SMALL = 128
"""Up to which sum of output extents torch resizes halves by weights in single precision."""


def _half_of_weights(kind: Callable[..., WeightTable], x: Any, output_size: Any) -> Any:
    """Return the half that the weights are rounded to, None where they are not: as in torch, whose paths differ."""
    if x.itemsize != 2 or kind not in (linear, cubic):
        return None
    if kind is cubic or x.ndim == 3:
        return x.dtype
    channels_last = x.shape[1] > 3 and np.moveaxis(x, 1, -1).flags.c_contiguous
    return None if channels_last or (x.ndim == 4 and sum(output_size) <= _SMALL) else x.dtype


_BITS = 15
"""How many bits the weights of bytes have, their sign apart."""


@lru_cache(maxsize=128)
def _whole_weights(
    kind: Callable[..., WeightTable], extent: int, count: int, align: bool, scale: float | None
) -> tuple[WeightTable, int]:
    """Return the table of one dimension with whole weights, for bytes, and the power of two that they are multiples of.

    The weights of an element that is taken twice, at a border, are added before they are rounded.
    """
    made = kind(extent, count, align, scale, np.float64)
    places = np.repeat(np.arange(count), np.diff(made.begins))
    weights = np.ones(len(places)) if made.weights is None else made.weights
    taken, which = np.unique(places * extent + made.index, return_inverse=True)
    summed = np.bincount(which, weights, len(taken))
    largest, power = summed.max(initial=0.0), 0
    while power < 22 and int(0.5 + largest * (1 << (power + 1))) < 1 << _BITS:
        power += 1
    whole = np.trunc(np.copysign(0.5, summed) + summed * (1 << power))
    begins = np.searchsorted(taken, np.arange(count + 1) * extent)
    return WeightTable(begins, taken % extent, whole), power


def _resize_bytes(
    out: Any, x: Any, table: Callable[..., WeightTable], output_size: Any, align: bool, scales: tuple[Any, ...]
) -> None:
    """Resize images of bytes, which are rounded to bytes after every dimension."""
    value = x
    for axis in range(x.ndim - 3, -1, -1):
        if value.shape[2 + axis] == output_size[axis]:
            continue
        made, power = _whole_weights(table, value.shape[2 + axis], output_size[axis], align, scales[axis])
        sums = gather(value.astype(np.float64), made, 2 + axis, None)
        value = np.clip(np.floor((sums + 2.0 ** (power - 1)) / 2.0**power), 0, 255)
    out[...] = value


def _options(rest: tuple[Any, ...], dims: int) -> tuple[bool, tuple[Any, ...]]:
    return (bool(rest[0]), rest[1:]) if len(rest) > dims else (False, rest)


def _declare(name: str, dims: int, table: Callable[..., WeightTable]) -> None:
    antialias = name.endswith("_aa")

    def forward(out: Any, x: Any, output_size: Any, *rest: Any) -> None:
        align, scales = _options(rest, dims)
        if x.dtype.kind in "iu" and table not in (nearest, nearest_exact):
            _resize_bytes(out, x, table, output_size, align, scales)
            return
        half = _half_of_weights(table, x, output_size)
        value, last = widened(x), None if x.itemsize == 2 and x.dtype.kind not in "iu" else out
        real = np.float64 if value.dtype == np.float64 else np.float32
        for axis in range(dims - 1, -1, -1):
            extent = value.shape[2 + axis]
            if antialias and extent == output_size[axis]:
                continue  # whatever the given factor: only the gradient follows that
            made = _weights(table, extent, output_size[axis], align, scales[axis], real, half=half)
            value = gather(value, made, 2 + axis, None if axis else last)
        if value is not out:
            out[...] = value

    def backward(out: Any, grad: Any, output_size: Any, input_size: Any, *rest: Any) -> None:
        align, scales = _options(rest, dims)
        real = np.float64 if grad.dtype == np.float64 else np.float32
        for axis in range(dims):
            extent = input_size[2 + axis]
            made = _weights(table, extent, output_size[axis], align, scales[axis], real, True)
            grad = gather(grad, made, 2 + axis, out if axis == dims - 1 else None)
        if grad is not out:
            out[...] = grad

    kernel(name, upcast=False)(forward)
    kernel(f"{name}_backward")(backward)


for _n in (1, 2, 3):
    _declare(f"upsample_nearest{_n}d", _n, nearest)
    _declare(f"_upsample_nearest_exact{_n}d", _n, nearest_exact)
for _name, _n in (("upsample_linear1d", 1), ("upsample_bilinear2d", 2), ("upsample_trilinear3d", 3)):
    _declare(_name, _n, linear)
_declare("upsample_bicubic2d", 2, cubic)
_declare("_upsample_bilinear2d_aa", 2, antialiased(_triangle, 2))
_declare("_upsample_bicubic2d_aa", 2, antialiased(_soft_cubic, 4))
_declare("_upsample_lanczos2d_aa", 2, antialiased(_lanczos, 6))

"""Fourier transforms as products with the matrix of the transform, one dimension after the other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch_npu.backend import algebra as on
from mindtorch_npu.backend.arrays import DeviceArray
from mindtorch_npu.backend.register import written
from mindtorch_npu.transforms import fft_plan_cache

LARGEST = 1 << 18
"""Matrices of more elements are made for every call."""

Parts = tuple[DeviceArray, DeviceArray | None]
"""Real and imaginary parts; None for no imaginary parts."""


def _rows(x: DeviceArray, axis: int) -> DeviceArray:
    """Return the elements with one dimension last, as a matrix."""
    order = [place for place in range(x.ndim) if place != axis] + [axis]
    return on.reshaped(on.permuted(x, order), (x.size // x.shape[axis], x.shape[axis]))


def _back(x: DeviceArray, shape: list[int], axis: int) -> DeviceArray:
    """Return the view that undoes `_rows`."""
    rest = [extent for place, extent in enumerate(shape) if place != axis]
    moved = on.reshaped(x, (*rest, shape[axis]))
    order = [*range(axis), moved.ndim - 1, *range(axis, moved.ndim - 1)]
    return on.permuted(moved, order)


def _angles(extent: int, count: int, period: int) -> Any:
    # Reduced before it is scaled, so that large products lose no digits.
    return np.outer(np.arange(extent), np.arange(count)) % period * (2 * math.pi / period)


def _matrices(extent: int, count: int, forward: bool, dtype: Any) -> tuple[Any, Any]:
    """Return the cosines and sines of a transform along one dimension."""

    def made() -> tuple[Any, Any]:
        angles = _angles(extent, count, extent)
        return np.cos(angles).astype(dtype), ((1 if forward else -1) * np.sin(angles)).astype(dtype)

    return made() if extent * count > LARGEST else fft_plan_cache.get((extent, count, forward, str(dtype)), made)


def _transformed(parts: Parts, axis: int, forward: bool, count: int) -> Parts:
    """Return the first `count` frequencies along one dimension."""
    real, imaginary = parts
    extent = real.shape[axis]
    cosine, sine = (on.constant(m, real) for m in _matrices(extent, count, forward, real.dtype))
    rows = _rows(real, axis)
    made = [on.matmul(rows, cosine), on.mul(on.matmul(rows, sine), -1.0)]
    if imaginary is not None:
        other = _rows(imaginary, axis)
        made = [on.add(made[0], on.matmul(other, sine)), on.add(made[1], on.matmul(other, cosine))]
    shape = [count if place == axis else n for place, n in enumerate(real.shape)]
    return _back(made[0], shape, axis), _back(made[1], shape, axis)


def _scaled(x: DeviceArray, normalization: int, points: int) -> DeviceArray:
    if normalization == 0:
        return x
    return on.mul(x, 1 / math.sqrt(points) if normalization == 1 else 1 / points)


def _stored(out: DeviceArray, parts: Parts, normalization: int, points: int) -> None:
    for imaginary, part in enumerate(parts):
        if part is not None:
            on.copied(on.component(out, bool(imaginary)), _scaled(part, normalization, points))


def _c2c(out: DeviceArray, self: DeviceArray, dims: Sequence[int], normalization: int, forward: bool) -> None:
    if not dims or not self.size:
        on.copied(out, self)
        return
    parts: Parts = (on.component(self, False), on.component(self, True))
    for axis in dims:
        parts = _transformed(parts, axis, forward, self.shape[axis])
    _stored(out, parts, normalization, math.prod(self.shape[axis] for axis in dims))


def _r2c(out: DeviceArray, self: DeviceArray, dims: Sequence[int], normalization: int, onesided: bool) -> None:
    if not self.size:
        return
    parts: Parts = _transformed((self, None), dims[-1], True, out.shape[dims[-1]])
    for axis in dims[:-1]:
        parts = _transformed(parts, axis, True, self.shape[axis])
    _stored(out, parts, normalization, math.prod(self.shape[axis] for axis in dims))


def _c2r(out: DeviceArray, self: DeviceArray, dims: Sequence[int], normalization: int, last: int) -> None:
    """From the frequencies that are not negative; the others are their conjugates, counted by the weights."""
    if not out.size:
        return
    parts: Parts = (on.component(self, False), on.component(self, True))
    for axis in dims[:-1]:
        parts = _transformed(parts, axis, False, self.shape[axis])
    axis = dims[-1]
    given = min(self.shape[axis], last // 2 + 1)
    angles = _angles(given, last, last)
    weights = np.full((given, 1), 2.0)
    weights[0] = 1
    if last % 2 == 0 and given == last // 2 + 1:
        weights[-1] = 1
    kept = [_rows(on.cut(part, axis, 0, given), axis) for part in parts if part is not None]
    matrices = [on.constant((m * weights).astype(out.dtype), out) for m in (np.cos(angles), -np.sin(angles))]
    made = on.add(*(on.matmul(part, matrix) for part, matrix in zip(kept, matrices, strict=True)))
    shape = list(out.shape)
    points = math.prod(out.shape[place] for place in dims)
    on.copied(out, _scaled(_back(made, shape, axis), normalization, points))


written("_fft_c2c", "Matmul", _c2c)
written("_fft_r2c", "Matmul", _r2c)
written("_fft_c2r", "Matmul", _c2r)

"""Discrete Fourier transforms. Unscaled transforms come from scipy; the scaling is ours."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..lazy import fft
from ..register import kernel


def _store(out: Any, values: Any, normalization: int, points: int) -> None:
    if normalization == 0:
        out[...] = values
        return
    scale = out.real.dtype.type(1 / math.sqrt(points) if normalization == 1 else 1 / points)
    values = np.ascontiguousarray(values)
    parts = values.view(values.real.dtype)  # a product of complex numbers has other zeros, and nans beside infinities
    np.multiply(parts, scale, parts)
    out[...] = values


def _points(shape: tuple[int, ...], dims: tuple[int, ...]) -> int:
    return math.prod(shape[dim] for dim in dims)


@kernel("_fft_c2c")
def c2c(out: Any, self: Any, dims: tuple[int, ...], normalization: int, forward: bool) -> None:
    """Complex to complex."""
    if not dims or not self.size:
        out[...] = self
        return
    values = fft.fftn(self, axes=dims) if forward else fft.ifftn(self, axes=dims, norm="forward")
    _store(out, values, normalization, _points(self.shape, dims))


@kernel("_fft_r2c")
def r2c(out: Any, self: Any, dims: tuple[int, ...], normalization: int, onesided: bool) -> None:
    """Real to complex, all frequencies or those that are not negative."""
    if not self.size:
        return
    values = fft.rfftn(self, axes=dims)
    _store(out, values if onesided else _mirrored(values, self.shape, dims), normalization, _points(self.shape, dims))


def _mirrored(half: Any, shape: tuple[int, ...], dims: tuple[int, ...]) -> Any:
    """Return all frequencies of a real signal: the negative ones are the conjugates of the others."""
    last = dims[-1]
    extent, given = shape[last], half.shape[last]
    full = np.empty(shape, half.dtype)
    np.moveaxis(full, last, -1)[..., :given] = np.moveaxis(half, last, -1)
    for dim in dims[:-1]:
        half = np.roll(np.flip(half, dim), 1, dim)
    negative = np.moveaxis(half, last, -1)[..., extent - given : 0 : -1]
    np.conj(negative, np.moveaxis(full, last, -1)[..., given:])
    return full


@kernel("_fft_c2r")
def c2r(out: Any, self: Any, dims: tuple[int, ...], normalization: int, last: int) -> None:
    """Complex to real, from the frequencies that are not negative."""
    if not out.size:
        return
    if len(dims) > 1:
        self = fft.ifftn(self, axes=dims[:-1], norm="forward")
    values = fft.irfft(self, last, dims[-1], norm="forward")
    _store(out, values, normalization, _points(out.shape, dims))

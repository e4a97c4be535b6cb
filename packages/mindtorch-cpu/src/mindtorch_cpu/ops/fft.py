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
    scale = 1 / math.sqrt(points) if normalization == 1 else 1 / points
    np.multiply(values, out.real.dtype.type(scale), out)


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
    values = fft.rfftn(self, axes=dims) if onesided else fft.fftn(self, axes=dims)
    _store(out, values, normalization, _points(self.shape, dims))


@kernel("_fft_c2r")
def c2r(out: Any, self: Any, dims: tuple[int, ...], normalization: int, last: int) -> None:
    """Complex to real, from the frequencies that are not negative."""
    if not out.size:
        return
    if len(dims) > 1:
        self = fft.ifftn(self, axes=dims[:-1], norm="forward")
    values = fft.irfft(self, last, dims[-1], norm="forward")
    _store(out, values, normalization, _points(out.shape, dims))

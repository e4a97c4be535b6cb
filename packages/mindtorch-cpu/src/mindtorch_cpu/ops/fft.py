"""Discrete Fourier transforms. Unscaled transforms come from scipy; the scaling is ours."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from mindtorch_storage.lazy_import import load

from ..lazy import fft
from ..register import kernel
from ..threads import threads

_ENGINE = "scipy.fft._pocketfft.pypocketfft"


@functools.cache
def _engine() -> Any:
    """Return what scipy's functions call, which writes to a given array at a fraction of their cost; None where a scipy
    has none of this name."""
    try:
        found = load(_ENGINE)
    except ImportError:
        return None
    threads.tell_blas()  # which may have been loaded just now
    return found


def _scale(out: Any, normalization: int, points: int) -> None:
    if normalization == 0:
        return
    scale = out.real.dtype.type(1 / math.sqrt(points) if normalization == 1 else 1 / points)
    # A product of complex numbers has other zeros, and nans beside infinities.
    for part in (out.real, out.imag) if out.dtype.kind == "c" else (out,):
        np.multiply(part, scale, part)


def _points(shape: tuple[int, ...], dims: tuple[int, ...]) -> int:
    return math.prod(shape[dim] for dim in dims)


def _all_frequencies(out: Any, self: Any, dims: tuple[int, ...], forward: bool) -> None:
    """Transform complex numbers."""
    engine = _engine()
    if engine is not None:
        engine.c2c(self, dims, forward, 0, out, 1)
    else:
        out[...] = fft.fftn(self, axes=dims) if forward else fft.ifftn(self, axes=dims, norm="forward")


@kernel("_fft_c2c", aliases_ok=False)
def c2c(out: Any, self: Any, dims: tuple[int, ...], normalization: int, forward: bool) -> None:
    """Complex to complex."""
    if not dims or not self.size:
        out[...] = self
        return
    _all_frequencies(out, self, dims, forward)
    _scale(out, normalization, _points(self.shape, dims))


@kernel("_fft_r2c", aliases_ok=False)
def r2c(out: Any, self: Any, dims: tuple[int, ...], normalization: int, onesided: bool) -> None:
    """Real to complex, all frequencies or those that are not negative."""
    if not self.size:
        return
    last = dims[-1]
    half = out if onesided else np.moveaxis(np.moveaxis(out, last, 0)[: self.shape[last] // 2 + 1], 0, last)
    if _engine() is not None:
        _engine().r2c(self, dims, True, 0, half, 1)
    else:
        half[...] = fft.rfftn(self, axes=dims)
    if not onesided:
        _mirror(out, half, dims)
    _scale(out, normalization, _points(self.shape, dims))


def _mirror(out: Any, half: Any, dims: tuple[int, ...]) -> None:
    """Write the negative frequencies of a real signal beside `half`, the others: their conjugates. (The engine's own
    way also conjugates those that have no partner, whose zeros then have another sign than torch's.)"""
    last = dims[-1]
    extent, given = out.shape[last], half.shape[last]
    for dim in dims[:-1]:
        half = np.roll(np.flip(half, dim), 1, dim)
    negative = np.moveaxis(half, last, -1)[..., extent - given : 0 : -1]
    np.conj(negative, np.moveaxis(out, last, -1)[..., given:])


@kernel("_fft_c2r", aliases_ok=False)
def c2r(out: Any, self: Any, dims: tuple[int, ...], normalization: int, last: int) -> None:
    """Complex to real, from the frequencies that are not negative."""
    if not out.size:
        return
    if len(dims) > 1:
        given, self = self, np.empty_like(self)
        _all_frequencies(self, given, dims[:-1], False)
    if _engine() is not None and self.shape[dims[-1]] == last // 2 + 1:
        _engine().c2r(self, dims[-1:], last, False, 0, out, 1)
    else:
        out[...] = fft.irfft(self, last, dims[-1], norm="forward")
    _scale(out, normalization, _points(out.shape, dims))

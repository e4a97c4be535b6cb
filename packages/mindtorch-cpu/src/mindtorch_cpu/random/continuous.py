"""Exponential, geometric, Cauchy and log-normal numbers, by inversion in float64 as torch makes them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .capability import capability
from .fused import fma64
from .libm import each
from .normal import serial_normals
from .order import fill
from .uniform import CHUNK, unit64

if TYPE_CHECKING:
    from mindtorch_cpu.generator import Generator

_LARGEST_EXPONENT = 709.782712893384


def exponential(generator: Generator, out: Any, rate: float) -> None:
    """Fill `out` with exponential numbers of that rate."""
    scale = _divide(-1.0, rate)
    _invert(generator, out, lambda unit: scale * each(math.log1p, -unit))


def geometric(generator: Generator, out: Any, probability: float) -> None:
    """Fill `out` with the number of trials until the first success."""
    scale = math.log1p(-probability)
    _invert(generator, out, lambda unit: np.ceil(_log(unit) / scale))


def cauchy(generator: Generator, out: Any, median: float, sigma: float) -> None:
    """Fill `out` with Cauchy numbers."""

    def inverse(unit: Any) -> Any:
        tangents = each(math.tan, math.pi * (unit - 0.5))
        return fma64(tangents, sigma, median) if capability.fused else tangents * sigma + median

    _invert(generator, out, inverse)


def log_normal(generator: Generator, out: Any, mean: float, std: float) -> None:
    """Fill `out` with exponentials of normals; uses and leaves the engine's spare normal."""

    def flat(part: Any) -> None:
        _store(part, _exp(serial_normals(generator.engine, part.size, mean, std)))

    with generator.lock:
        fill(out, flat)


def _invert(generator: Generator, out: Any, inverse: Callable[[Any], Any]) -> None:
    def flat(dense: Any) -> None:
        for start in range(0, dense.size, CHUNK):
            part = dense[start : start + CHUNK]
            _store(part, inverse(unit64(generator.engine, part.size)))

    with generator.lock:
        fill(out, flat)


def _store(out: Any, values: Any) -> None:
    if out.dtype.kind in "iu" or out.dtype.itemsize == 8:
        with np.errstate(invalid="ignore"):
            out[...] = values.astype(out.dtype)
    else:
        # torch converts to a 16-bit type by way of float32.
        with np.errstate(over="ignore"):
            out[...] = values.astype(np.float32)


def _divide(numerator: float, denominator: float) -> float:
    return numerator / denominator if denominator else -math.inf


def _log(unit: Any) -> Any:
    zero = unit == 0
    if not zero.any():
        return each(math.log, unit)
    return np.where(zero, -np.inf, each(math.log, np.where(zero, 1.0, unit)))


def _exp(values: Any) -> Any:
    overflowing = values > _LARGEST_EXPONENT
    if not overflowing.any():
        return each(math.exp, values)
    return np.where(overflowing, np.inf, each(math.exp, np.where(overflowing, 0.0, values)))

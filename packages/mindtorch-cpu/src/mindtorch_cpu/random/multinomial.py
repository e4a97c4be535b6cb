"""Drawing category numbers from rows of weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from mindtorch_dispatch.table import kernels

from .uniform import unit64

if TYPE_CHECKING:
    from mindtorch_cpu.generator import Generator

_WEIGHTS = "probability tensor contains either `inf`, `nan` or element < 0"


def multinomial(generator: Generator, out: Any, weights: Any, replacement: bool) -> None:
    """Fill the int64 `out` of shape (..., samples) with categories drawn by `weights` of shape (..., categories)."""
    if out.size == 0:
        return
    rows, target = np.atleast_2d(weights), np.atleast_2d(out)
    if replacement and target.shape[1] > 1:
        _with_replacement(generator, target, rows)
    else:
        _race(generator, target, rows)


def _race(generator: Generator, out: Any, weights: Any) -> None:
    """The first arrivals of exponential clocks that run as fast as the weights: a draw without replacement."""
    if weights.shape[1] == 0:
        raise RuntimeError(
            "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity."
        )
    wide = weights.astype(np.float64 if weights.dtype.itemsize == 8 else np.float32)
    if not (np.isfinite(wide).all() and (wide >= 0).all()):
        raise RuntimeError(_WEIGHTS)
    totals = wide.sum(-1)
    if (totals == 0).any():
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")
    by_columns = weights.strides[0] < weights.strides[1] and min(weights.shape) > 1
    clocks = np.empty(weights.shape[::-1] if by_columns else weights.shape, weights.dtype)
    kernels["cpu"]["exponential_"].fn(clocks, clocks, 1.0, generator)
    clocks = clocks.T if by_columns else clocks  # torch's clocks lie as the weights do, and are drawn as they lie
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        speeds = (wide / clocks.astype(wide.dtype)).astype(weights.dtype)
    if out.shape[1] == 1:
        out[:, 0] = speeds.astype(wide.dtype).argmax(-1)
        return
    fastest, places = np.empty(out.shape, speeds.dtype), np.empty(out.shape, np.int64)
    kernels["cpu"]["topk"].fn((fastest, places), speeds, out.shape[1], 1, True, True)
    out[...] = places


def _with_replacement(generator: Generator, out: Any, weights: Any) -> None:
    wide = weights.astype(np.float64 if weights.dtype.itemsize == 8 else np.float32)
    sums = np.cumsum(wide, axis=-1, dtype=wide.dtype)
    for row, total in zip(wide, wide.sum(-1), strict=True):
        _check_row(row, total)
    sums /= sums[:, -1:]
    sums[:, -1] = 1
    with generator.lock:
        units = unit64(generator.engine, out.size).reshape(out.shape)
    for row, (bounds, points) in enumerate(zip(sums, units, strict=True)):
        out[row] = np.searchsorted(bounds.astype(np.float64), points, "left")


def _check_row(weights: Any, total: Any) -> None:
    """Raise what torch raises for the first bad weight of a row; not-a-number is "below zero" there."""
    if np.isfinite(total) and total > 0 and (weights >= 0).all():
        return
    for weight in weights:
        if not weight >= 0:
            raise RuntimeError("invalid multinomial distribution (encountering probability entry < 0)")
        if not np.isfinite(weight):
            raise RuntimeError("invalid multinomial distribution (encountering probability entry = infinity or NaN)")
    if not total > 0:
        raise RuntimeError("invalid multinomial distribution (sum of probabilities <= 0)")

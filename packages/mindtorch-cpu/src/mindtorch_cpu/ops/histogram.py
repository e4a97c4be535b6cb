"""Counting values into bins."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..register import kernel


@kernel("histc", upcast=False)
def histc(out: Any, self: Any, bins: int, low: float, high: float) -> None:
    """Counts in equal bins; what lies outside is left out."""
    if low == high and self.size:
        low, high = float(np.min(self)), float(np.max(self))
        if not (math.isfinite(low) and math.isfinite(high)):
            raise RuntimeError(f"torch.histc: range of [{low:g}, {high:g}] is not finite")
    if low == high:
        low, high = low - 1, high + 1
    number = self.dtype.type
    values = self.reshape(-1)
    values = values[(values >= number(low)) & (values <= number(high))]
    if number(low) == number(high):  # numbers so large that one more is the same
        out[...] = 0
        out[bins // 2] = values.size
        return
    # Each step is rounded to the values' precision, as in torch: a half-precision value may land in the next bin.
    places = ((values - number(low)) * number(bins) / (number(high) - number(low))).astype(np.int64)
    out[...] = np.bincount(np.minimum(places, bins - 1), minlength=bins)


@kernel("_histogramdd_from_bin_tensors")
def histogramdd(out: Any, self: Any, bins: list[Any], weight: Any, density: bool) -> None:
    """Counts or weights in bins with given edges; the last edge belongs to the last bin."""
    points = self.reshape(-1, self.shape[-1])
    inside = np.ones(points.shape[0], np.bool_)
    flat = np.zeros(points.shape[0], np.int64)
    for column, edges in zip(points.T, bins, strict=True):
        count = edges.size - 1
        inside &= (column >= edges[0]) & (column <= edges[-1])
        places = np.minimum(np.searchsorted(edges, column, "right") - 1, count - 1)
        flat = flat * count + np.clip(places, 0, max(count - 1, 0))
    if out.size:
        chosen = None if weight is None else weight.reshape(-1)[inside]
        out[...] = np.bincount(flat[inside], chosen, out.size).reshape(out.shape)
    if density:
        np.true_divide(out, out.sum(), out)
        for dim, edges in enumerate(bins):
            widths = np.diff(edges).reshape([-1 if index == dim else 1 for index in range(out.ndim)])
            np.true_divide(out, widths, out)


_LARGEST_LENGTH = 2**63 - 1


@kernel("bincount")
def bincount(self: Any, weights: Any, minlength: int) -> Any:
    """How often each number from 0 on occurs, or the sum of its weights."""
    numbers = self.astype(np.int64, copy=False)
    if numbers.size:
        if numbers.min() < 0:
            raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
        largest = int(numbers.max())
        if largest >= _LARGEST_LENGTH:
            raise RuntimeError(f"maximum value of input overflowed, it should be < {_LARGEST_LENGTH} but got {largest}")
    counts = np.bincount(numbers, weights, minlength)
    if weights is None:
        return counts.astype(np.int64, copy=False)
    return counts.astype(np.float32 if weights.dtype == np.float32 else np.float64, copy=False)

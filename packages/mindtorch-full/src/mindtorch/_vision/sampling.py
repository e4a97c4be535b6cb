"""Means of bilinear samples over the bins of regions, as matrices: one for rows, one for columns, as both are separable."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def bins(start: float, size: float, pooled: int, ratio: int, extent: int, dtype: Any) -> tuple[np.ndarray, int]:
    """Return the weights [pooled, extent] of a line's elements in the sums of its bins, and the samples of a bin."""
    samples = ratio if ratio > 0 else math.ceil(size / pooled)
    if samples <= 0:
        return np.zeros((pooled, extent), dtype), samples
    step = size / pooled
    at = start + np.arange(pooled)[:, None] * step + (np.arange(samples) + 0.5) * (step / samples)
    inside = (at >= -1.0) & (at <= extent)
    at = np.maximum(at, 0)
    low = np.minimum(at.astype(np.int64), extent - 1)
    high = np.minimum(low + 1, extent - 1)
    part = np.where(low >= extent - 1, 0.0, at - low)
    weights = np.zeros((pooled, extent), np.float64)
    rows = np.broadcast_to(np.arange(pooled)[:, None], at.shape)
    np.add.at(weights, (rows, low), np.where(inside, 1.0 - part, 0.0))
    np.add.at(weights, (rows, high), np.where(inside, part, 0.0))
    return weights.astype(dtype), samples


def used(weights: np.ndarray) -> slice:
    """Return the range of elements that have a weight."""
    (columns,) = np.nonzero(weights.any(axis=0))
    return slice(int(columns[0]), int(columns[-1]) + 1) if len(columns) else slice(0, 0)


def rounded(value: float) -> int:
    """Return the nearest integer, halves away from zero."""
    return math.floor(abs(value) + 0.5) * (1 if value >= 0 else -1)

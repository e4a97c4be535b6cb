"""Windows that slide over the last dimensions of an array: padding, counting, and one view per place in the window."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np


def each(values: Any, dims: int) -> list[int]:
    """Return one number per dimension of a list that may hold a single one for all."""
    values = [int(value) for value in values]
    whole: list[int] = values if len(values) == dims else values * dims
    return whole


def extents(shape: Sequence[int], size: Any, step: Any, pad: Any, gap: Any, ceil: bool = False) -> list[int]:
    """Return how many windows there are along each dimension; the last begins within the input or the left padding."""
    found = []
    for n, k, s, p, d in zip(shape, size, step, pad, gap, strict=True):
        span = n + 2 * p - d * (k - 1) - 1
        count = (span + s - 1 if ceil else span) // s + 1
        found.append(count - 1 if ceil and (count - 1) * s >= n + p else count)
    return found


def surrounded(x: Any, pad: Any, counts: Any, size: Any, step: Any, gap: Any, fill: Any) -> Any:
    """Return `x` within `fill`, as far as the windows reach."""
    dims = len(size)
    sides = [(0, 0)] * (x.ndim - dims)
    for n, p, count, k, s, d in zip(x.shape[-dims:], pad, counts, size, step, gap, strict=True):
        reach = (count - 1) * s + d * (k - 1) + 1
        sides.append((p, max(p, reach - n - p)))
    return np.pad(x, sides, constant_values=fill)


def places(counts: Any, size: Sequence[int], step: Any, gap: Any) -> Iterator[tuple[tuple[int, ...], tuple[Any, ...]]]:
    """Yield each place in the window with the index of what all windows have there."""
    for place in itertools.product(*map(range, size)):
        cut = [
            slice(at * d, at * d + (count - 1) * s + 1, s)
            for at, count, s, d in zip(place, counts, step, gap, strict=True)
        ]
        yield place, (..., *cut)


def inner(x: Any, pad: Any, shape: Sequence[int]) -> Any:
    """Return what lies within the padding."""
    return x[(..., *(slice(p, p + n) for p, n in zip(pad, shape, strict=True)))]

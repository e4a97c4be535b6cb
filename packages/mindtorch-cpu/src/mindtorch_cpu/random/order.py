"""The order in which random numbers meet the elements of an output: the order of the elements in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

Flat = Callable[[Any], None]
"""Fills a contiguous one-dimensional array, front to back."""


def memory_order(strides: tuple[int, ...]) -> tuple[int, ...]:
    """Return the dims from the farthest-apart elements to the nearest."""
    return tuple(sorted(range(len(strides)), key=lambda dim: -strides[dim]))


def in_memory_order(array: Any) -> Any:
    """Return a view of `array` whose C order is the order of its elements in memory."""
    return array if array.flags.c_contiguous else array.transpose(memory_order(array.strides))


def fill(out: Any, flat: Flat) -> None:
    """Fill `out` in memory order through `flat`, which sees one contiguous array."""
    view = in_memory_order(out)
    if view.flags.c_contiguous:
        flat(view.reshape(-1))
        return
    dense = np.empty(out.size, out.dtype)
    flat(dense)
    view[...] = dense.reshape(view.shape)

"""The C library's functions over arrays, one element at a time.

numpy has its own vector code for most of them, whose last bit depends on the machine. torch calls the C library, and
so does Python's `math`: 50 ns an element is the price of equal bits.
"""

from __future__ import annotations

import ctypes
import ctypes.util
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np


def each(function: Callable[[float], float], values: Any) -> Any:
    """Return float64 `function(values)`, of the shape of `values`."""
    flat = values.reshape(-1)
    return np.fromiter(map(function, flat.tolist()), np.float64, flat.size).reshape(values.shape)


def float32_each(name: str, values: Any) -> Any:
    """Return float32 `name(values)` for a single-precision C function such as `logf`."""
    return each(_single(name), values).astype(np.float32)


@cache
def _single(name: str) -> Callable[[float], float]:
    function = getattr(ctypes.CDLL(ctypes.util.find_library("m")), name)
    function.argtypes = (ctypes.c_float,)
    function.restype = ctypes.c_float
    return function

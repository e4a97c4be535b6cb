"""Fused multiply-add in numpy: `a * b + c` rounded once, as the compiled loops of torch round it.

numpy has no such operation. For float32 the product of two operands is exact in float64, so one float64 addition and
one conversion almost always round as a fused operation does. The exception is a float64 sum that was itself rounded
to the middle of two float32 neighbours; `is_double_rounded` finds those, and `round_once` repairs them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

_TAIL = np.int64((1 << 29) - 1)
_MIDDLE = np.int64(1 << 28)
_SPLITTER = float((1 << 27) + 1)


def is_double_rounded(sums: Any) -> bool:
    """Whether converting any of the float64 `sums` to float32 might round a value that lost its last bits before."""
    tails = np.bitwise_and(sums.view(np.int64), _TAIL)
    return bool((tails == _MIDDLE).any())


def round_once(products: Any, addend: Any) -> Any:
    """Return `products + addend` as float32, rounded once; both are float64 and the products exact."""
    total = np.asarray(np.add(products, addend))
    if is_double_rounded(total):
        total = _round_to_odd(products, addend, total)
    return total.astype(np.float32)


def fma32(a: Any, b: Any, c: Any) -> Any:
    """Return float32 `a * b + c` rounded once; `a`, `b`, `c` are float64 arrays or scalars of float32 values."""
    return round_once(np.multiply(a, b), c)


def fma64(a: Any, b: Any, c: Any) -> Any:
    """Return float64 `a * b + c` rounded once, for operands whose product is far from underflow."""
    high, low = _two_product(a, b)
    upper, lower = _two_sum(c, low)
    top, rest = _two_sum(high, upper)
    fused = top + _round_to_odd(lower, rest, lower + rest)
    # Splitting overflows on infinite and enormous operands; there the plain sum is the answer.
    return fused if np.isfinite(fused).all() else np.where(np.isfinite(fused), fused, a * b + c)


def _round_to_odd(a: Any, b: Any, total: Any) -> Any:
    """Return `a + b` rounded to the neighbour with an odd last bit where it is inexact; `total` is the usual sum.

    Such a value never looks like the middle of two shorter numbers when it is not, so it can be rounded again.
    """
    back = total - a
    error = (a - (total - back)) + (b - back)
    bits = total.view(np.int64)
    step = np.where((error > 0) == (total > 0), 1, -1)
    return (bits + np.where((error != 0) & (bits & 1 == 0), step, 0)).view(np.float64)


def _two_sum(a: Any, b: Any) -> tuple[Any, Any]:
    total = a + b
    back = total - a
    return total, (a - (total - back)) + (b - back)


def _halves(value: Any) -> tuple[Any, Any]:
    scaled = value * _SPLITTER
    high = scaled - (scaled - value)
    return high, value - high


def _two_product(a: Any, b: Any) -> tuple[Any, Any]:
    product = a * b
    a_high, a_low = _halves(a)
    b_high, b_low = _halves(b)
    return product, ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low

"""Python ints among the operands of a call that computes in integers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.dtype import int32

from ..schema import Argument

_OPERANDS = ("self", "other")


def _wrapped_int(value: int, dtype: Dtype) -> Any:
    """Return `value` as the dtype holds it: two's complement, no overflow error."""
    bits = dtype.itemsize * 8
    value &= (1 << bits) - 1
    if dtype.np.kind == "i" and value >> (bits - 1):
        value -= 1 << bits
    return dtype.np.type(value)


def _check_fits(value: int, dtype: Dtype) -> None:
    """Raise torch's error for an int that the dtype does not hold; unsigned ones hold as many negative ones, which wrap."""
    limits = np.iinfo(dtype.np)
    if not (limits.min or -limits.max) <= value <= limits.max:
        name = "int" if dtype is int32 else f"{dtype.name}_t"
        raise RuntimeError(f"value cannot be converted to type {name} without overflow")


def _fitting(value: int, dtype: Dtype) -> Any:
    _check_fits(value, dtype)
    return _wrapped_int(value, dtype)


def _power(value: int, dtype: Dtype) -> Any:
    """Return an exponent of integers, which have no powers below 0, as an element."""
    if value < 0:
        raise RuntimeError("Integers to negative integer powers are not allowed.")
    return _fitting(value, dtype)


def readers_of(arguments: Sequence[Argument], places: Sequence[int]) -> dict[int, Callable[[int, Dtype], Any]]:
    """Return how an int given at each of the places becomes an element.

    One that stands for a tensor wraps, as torch makes a tensor of it; any other Scalar has to fit.
    """
    readers: dict[int, Callable[[int, Dtype], Any]] = {}
    for place in places:
        argument = arguments[place] if place < len(arguments) else None
        if argument is None or argument.type.kind != "Scalar" or argument.name in _OPERANDS:
            readers[place] = _wrapped_int
        else:
            readers[place] = _power if argument.name == "exponent" else _fitting
    return readers

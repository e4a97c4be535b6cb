"""Python numbers as elements: C's conversions, with torch's refusal of what does not fit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

_TYPE_NAMES = {
    "float32": "float", "float64": "double", "float16": "c10::Half", "bfloat16": "c10::BFloat16", "int32": "int",
    "complex64": "c10::complex<float>", "complex128": "c10::complex<double>",
}  # fmt: skip

_LARGEST = {
    "float16": 65504.0, "bfloat16": 3.3895313892515355e38, "float32": 3.4028234663852886e38,
    "complex64": 3.4028234663852886e38,
}  # fmt: skip


def _type_name(dtype: Any) -> str:
    return _TYPE_NAMES.get(dtype.name) or f"{dtype.name}_t"


def _overflows(value: Any, dtype: Any) -> bool:
    if dtype.kind in "iu":
        # A negative int wraps in an unsigned type, a negative float does not fit.
        if isinstance(value, float) and (not math.isfinite(value) or (dtype.kind == "u" and value < 0)):
            return True
        limits = np.iinfo(dtype)
        low = -int(limits.max) if dtype.kind == "u" else int(limits.min)
        return not low <= value <= int(limits.max)
    most = _LARGEST.get(dtype.name, math.inf)
    if isinstance(value, complex):
        return any(math.isfinite(part) and abs(part) > most for part in (value.real, value.imag))
    return math.isfinite(value) and abs(value) > most


def number_of(value: Any, dtype: Any) -> Any:
    """Return a Python number as a numpy scalar of `dtype`; RuntimeError with torch's text when it does not fit, which
    finite numbers beyond the largest one do not."""
    if dtype.kind == "b":
        return np.bool_(bool(value))
    if isinstance(value, tuple):  # an element of complex32, which numpy has as two halves
        value = complex(*value)
    if dtype.names:
        with np.errstate(over="ignore"):
            return np.array((np.float16(value.real), np.float16(value.imag)), dtype)
    if isinstance(value, complex) and dtype.kind != "c":
        if value.imag:
            raise RuntimeError(f"value cannot be converted to type {_type_name(dtype)} without overflow")
        value = value.real
    if _overflows(value, dtype):
        raise RuntimeError(f"value cannot be converted to type {_type_name(dtype)} without overflow")
    if dtype.kind == "c":
        return np.asarray(value).astype(dtype)
    if dtype.kind in "iu":
        return np.asarray(int(value) & (1 << 8 * dtype.itemsize) - 1, np.uint64).astype(dtype)
    return np.asarray(float(value)).astype(dtype)

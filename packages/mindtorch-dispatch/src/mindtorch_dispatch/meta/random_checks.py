"""torch's checks of distribution parameters and of the dtypes that random ops exist for."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from mindtorch_storage.dtype import (
    bfloat16,
    complex64,
    complex128,
    float16,
    float32,
    float64,
    int8,
    int16,
    int32,
    int64,
    uint8,
    uint16,
    uint32,
    uint64,
)
from mindtorch_storage.dtype import bool as bool_dtype
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.spec import Spec

from ..frames import frames_to_caller
from ..meta.checks import check, shape_text
from .support import lacking, require

REAL_FLOATS = (float32, float64, float16, bfloat16)
INTEGERS = (int64, int32, int16, int8, uint8)

CPP_NAMES = {
    float32: "float",
    float64: "double",
    float16: "c10::Half",
    bfloat16: "c10::BFloat16",
    uint8: "unsigned char",
    int8: "signed char",
    int16: "short int",
    int32: "int",
    int64: "long int",
    bool_dtype: "bool",
    uint16: "short unsigned int",
    uint32: "unsigned int",
    uint64: "long unsigned int",
    complex64: "c10::complex<float>",
    complex128: "c10::complex<double>",
}
_INT64_MAX = 2**63 - 1


def number(value: float) -> str:
    """Return `value` as a C++ stream prints a double."""
    return f"{value:g}"


_finfo: Callable[[Any], Any] = ml_dtypes.finfo


def _largest(dtype: Dtype) -> float:
    return float(_finfo(dtype.np).max)


def check_uniform(dtype: Dtype, low: float, high: float) -> None:
    """Raise unless uniform numbers in [low, high) exist in `dtype`."""
    dtype = dtype.to_real()
    if dtype not in REAL_FLOATS:
        raise lacking(dtype, "check_uniform_bounds")
    largest = _largest(dtype)
    for name, bound in (("from", low), ("to", high)):
        check(-largest <= bound <= largest, lambda name=name: f"{name} is out of bounds for {CPP_NAMES[dtype]}")
    check(
        low <= high,
        lambda: f"uniform_ expects to return a [from, to) range, but found from={number(low)} > to={number(high)}",
    )
    check(
        high - low <= largest,
        lambda: (
            f"uniform_ expects to-from <= std::numeric_limits<{dtype.scalar_name}>::max(), but found "
            f"to={number(high)} and from={number(low)} which result in to-from to exceed the limit"
        ),
    )


def check_normal(spec: Spec, std: float) -> None:
    """Raise unless normals of that standard deviation exist in the dtype; without elements any dtype will do."""
    check(std >= 0, lambda: f"normal expects std >= 0.0, but found std {number(std)}")
    require(not spec.numel or spec.dtype.to_real() in REAL_FLOATS, spec, "normal_kernel_cpu")


def _significant_bits(dtype: Dtype) -> int:
    return int(_finfo(dtype.np).nmant) + 1


def _as_float(dtype: Dtype, value: int) -> int:
    """Return what `value` becomes by way of `dtype`; infinity as the integer that C++ makes of it on this processor."""
    if dtype is float64:
        return int(float(value))
    with np.errstate(over="ignore"):
        rounded = float(np.float64(np.array(value, np.int64).astype(np.float32).astype(dtype.np)))
    return int(rounded) if math.isfinite(rounded) else -(2**63)


def _raised_low(dtype: Dtype, low: int) -> int:
    """Return the first value at or above `low` that does not round below it."""
    following = _as_float(dtype, low + 1)
    if following >= low:
        return low
    return following + (1 << (abs(low + 1).bit_length() - _significant_bits(dtype)))


def _lowered_high(dtype: Dtype, high: int) -> int:
    """Return an end at or below `high` whose predecessor does not round up to it."""
    last = _as_float(dtype, high - 1)
    if last < high:
        return high
    return last - (1 << (abs(high - 1).bit_length() - _significant_bits(dtype)))


def integer_range(dtype: Dtype, low: int, high: int | None) -> tuple[int, int]:
    """Return the first value and the number of values of `random_(low, high)`; None means up to the dtype's end."""
    if high is None:
        last = _last_value(dtype, low)
    else:
        check(low < high, lambda: f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
        if dtype.is_floating_point:
            if dtype not in REAL_FLOATS:
                raise lacking(dtype, "random_update_from_to")
            low, high = _raised_low(dtype, low), _lowered_high(dtype, high)
            check(
                low < high,
                lambda: (
                    "random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, but got "
                    f"from={low} >= to={high}"
                ),
            )
        last = high - 1
    if dtype.is_floating_point and high is None:
        low = _raised_low(dtype, low)
        check(
            low < last,
            lambda: (
                "random_ expects 'from' casted to dtype to be less than or equal to 'to_inc' casted to dtype, but "
                f"got from={low} > to_inc={last}"
            ),
        )
    _check_bounds(dtype, low, last)
    # torch counts to the end of uint64 in int64, where it has none.
    check(high is not None or dtype is not uint64, lambda: f"to - 1 is out of bounds for {CPP_NAMES[dtype]}")
    return low, last - low + 1


def _last_value(dtype: Dtype, low: int) -> int:
    if dtype.is_floating_point and dtype in REAL_FLOATS:
        return 1 << _significant_bits(dtype)
    if dtype is bool_dtype:
        return 1
    check(
        dtype.np.kind in "iu",
        lambda: "random_from_to_impl handles only integral, floating-point and boolean types",
    )
    return min(int(np.iinfo(dtype.np).max), _INT64_MAX)


def _check_bounds(dtype: Dtype, low: int, last: int) -> None:
    if dtype.is_floating_point:
        largest = _largest(dtype)
        bounds = (-largest, largest)
    elif dtype is bool_dtype:
        bounds = (0, 1)
    else:
        check(
            dtype.np.kind in "iu",
            lambda: "check_random_bounds handles only integral, floating-point and boolean types",
        )
        info = np.iinfo(dtype.np)
        bounds = (int(info.min), int(info.max))
    name = CPP_NAMES[dtype]
    for label, value in (("from", low), ("to - 1", last)):
        check(bounds[0] <= value <= bounds[1], lambda label=label: f"{label} is out of bounds for {name}")


_OF_NUMPY = {dtype.np: dtype for dtype in REAL_FLOATS}


def warn_of_rounding(element: np.dtype[Any], low: int, last: int) -> None:
    """Warn, as torch does at every call, where a floating-point type has not all integers from `low` to `last`."""
    dtype = _OF_NUMPY[element]
    bits = _significant_bits(dtype)
    for label, value in (("from", low), ("to - 1", last)):
        if not -(1 << bits) <= value <= 1 << bits:
            warnings.warn(
                f"{label} is out of bounds [-(2^{bits}), 2^{bits}]. Due to precision limitations {CPP_NAMES[dtype]} can "
                "support discrete uniform distribution only within this range. This warning will become an error "
                "in version 1.7 release, please fix the code in advance",
                UserWarning,
                stacklevel=frames_to_caller(),
            )


def check_probability(p: float) -> None:
    """Raise unless `p` is a probability."""
    check(0 <= p <= 1, lambda: f"bernoulli_ expects p to be in [0, 1], but got p={number(p)}")


def check_expandable(small: Spec, target: Spec) -> None:
    """Raise torch's `expand` error unless `small` broadcasts to the shape of `target`."""
    lead = target.ndim - small.ndim
    for dim in range(target.ndim - 1, -1, -1):
        have = small.shape[dim - lead] if dim >= lead else 1
        check(
            have in (1, target.shape[dim]),
            lambda dim=dim, have=have: (
                f"The expanded size of the tensor ({target.shape[dim]}) must match the existing "
                f"size ({have}) at non-singleton dimension {dim}.  Target sizes: {shape_text(target.shape)}.  "
                f"Tensor sizes: {shape_text(small.shape)}"
            ),
        )


def check_permutation(dtype: Dtype, n: int) -> None:
    """Raise unless `dtype` holds every index of `n` elements."""
    limits = {float16: (11, "2049"), float32: (24, "2^24+1"), float64: (53, "2^53+1")}
    if dtype in limits:
        bits, text = limits[dtype]
        check(
            n <= (1 << bits) + 1,
            lambda: f"n cannot be greater than {text} for {dtype.scalar_name} type.",
        )
    elif dtype in INTEGERS:
        name = "int" if dtype is int32 else f"{dtype.name}_t"
        check(
            n - 1 <= int(np.iinfo(dtype.np).max),
            lambda: f"value cannot be converted to type {name} without overflow",
        )
    elif dtype is not bfloat16:
        raise lacking(dtype, "randperm")

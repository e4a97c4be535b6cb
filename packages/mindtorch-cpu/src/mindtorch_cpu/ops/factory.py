"""Factories and fills."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindtorch_dispatch.determinism import filling

from ..number import number_of
from ..reduced import rounder
from ..register import kernel
from .copy import EIGHT_BITS, convert


@kernel(
    "empty.memory_format",
    "empty_strided",
    "empty_like",
    "new_empty",
    "new_empty_strided",
    "empty_permuted",
    upcast=False,
)
def empty(out: Any, *values: Any) -> None:
    """Leave the memory as it is, unless it is filled so that programs do the same each time."""
    value = filling(out.dtype)
    if value is not None:
        _fill(out, value)


@kernel("zeros", "zeros_like", "new_zeros", "zero_", upcast=False)
def zeros(out: Any, *values: Any) -> None:
    """Fill with zeros."""
    if out.dtype in EIGHT_BITS:  # one of these types has no zero
        out = out.view(np.uint8)
    out.fill(0)


@kernel("ones", "ones_like", "new_ones", upcast=False)
def ones(out: Any, *values: Any) -> None:
    """Fill with ones."""
    out.fill(1 if out.dtype.names is None else number_of(1, out.dtype))


def _fill(out: Any, value: Any) -> None:
    if out.dtype in EIGHT_BITS:
        convert(out, np.float32(value))
    elif out.size == 1 and out.dtype.itemsize == 2 and out.dtype.kind not in "iu":
        # torch takes a double for a single element of 16 bits, which becomes infinite beyond the largest.
        with np.errstate(over="ignore"):
            out[...] = number_of(value, np.dtype(np.float64)).astype(out.dtype)
    else:
        out[...] = number_of(value, out.dtype)


@kernel("full", upcast=False)
def full(out: Any, size: Any, fill_value: Any, *options: Any) -> None:
    """Fill with a number."""
    _fill(out, fill_value)


@kernel("full_like", upcast=False)
def full_like(out: Any, self: Any, fill_value: Any, *options: Any) -> None:
    """Fill with a number."""
    _fill(out, fill_value)


@kernel("new_full", upcast=False)
def new_full(out: Any, self: Any, size: Any, fill_value: Any, *options: Any) -> None:
    """Fill with a number."""
    _fill(out, fill_value)


@kernel("scalar_tensor", upcast=False)
def scalar_tensor(out: Any, s: Any, *options: Any) -> None:
    """A 0-d tensor of a number."""
    _fill(out, s)


@kernel("fill_.Scalar", "fill_.Tensor", upcast=False)
def fill_(out: Any, self: Any, value: Any) -> None:
    """Fill in place."""
    if isinstance(value, np.ndarray):
        convert(out, value)
    else:
        _fill(out, value)


@kernel("arange", "arange.start", "arange.start_step")
def arange(out: Any, start: Any, end: Any, step: Any) -> None:
    """Multiples of `step` from `start`; of float32 and float64 rounded where torch's vectors are."""
    if out.dtype not in (np.float32, np.float64) or not (math.isfinite(start) and math.isfinite(step)):
        range_(out, start, end, step)
        return
    # torch counts two vectors of 32 bytes at a time, each from its first number, and what is left from the start.
    lanes, count = 32 // out.itemsize, out.shape[0]
    first = np.arange(0, count // (2 * lanes) * 2 * lanes, lanes, dtype=np.float64)
    places = np.arange(first.size * lanes, count, dtype=np.float64)
    _place(places, float(start), float(step))
    out[first.size * lanes :] = places
    _place(first, float(start), float(step))
    for at in range(0, first.size, _BLOCK // lanes):
        begins = first[at : at + _BLOCK // lanes].astype(out.dtype).astype(np.float64)
        lines = np.tile(np.arange(lanes, dtype=np.float64), (begins.size, 1))
        _place(lines, begins[:, None], float(step))
        out[at * lanes : (at + begins.size) * lanes] = lines.ravel()


@kernel("range", "range.step")
def range_(out: Any, start: Any, end: Any, step: Any) -> None:
    """Multiples of `step` from `start`; computed as start + i * step, as torch does."""
    count = out.shape[0]
    if out.dtype.kind in "iu":
        out[...] = np.arange(count, dtype=np.int64) * step + start
    else:
        values = np.arange(count, dtype=np.float64)
        values *= step
        np.add(start, values, out=out if out.dtype == values.dtype else values)
        if out.dtype != values.dtype:
            out[...] = values


_BLOCK = 1 << 14
"""Elements that stay in the processor's cache while they are worked on."""


def _exponents(dtype: Any, start: Any, end: Any, steps: int, out: np.ndarray[Any, Any] | None = None) -> Any:
    """Equidistant values, in `out` where that holds such; the upper half is counted from the end, so both ends are exact."""
    kind = dtype.type if dtype.kind in "fc" else np.float64
    if steps == 1:
        return np.asarray([start], kind)
    begin, stop = kind(start), kind(end)
    if dtype.kind in "iu":
        begin, stop = kind(number_of(start, dtype)), kind(number_of(end, dtype))
    step = (stop - begin) / kind(steps - 1)
    half = steps // 2
    values = np.empty(steps, kind) if out is None or out.dtype != kind else out
    exact = np.finfo(kind).nmant >= steps.bit_length()  # else whole numbers are rounded once
    count = np.arange(min(_BLOCK, steps), dtype=kind if exact else np.int64)
    for part, first, base in ((values[:half], 0, begin), (values[half:], half + 1 - steps, stop)):
        for at in range(0, part.size, _BLOCK):
            block = part[at : at + _BLOCK]
            np.add(count[: block.size], count.dtype.type(first + at), out=block, casting="unsafe")
            _place(block, base, step)
    return values


def _place(count: np.ndarray[Any, Any], base: Any, step: Any) -> None:
    """Write `base + step * count` over whole numbers, rounded once, as torch's fused instructions do.

    The sum of floats is exact in double precision but for its last digits. A step of doubles is taken apart, so that
    products with its upper part are exact. Complex numbers are rounded twice.
    """
    if count.dtype == np.float32:
        count[...] = np.float64(step) * count + np.float64(base)
    elif count.dtype == np.float64 and np.isfinite(step) and np.all(np.isfinite(base)):
        upper = (np.array(step).view(np.int64) & -(1 << 31)).view(np.float64)
        product = upper * count
        total = base + product
        added = total - base
        lost = (base - (total - added)) + (product - added)
        np.add(total, lost + (step - upper) * count, out=count)
    else:
        np.multiply(step, count, out=count)
        count += base


def _equidistant_halves(dtype: Any, start: Any, end: Any, steps: int) -> Any:
    """Equidistant values of halves, every step of the computation rounded to one."""
    rounded = rounder(dtype)
    begin, stop = (rounded(np.asarray(value, np.float32)) for value in (start, end))
    if steps == 1:
        return begin
    step = rounded(rounded(stop - begin) / rounded(np.float32(steps - 1)))
    count = np.arange(steps, dtype=np.float32)
    up, down = rounded(step * rounded(count)), rounded(step * rounded(count[::-1]))
    return np.where(count < steps // 2, begin + up, stop - down)


def _check_bounds(dtype: Any, *bounds: Any) -> None:
    """Refuse numbers that the dtype does not hold."""
    for bound in bounds:
        number_of(bound, dtype)


@kernel("linspace", upcast=False)
def linspace(out: Any, start: Any, end: Any, steps: int, *options: Any) -> None:
    """Equidistant values."""
    if steps == 1 and out.itemsize == 2 and out.dtype.kind not in "iu":
        out[...] = start  # one value is filled in, which a half rounds
        return
    if steps:
        _check_bounds(out.dtype, start, *([end] if steps > 1 else []))
    if steps and out.itemsize == 2 and out.dtype.kind not in "iu":
        out[...] = _equidistant_halves(out.dtype, start, end, steps)
    elif steps:
        values = _exponents(out.dtype, start, end, steps, out)
        if values is not out:
            out[...] = values.astype(out.dtype, copy=False)


def _double_exponents(start: Any, end: Any, steps: int) -> Any:
    """Return equidistant exponents: their difference has the dtype's digits, all else those of doubles."""
    step, place = np.float64(end - start) / (steps - 1), np.arange(steps)
    return np.where(place < steps // 2, start + step * place, end - step * (steps - 1 - place))


@kernel("logspace")
def logspace(out: Any, start: Any, end: Any, steps: int, base: float, *options: Any) -> None:
    """Powers with equidistant exponents."""
    if steps:
        with np.errstate(invalid="ignore", over="ignore"):
            wide = np.complex128 if out.dtype.kind == "c" else np.float64
            if steps > 1:
                _check_bounds(out.dtype, start, end)
            else:
                number_of(np.power(wide(base), wide(start)).item(), out.dtype)
            if out.dtype in (np.float32, np.float64) and steps > 1:
                exponents = _double_exponents(out.dtype.type(start), out.dtype.type(end), steps)
            else:
                exponents = _exponents(out.dtype, start, end, steps).astype(wide)
            out[...] = np.power(wide(base), exponents, dtype=np.longdouble if out.dtype == np.float64 else None)
            if not base and out.dtype.kind == "c":  # of numbers with two parts torch takes logarithms
                out[exponents == 0] = complex(np.nan, np.nan)


@kernel("eye", "eye.m", upcast=False)
def eye(out: Any, *values: Any) -> None:
    """Ones on the diagonal."""
    out.fill(0)
    np.fill_diagonal(out, 1)

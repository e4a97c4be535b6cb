"""Elementwise arithmetic of two and three operands."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..lazy import special
from ..number import number_of
from ..reduced import rounder, widened
from ..register import kernel, ufunc

kernel("mul.Tensor", "mul.Scalar")(ufunc(np.multiply))
kernel("div.Tensor", "div.Scalar")(ufunc(np.true_divide))
kernel("fmax")(ufunc(np.fmax))
kernel("fmin")(ufunc(np.fmin))
kernel("maximum", "clamp_min", "clamp_min.Tensor")(ufunc(np.maximum))
kernel("minimum", "clamp_max", "clamp_max.Tensor")(ufunc(np.minimum))
kernel("atan2")(ufunc(np.arctan2))
kernel("copysign.Tensor", "copysign.Scalar")(ufunc(np.copysign))
kernel("hypot")(ufunc(np.hypot))
kernel("nextafter", upcast=False)(ufunc(np.nextafter))
kernel("logaddexp2")(ufunc(np.logaddexp2))
kernel("gcd")(ufunc(np.gcd))


@kernel("lcm")
def lcm(out: Any, self: Any, other: Any) -> None:
    """Least common multiple; of one that wraps the magnitude, narrow integers as C computes them, as in torch."""
    if out.itemsize < 4:
        out[...] = np.lcm(self, other, dtype=np.int32).astype(out.dtype)
    else:
        np.abs(np.lcm(self, other), out)


@kernel("add.Tensor", "add.Scalar")
def add(out: Any, self: Any, other: Any, alpha: Any) -> None:
    """`self + alpha * other`."""
    if alpha == 1:
        np.add(self, other, out)
    elif out.dtype.kind == "b":
        np.logical_or(self, np.logical_and(other, bool(alpha)), out)
    else:
        np.add(self, np.multiply(other, number_of(alpha, out.dtype), dtype=out.dtype), out)


@kernel("sub.Tensor", "sub.Scalar")
def sub(out: Any, self: Any, other: Any, alpha: Any) -> None:
    """`self - alpha * other`."""
    if alpha == 1:
        np.subtract(self, other, out)
    else:
        np.subtract(self, np.multiply(other, number_of(alpha, out.dtype), dtype=out.dtype), out)


@kernel("rsub.Tensor", "rsub.Scalar")
def rsub(out: Any, self: Any, other: Any, alpha: Any) -> None:
    """`other - alpha * self`."""
    np.subtract(other, self if alpha == 1 else np.multiply(self, number_of(alpha, out.dtype), dtype=out.dtype), out)


def _check_divisor(other: Any) -> None:
    if not np.all(other) if isinstance(other, np.ndarray) else not other:
        raise RuntimeError("ZeroDivisionError")


@kernel("floor_divide", "_div_floor.Tensor", "_div_floor.Scalar", upcast=False)
def div_floor(out: Any, self: Any, other: Any) -> None:
    """Quotient rounded down; torch's rounding for floats, an error for an integer divisor of zero."""
    if out.dtype.kind in "iub":
        _check_divisor(other)
        np.floor_divide(self, other, out)
        return
    if out.itemsize == 2:
        out[...] = _floor_of_halves(np.asarray(self, out.dtype), other, not _is_number(other, out))
        return
    zero = np.equal(other, 0)  # read before `out` is written, which may be an operand
    infinite = np.true_divide(self, other) if np.any(zero) else None
    np.floor_divide(self, other, out)
    if infinite is not None:
        np.copyto(out, infinite, where=zero)


def _is_number(value: Any, out: Any) -> bool:
    """True for what stands beside tensors of halves with more digits than they have."""
    return not isinstance(value, np.ndarray) or value.dtype != out.dtype


def _floor_of_halves(self: Any, other: Any, by_steps: bool) -> Any:
    """The quotient rounded down. By a tensor, every step is rounded to the half that it has, as in torch; by a number not."""
    dividend, divisor = widened(self), np.asarray(other).astype(np.float32)
    rounded = rounder(self.dtype if by_steps else np.float32)
    rest = rounded(np.fmod(dividend, divisor))
    quotient = rounded(rounded(dividend - rest) / divisor)
    quotient = np.where((rest != 0) & ((divisor < 0) != (rest < 0)), rounded(quotient - 1), quotient)
    floor = np.floor(quotient)
    floor = np.where(rounded(quotient - floor) > 0.5, rounded(floor + 1), floor)
    plain = rounded(dividend / divisor)
    floor = np.where(quotient == 0, np.copysign(np.float32(0), plain), floor)
    return np.where(divisor == 0, plain, floor)


@kernel("_div_trunc.Tensor", "_div_trunc.Scalar", upcast=False)
def div_trunc(out: Any, self: Any, other: Any) -> None:
    """Quotient rounded to zero; one of tensors in half precision is rounded to that first, as in torch, by a number not."""
    if out.dtype.kind in "iub":
        _check_divisor(other)
        quotient = np.floor_divide(self, other)
        remainder = np.subtract(self, np.multiply(quotient, other))
        quotient += ((remainder != 0) & ((np.less(self, 0)) != (np.less(other, 0)))).astype(quotient.dtype)
        out[...] = quotient
    elif out.itemsize == 2 and _is_number(other, out):
        out[...] = np.trunc(np.true_divide(self.astype(np.float32), np.asarray(other, np.float32)))
    else:
        np.trunc(np.true_divide(self, np.asarray(other, out.dtype)), out)


@kernel("remainder.Tensor", "remainder.Scalar", "remainder.Scalar_Tensor")
def remainder(out: Any, self: Any, other: Any) -> None:
    """Remainder with the divisor's sign."""
    if out.dtype.kind in "iub":
        _check_divisor(other)
    np.remainder(self, other, out)


@kernel("fmod.Tensor", "fmod.Scalar")
def fmod(out: Any, self: Any, other: Any) -> None:
    """Remainder with the dividend's sign."""
    if out.dtype.kind in "iub":
        _check_divisor(other)
    np.fmod(self, other, out)


@kernel("pow.Tensor_Tensor", "pow.Tensor_Scalar", "pow.Scalar")
def pow_(out: Any, self: Any, exponent: Any) -> None:
    """`self ** exponent`; integers wrap, negative integer exponents give 0 except for bases 1 and -1."""
    if out.dtype.kind in "iu":
        _integer_pow(out, np.asarray(self, out.dtype), np.asarray(exponent, out.dtype))
        return
    if out.dtype.kind == "b":
        np.logical_or(self, np.logical_not(exponent), out)
        return
    if isinstance(exponent, (int, float)) and not isinstance(exponent, bool):
        if exponent == 2:
            np.multiply(self, self, out)
            return
        if exponent == 0.5:
            np.sqrt(self, out)
            return
        if exponent == 3:
            np.multiply(np.multiply(self, self), self, out)
            return
    special = _powers_of_zero(self, exponent) if out.dtype.kind == "c" else ()
    np.power(self, exponent, out)
    for where, value in special:
        np.copyto(out, value, where=where)


def _powers_of_zero(base: Any, exponent: Any) -> tuple[tuple[Any, complex], ...]:
    """Return where a complex base is 0 and what its powers are: torch computes the exponential of a logarithm."""
    zero, real = np.equal(base, 0), np.equal(np.imag(exponent), 0)
    negative = zero & real & np.less(np.real(exponent), 0), complex(math.inf, math.nan)
    if not isinstance(exponent, np.ndarray):  # the power 0 of a plain number is 1
        return (negative,)
    return negative, (zero & np.equal(exponent, 0), complex(math.nan, math.nan))


@kernel("heaviside")
def heaviside(out: Any, self: Any, values: Any) -> None:
    """0 below zero, 1 above, the given value at zero; 0 for nan."""
    np.copyto(out, np.where(np.equal(self, 0), values, np.greater(self, 0)), casting="unsafe")


def _integer_pow(out: Any, base: Any, exponent: Any) -> None:
    negative = exponent < 0
    result = np.power(base, np.where(negative, 0, exponent).astype(out.dtype))
    if np.any(negative):
        parity = np.where(exponent % 2 == 0, 1, -1)
        small = np.where(base == 1, 1, np.where(base == -1, parity, 0)) if out.dtype.kind == "i" else (base == 1)
        result = np.where(negative, small, result)
    out[...] = result


@kernel("clamp", "clamp.Tensor")
def clamp(out: Any, self: Any, low: Any, high: Any) -> None:
    """Values kept between two bounds; the upper bound wins, nan stays."""
    if low is None:
        np.minimum(self, high, out=out)
    elif high is None:
        np.maximum(self, low, out=out)
    else:
        np.minimum(np.maximum(self, low), high, out=out)


@kernel("addcmul")
def addcmul(out: Any, self: Any, tensor1: Any, tensor2: Any, value: Any) -> None:
    """`self + value * tensor1 * tensor2`."""
    product = (
        np.multiply(tensor1, tensor2)
        if value == 1
        else np.multiply(np.multiply(tensor1, number_of(value, out.dtype)), tensor2)
    )
    np.add(self, product, out)


@kernel("addcdiv")
def addcdiv(out: Any, self: Any, tensor1: Any, tensor2: Any, value: Any) -> None:
    """`self + value * tensor1 / tensor2`."""
    scaled = tensor1 if value == 1 else np.multiply(tensor1, number_of(value, out.dtype), dtype=out.dtype)
    np.add(self, np.true_divide(scaled, tensor2, dtype=out.dtype), out)


@kernel("lerp.Scalar", "lerp.Tensor")
def lerp(out: Any, self: Any, end: Any, weight: Any) -> None:
    """Linear interpolation, from the nearer end, as torch does for accuracy."""
    difference = np.asarray(np.subtract(end, self))
    if isinstance(weight, np.ndarray):
        weight = weight.astype(difference.dtype, copy=False)
        near = np.abs(weight) < 0.5
        np.copyto(out, np.where(near, self + weight * difference, end - difference * (1 - weight)))
    elif abs(weight) < 0.5:
        np.add(self, np.multiply(difference, difference.dtype.type(weight), out=difference), out)
    else:
        kept = difference.dtype.type(1) - difference.dtype.type(weight)
        np.subtract(end, np.multiply(difference, kept, out=difference), out)


@kernel("where.self", "where.ScalarSelf", "where.ScalarOther", "where.Scalar", upcast=False)
def where(out: Any, condition: Any, self: Any, other: Any) -> None:
    """One branch where the condition holds, the other elsewhere."""
    self, other = (one if isinstance(one, np.ndarray) else number_of(one, out.dtype) for one in (self, other))
    np.copyto(out, other, casting="unsafe")
    np.copyto(out, self, where=condition.astype(np.bool_, copy=False), casting="unsafe")


@kernel("logaddexp")
def logaddexp(out: Any, self: Any, other: Any) -> None:
    """`log(exp(self) + exp(other))`."""
    if out.dtype.kind == "c":
        with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
            out[...] = complex_logaddexp(self, other)
    else:
        np.logaddexp(self, other, out)


def complex_logaddexp(first: Any, second: Any) -> Any:
    """Return `log(exp(first) + exp(second))` of complex arrays, shifted by the larger real part.

    Anything that is not a number makes all of the result so. Of two -inf the smaller is taken, their angles say nothing.
    """
    swap = first.real < second.real
    larger, smaller = np.where(swap, second, first), np.where(swap, first, second)
    apart = smaller - larger
    close = larger + np.log1p(np.where(apart.real == -np.inf, 0, np.exp(apart)))
    alike = np.isinf(larger.real) & (larger.real == smaller.real)
    infinite = np.where(larger.real < 0, smaller, np.log1p(np.exp(smaller) + np.exp(larger)))
    found = np.where(alike, infinite, close)
    return np.where(np.isnan(first) | np.isnan(second), complex(np.nan, np.nan), found)


@kernel("xlogy.Tensor", "xlogy.Scalar_Other", "xlogy.Scalar_Self", upcast=False)
def xlogy(out: Any, self: Any, other: Any) -> None:
    """`self * log(other)`, 0 where self is 0."""
    first, second = np.asarray(self, out.dtype), np.asarray(other, out.dtype)
    if out.itemsize == 2:
        out[...] = product_with_log(first, second, np.log)
    else:
        special.xlogy(first, second, out)


def product_with_log(first: Any, second: Any, log: Any) -> Any:
    """`first * log(second)` of halves, the logarithm rounded to one, 0 where `first` is 0 and `second` a number."""
    with np.errstate(divide="ignore", invalid="ignore"):
        product = widened(first) * rounder(first.dtype)(log(widened(second)))
    return np.where((first == 0) & ~np.isnan(widened(second)), np.float32(0), product)

"""The float32 polynomials against a slow, literally fused evaluation, for every one of the 2**24 arguments."""

import math
from fractions import Fraction

import numpy as np
import pytest

from mindtorch_cpu.random import boxmuller
from mindtorch_cpu.random.fused import fma32, fma64

F32 = np.float32
CHUNK = 1 << 20


def polynomial(x, *coefficients):
    value = np.full_like(x, F32(coefficients[0]))
    for coefficient in coefficients[1:]:
        value = fma(value, x, F32(coefficient))
    return value


def fma(a, b, c):
    return fma32(np.asarray(a, np.float64), np.asarray(b, np.float64), np.asarray(c, np.float64))


def fused_log(x):
    bits = x.view(np.uint32)
    exponent = ((bits >> 23).astype(np.int32) - 126).astype(F32)
    x = ((bits & 0x807FFFFF) | 0x3F000000).astype(np.uint32).view(F32)
    low = x < F32(0.707106781186547524)
    exponent = exponent - low.astype(F32)
    x = (x - F32(1)) + np.where(low, x, F32(0))
    square = x * x
    value = polynomial(x, *boxmuller._LOG) * x
    value = fma(-square, F32(0.5), fma(value, square, exponent * F32(-2.12194440e-4)))
    return fma(exponent, F32(0.693359375), x + value)


def fused_sine_cosine(x):
    octant = ((x * F32(1.27323954473516)).astype(np.int32) + 1) & ~1
    for part in (-0.78515625, -2.4187564849853515625e-4, -3.77489497744594108e-8):
        x = fma(octant.astype(F32), F32(part), x)
    square = x * x
    cosine = polynomial(square, *boxmuller._COSINE)
    cosine = fma(cosine * square, square, -(square * F32(0.5))) + F32(1)
    sine = polynomial(square, *boxmuller._SINE)
    sine = fma(sine * square, x, x)
    keep = (octant & 2) == 0
    first, second = np.where(keep, sine, cosine), np.where(keep, cosine, sine)
    return np.where(octant & 4, -first, first), np.where(~(octant - 2) & 4, -second, second)


@pytest.mark.slow
def test_no_argument_meets_double_rounding():
    for start in range(0, 1 << 24, CHUNK):
        unit = np.arange(start, start + CHUNK, dtype=np.uint32).astype(F32) * F32(2.0**-24)
        work = boxmuller._Workspace(CHUNK)
        assert np.array_equal(boxmuller._log(F32(1) - unit, work), fused_log(F32(1) - unit))
        angle = F32(2 * math.pi) * unit
        expected = fused_sine_cosine(angle)
        sine, cosine = np.empty_like(angle), np.empty_like(angle)
        boxmuller._sine_cosine(angle, sine, cosine, work)
        assert np.array_equal(sine, expected[0])
        assert np.array_equal(cosine, expected[1])


def test_chunks_do_not_show():
    unit = np.random.RandomState(0).rand(boxmuller._PAIRS * 4 + 48).astype(F32)
    whole, parts = unit.copy(), unit.copy()
    boxmuller.box_muller(whole, 0.5, 0.02)
    for start in range(0, parts.size, 160):
        boxmuller.box_muller(parts[start : start + 160], 0.5, 0.02)
    assert np.array_equal(whole, parts)


def rounded(value, bits):
    """Round a fraction to `bits` significant bits, half to even."""
    if value == 0:
        return 0.0
    exponent = math.floor(math.log2(abs(value))) - bits + 1
    while abs(value) >= Fraction(2) ** (exponent + bits):
        exponent += 1
    while abs(value) < Fraction(2) ** (exponent + bits - 1):
        exponent -= 1
    return float(round(value / Fraction(2) ** exponent) * Fraction(2) ** exponent)


def test_fused_multiply_add_rounds_once():
    source = np.random.RandomState(1)
    a, b, c = (source.uniform(-2, 2, 500) for _ in range(3))
    c[:100] = -(a * b)[:100]
    exact = [rounded(Fraction(x) * Fraction(y) + Fraction(z), 53) for x, y, z in zip(a, b, c, strict=True)]
    assert fma64(a, b, c).tolist() == exact
    a, b, c = (v.astype(F32).astype(np.float64) for v in (a, b, c))
    exact = [rounded(Fraction(x) * Fraction(y) + Fraction(z), 24) for x, y, z in zip(a, b, c, strict=True)]
    assert fma32(a, b, c).tolist() == exact


def test_fused_float32_repairs_double_rounding():
    # (1 + 2**-23) (1 - 2**-23) is a little below 1: scaled, it puts the sum a little below the middle between two
    # neighbours, float64 loses that little, and a second rounding would take the even neighbour above.
    a, b, c = np.array([2.0**-24 * (1 + 2.0**-23)]), 1 - 2.0**-23, 1 + 2.0**-23
    assert F32(a * b + c) == 1 + 2.0**-22
    assert fma32(a, b, c) == 1 + 2.0**-23

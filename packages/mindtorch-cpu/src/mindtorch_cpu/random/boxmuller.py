"""Float32 Box-Muller in the vector polynomials of torch's AVX2 build, bit for bit.

The logarithm, sine and cosine are the single-precision Cephes ones, every multiply-add fused. Arguments are uniforms
of 24 bits, so there are 2**24 of each: for all of them it was checked that the float64 sums in `_log` and
`_sine_cosine` never meet the double rounding of `fused`, which is why these do not test for it. The test of this
module repeats the check.

Sums are made in float64 arrays that hold float32 values, so that the product of two is exact, and narrowed after
each addition. Steps whose product is exact in float32 anyway stay there.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .fused import fma32

BLOCK = 16
"""Elements transformed together: eight radii, eight angles."""

_F32 = np.float32
_LOG = tuple(
    float(_F32(c))
    for c in (
        7.0376836292e-2,
        -1.1514610310e-1,
        1.1676998740e-1,
        -1.2420140846e-1,
        1.4249322787e-1,
        -1.6668057665e-1,
        2.0000714765e-1,
        -2.4999993993e-1,
        3.3333331174e-1,
    )
)
_LN2_LOW, _LN2_HIGH = _F32(-2.12194440e-4), _F32(0.693359375)
_SINE = tuple(float(_F32(c)) for c in (-1.9515295891e-4, 8.3321608736e-3, -1.6666654611e-1))
_COSINE = tuple(float(_F32(c)) for c in (2.443315711809948e-5, -1.388731625493765e-3, 4.166664568298827e-2))
_QUARTER_PI_SHORT, _QUARTER_PI_REST = (
    (_F32(-0.78515625), _F32(-2.4187564849853515625e-4)),
    float(_F32(-3.77489497744594108e-8)),
)
_FOUR_OVER_PI = _F32(1.27323954473516)
_TWO_PI = _F32(2 * math.pi)
_SQRT_HALF_BITS = np.int32(0x3F3504F3)
_MANTISSA = np.int32(0x7FFFFF)
_SIGN = np.int32(-0x80000000)
_MINUS_TWO = _F32(-2)
_ONE = _F32(1)


class _Workspace:
    """Buffers for `size` pairs: reused from chunk to chunk, they stay in the cache."""

    __slots__ = ("addend", "bits", "factor", "narrow", "narrow_factor", "spare", "sums", "whole")

    def __init__(self, size: int) -> None:
        self.sums, self.factor, self.addend = (np.empty(size, np.float64) for _ in range(3))
        self.narrow, self.narrow_factor, self.spare = (np.empty(size, _F32) for _ in range(3))
        self.whole, self.bits = np.empty(size, np.int32), np.empty(size, np.int32)

    def cut(self, size: int) -> _Workspace:
        """Return buffers of exactly `size` elements."""
        other = object.__new__(_Workspace)
        for name in self.__slots__:
            setattr(other, name, getattr(self, name)[:size])
        return other


def _fuse(work: _Workspace, addend: Any) -> None:
    """Replace `narrow` by `narrow * factor + addend`, and `sums`, which must equal it, likewise."""
    sums = work.sums
    np.multiply(sums, work.factor, out=sums)
    np.add(sums, addend, out=sums)
    np.copyto(work.narrow, sums, casting="same_kind")


def _polynomial(work: _Workspace, coefficients: tuple[float, ...]) -> None:
    """Leave in `narrow` the polynomial at `factor`, highest power first."""
    np.multiply(work.factor, coefficients[0], out=work.sums)
    np.add(work.sums, coefficients[1], out=work.sums)
    np.copyto(work.narrow, work.sums, casting="same_kind")
    for coefficient in coefficients[2:]:
        np.copyto(work.sums, work.narrow)
        _fuse(work, coefficient)


def _log(x: Any, work: _Workspace) -> Any:
    """Return log of float32 `x` in (0, 1] as float32."""
    bits, whole, y, m, spare = work.bits, work.whole, work.narrow, work.narrow_factor, work.spare
    np.subtract(x.view(np.int32), _SQRT_HALF_BITS, out=bits)
    np.right_shift(bits, 23, out=whole)
    np.bitwise_and(bits, _MANTISSA, out=bits)
    np.add(bits, _SQRT_HALF_BITS, out=bits)
    np.subtract(bits.view(_F32), _ONE, out=m)
    np.copyto(work.factor, m)
    _polynomial(work, _LOG)
    np.multiply(y, m, out=y)
    np.copyto(work.sums, y)
    square = np.multiply(m, m, out=spare)
    np.copyto(work.factor, square)
    exponent = x
    np.copyto(exponent, whole, casting="same_kind")
    np.multiply(exponent, _LN2_LOW, out=y)
    np.copyto(work.addend, y)
    _fuse(work, work.addend)
    np.copyto(work.sums, y)
    np.multiply(work.factor, 0.5, out=work.factor)
    np.subtract(work.sums, work.factor, out=work.sums)
    np.copyto(y, work.sums, casting="same_kind")
    # The rest is exact but for one rounding each: the high part of ln 2 is short enough for float32 products.
    np.add(m, y, out=y)
    np.multiply(exponent, _LN2_HIGH, out=exponent)
    return np.add(y, exponent, out=x)


def _sine_cosine(angle: Any, sine: Any, cosine: Any, work: _Workspace) -> None:
    """Write sine and cosine of float32 `angle` in [0, 2 pi) to two float32 arrays; overwrites `angle`."""
    octant, narrow, x, y = work.whole, work.narrow, work.narrow_factor, work.spare
    np.multiply(angle, _FOUR_OVER_PI, out=y)
    np.copyto(octant, y, casting="unsafe")
    np.add(octant, 1, out=octant)
    np.bitwise_and(octant, -2, out=octant)
    np.copyto(x, octant, casting="same_kind")
    for part in _QUARTER_PI_SHORT:
        # Short constants: the product is exact in float32, so the sum rounds as a fused one does.
        np.multiply(x, part, out=y)
        np.add(angle, y, out=angle)
    np.multiply(octant, _QUARTER_PI_REST, out=work.addend)
    np.copyto(work.sums, angle)
    np.add(work.sums, work.addend, out=work.sums)
    np.copyto(x, work.sums, casting="same_kind")
    square = np.multiply(x, x, out=y)
    np.copyto(work.factor, square)
    _polynomial(work, _COSINE)
    np.multiply(narrow, square, out=narrow)
    np.copyto(work.sums, narrow)
    np.multiply(work.factor, -0.5, out=work.addend)
    _fuse(work, work.addend)
    np.add(narrow, _ONE, out=cosine)
    _polynomial(work, _SINE)
    np.multiply(narrow, square, out=narrow)
    np.copyto(work.sums, narrow)
    np.copyto(work.factor, x)
    _fuse(work, work.factor)
    np.copyto(sine, narrow)
    _place_in_quadrant(octant, sine, cosine, work)


def _place_in_quadrant(octant: Any, sine: Any, cosine: Any, work: _Workspace) -> None:
    """Exchange and negate the values for the first half quadrant, by the even `octant`; overwrites it."""
    sign = work.bits
    swap = np.bitwise_and(octant, 2, out=sign).astype(bool)
    np.copyto(sine, cosine, where=swap)
    np.copyto(cosine, work.narrow, where=swap)
    for values in (sine, cosine):
        np.left_shift(octant, 29, out=sign)
        np.bitwise_and(sign, _SIGN, out=sign)
        np.bitwise_xor(values.view(np.int32), sign, out=values.view(np.int32))
        np.add(octant, 2, out=octant)


_PAIRS = 16384


def box_muller(uniforms: Any, mean: float, std: float) -> None:
    """Turn float32 uniforms, `len(uniforms)` a multiple of 16, into normals in place."""
    blocks = uniforms.reshape(-1, BLOCK)
    step = _PAIRS // 8
    capacity = min(len(blocks), step) * 8
    work = _Workspace(capacity)
    radius, angle, sine, cosine = (np.empty(capacity, _F32) for _ in range(4))
    for start in range(0, len(blocks), step):
        part = blocks[start : start + step]
        size = len(part) * 8
        w = work.cut(size)
        r, a, s, c = radius[:size], angle[:size], sine[:size], cosine[:size]
        np.subtract(_ONE, part[:, :8], out=r.reshape(-1, 8))
        np.multiply(_log(r, w), _MINUS_TWO, out=r)
        np.sqrt(r, out=r)
        np.multiply(part[:, 8:], _TWO_PI, out=a.reshape(-1, 8))
        _sine_cosine(a, s, c, w)
        np.multiply(r, c, out=c)
        np.multiply(r, s, out=s)
        part[:, :8] = scale(c, mean, std).reshape(-1, 8)
        part[:, 8:] = scale(s, mean, std).reshape(-1, 8)


def scale(normals: Any, mean: float, std: float) -> Any:
    """Return float32 `normals * std + mean` rounded once."""
    factor, shift = _F32(std), _F32(mean)
    if shift == 0:
        # A product alone is rounded once anyway; adding turns a negative zero positive, as the fused operation does.
        return np.add(normals * factor, shift)
    return fma32(normals.astype(np.float64), float(factor), float(shift))

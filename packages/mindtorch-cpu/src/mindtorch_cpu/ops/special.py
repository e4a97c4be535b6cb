"""Special functions: gamma, error function, zeta and their like."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..lazy import special
from ..register import kernel, ufunc
from .pointwise import product_with_log

for _name, _function in {
    "special_entr": special.entr,
    "special_erfcx": special.erfcx,
    "special_log_ndtr": special.log_ndtr,
    "special_ndtri": special.ndtri,
}.items():
    kernel(_name)(ufunc(_function))


def _operands(out: Any, *values: Any) -> list[Any]:
    """Return numbers and arrays as arrays of the result's dtype."""
    return [np.asarray(value, out.dtype) for value in values]


@kernel("special_xlog1py", "special_xlog1py.self_scalar", "special_xlog1py.other_scalar", upcast=False)
def xlog1py(out: Any, self: Any, other: Any) -> None:
    """`self * log1p(other)`, 0 where self is 0."""
    first, second = _operands(out, self, other)
    if out.itemsize == 2:
        out[...] = product_with_log(first, second, np.log1p)
    else:
        special.xlog1py(first, second, out)


@kernel("special_zeta", "special_zeta.self_scalar", "special_zeta.other_scalar")
def zeta(out: Any, self: Any, other: Any) -> None:
    """Hurwitz' zeta function."""
    special.zeta(*_operands(out, self, other), out)


@kernel("igamma")
def igamma(out: Any, self: Any, other: Any) -> None:
    """The lower regularised incomplete gamma function."""
    special.gammainc(*_operands(out, self, other), out)


@kernel("igammac")
def igammac(out: Any, self: Any, other: Any) -> None:
    """The upper regularised incomplete gamma function."""
    special.gammaincc(*_operands(out, self, other), out)


_FACTORIAL_OVERFLOWS = 171
"""The first whole number whose factorial is no double."""


@kernel("polygamma")
def polygamma(out: Any, n: int, self: Any) -> None:
    """Derivatives of the digamma function."""
    if n == 0:
        special.psi(self, out)
        return
    if n == 1:
        out[...] = _trigamma(self.astype(out.dtype if out.dtype == np.float64 else np.float32))
        return
    factor = (1.0 if n % 2 else -1.0) * (math.gamma(n + 1) if n < _FACTORIAL_OVERFLOWS else math.inf)
    x = self.astype(np.float64)
    values = np.where(np.isposinf(x), math.nan, special.zeta(np.float64(n + 1), x))
    with np.errstate(invalid="ignore"):
        np.multiply(values.astype(out.dtype), out.dtype.type(factor), out)


_STEPS = 6
"""How often trigamma's recurrence is used before its series."""


def _trigamma(x: Any) -> Any:
    """Reflection, recurrence, then the series at infinity, in the precision of `x`.

    As in torch: next to a pole the sine's rounding decides the result.
    """
    number, mirrored = x.dtype.type, x < 0.5
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        reflection = np.square(number(math.pi) / np.sin(number(math.pi) * x))
        at = np.where(mirrored, number(1) - x, x)
        total = np.zeros_like(at)
        for _ in range(_STEPS):
            total += np.reciprocal(np.square(at))
            at = at + number(1)
        inverse = np.reciprocal(at)
        square = np.square(inverse)
        # Bernoulli's numbers 1/6, -1/30 and 1/42.
        series = square * (number(1 / 6) - square * (number(1 / 30) - square / number(42)))
        total += (number(1) + inverse / number(2) + series) * inverse
        return np.where(mirrored, reflection - total, total)


@kernel("mvlgamma")
def mvlgamma(out: Any, self: Any, p: int) -> None:
    """Logarithm of the multivariate gamma function."""
    shifts = np.arange(p, dtype=np.float64) / 2
    total = special.gammaln(self.astype(np.float64)[..., None] - shifts).sum(-1)
    np.add(total, p * (p - 1) / 4 * math.log(math.pi), out, casting="unsafe")


@kernel("frexp.Tensor", upcast=False)
def frexp(outs: tuple[Any, Any], self: Any) -> None:
    """Mantissa and power of two."""
    narrow = self.dtype.itemsize == 2
    mantissa, exponent = np.frexp(self.astype(np.float32) if narrow else self)
    outs[0][...] = mantissa
    outs[1][...] = exponent

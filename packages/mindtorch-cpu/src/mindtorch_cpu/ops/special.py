"""Special functions: gamma, error function, zeta and their like."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..lazy import special
from ..register import kernel, ufunc

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


@kernel("special_xlog1py", "special_xlog1py.self_scalar", "special_xlog1py.other_scalar")
def xlog1py(out: Any, self: Any, other: Any) -> None:
    """`self * log1p(other)`, 0 where self is 0."""
    special.xlog1py(*_operands(out, self, other), out)


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
    factor = (1.0 if n % 2 else -1.0) * (math.gamma(n + 1) if n < _FACTORIAL_OVERFLOWS else math.inf)
    x = self.astype(np.float64)
    values = _trigamma(x) if n == 1 else np.where(np.isposinf(x), math.nan, special.zeta(np.float64(n + 1), x))
    with np.errstate(invalid="ignore"):
        np.multiply(values.astype(out.dtype), out.dtype.type(factor), out)


def _trigamma(x: Any) -> Any:
    mirrored = x < 0.5
    with np.errstate(divide="ignore", invalid="ignore"):
        reflection = (math.pi / np.sin(math.pi * x)) ** 2
    values = special.zeta(2.0, np.where(mirrored, 1 - x, x))
    return np.where(mirrored, reflection - values, values)


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

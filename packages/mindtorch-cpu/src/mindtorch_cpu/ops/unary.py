"""Elementwise functions of one operand."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np

from mindtorch_dispatch.table import kernels

from ..lazy import special
from ..register import kernel, ufunc

_function: Any
for _name, _function in {
    "acos": np.arccos, "acosh": np.arccosh, "asin": np.arcsin, "asinh": np.arcsinh, "atan": np.arctan,
    "atanh": np.arctanh, "cos": np.cos, "cosh": np.cosh, "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1,
    "log": np.log, "log10": np.log10, "log1p": np.log1p, "log2": np.log2, "sin": np.sin, "sinh": np.sinh,
    "sqrt": np.sqrt, "tan": np.tan, "tanh": np.tanh,
    "ceil": np.ceil, "floor": np.floor, "trunc": np.trunc, "digamma": special.psi, "erf": special.erf,
    "erfc": special.erfc, "erfinv": special.erfinv, "i0": special.i0,
}.items():  # fmt: skip
    kernel(_name)(ufunc(_function))


@kernel("lgamma")
def lgamma(out: Any, self: Any) -> None:
    """Logarithm of the absolute value of the gamma function."""
    below = np.isneginf(self)
    size = np.abs(self)
    # Next to 0 it is -log(abs(x)), where scipy's reciprocal overflows.
    tiny = (size > 0) & (size < np.finfo(out.dtype).smallest_normal)
    near = -np.log(size, where=tiny, out=np.zeros_like(size))
    special.gammaln(self, out)
    np.copyto(out, np.inf, where=below)
    np.copyto(out, near, where=tiny)


@kernel("neg")
def neg(out: Any, self: Any) -> None:
    """`-self`; in two steps where both may have strides, since numpy 2.4 then gives wrong numbers for some of them."""
    ours, theirs = out.flags, self.flags
    if (ours.c_contiguous and theirs.c_contiguous) or (ours.f_contiguous and theirs.f_contiguous):
        np.negative(self, out)
    else:
        np.copyto(out, np.negative(self))


@kernel("conj_physical")
def conj_physical(out: Any, self: Any) -> None:
    """The complex conjugate; real numbers as they are."""
    np.conjugate(self, out) if self.dtype.kind == "c" else np.copyto(out, self)


@kernel("reciprocal")
def reciprocal(out: Any, self: Any) -> None:
    """`1 / self`."""
    np.true_divide(1, self, out)


@kernel("rsqrt")
def rsqrt(out: Any, self: Any) -> None:
    """`1 / sqrt(self)`."""
    np.sqrt(self, out)
    np.true_divide(1, out, out)


@kernel("sigmoid")
def sigmoid(out: Any, self: Any) -> None:
    """`1 / (1 + exp(-self))`."""
    neg(out, self)
    np.exp(out, out)
    np.add(out, 1, out)
    np.true_divide(1, out, out)


@kernel("sinc")
def sinc(out: Any, self: Any) -> None:
    """`sin(pi x) / (pi x)`, 1 at 0."""
    scaled = self * self.dtype.type(math.pi)
    with np.errstate(invalid="ignore", divide="ignore"):
        out[...] = np.where(self == 0, 1, np.sin(scaled) / scaled)


@kernel("round")
def round_(out: Any, self: Any) -> None:
    """Nearest integer, ties to even."""
    np.rint(self, out, casting="unsafe") if self.dtype.kind == "f" else np.copyto(out, self)


@kernel("round.decimals")
def round_decimals(out: Any, self: Any, decimals: int) -> None:
    """Nearest multiple of `10 ** -decimals`, ties to even."""
    if self.dtype.kind != "f":
        np.copyto(out, self)
        return
    scale = self.dtype.type(np.float64(10.0) ** abs(decimals))  # infinite where Python raises
    out[...] = np.rint(self * scale) / scale if decimals >= 0 else np.rint(self / scale) * scale


@kernel("frac")
def frac(out: Any, self: Any) -> None:
    """`self - trunc(self)`."""
    np.subtract(self, np.trunc(self), out)


@kernel("abs")
def abs_(out: Any, self: Any) -> None:
    """Magnitude."""
    if self.dtype.kind == "c":
        kernels["cpu"]["hypot"].fn(out, self.real, self.imag)  # rounds once, as torch; numpy's own magnitude does not
    elif self.dtype.kind == "b":
        np.copyto(out, self)
    else:
        np.abs(self, out)


@kernel("sign")
def sign(out: Any, self: Any) -> None:
    """-1, 0 or 1; 0 for nan as torch."""
    if self.dtype.kind == "b":
        np.copyto(out, self)
    elif self.dtype.kind == "f":
        np.subtract(
            self > 0, self < 0, out, dtype=np.float32 if out.dtype.itemsize <= 4 else np.float64, casting="unsafe"
        )
    else:
        np.sign(self, out)


@kernel("sgn")
def sgn(out: Any, self: Any) -> None:
    """`sign` for reals, `x / |x|` for complex."""
    if self.dtype.kind != "c":
        sign(out, self)
        return
    magnitude = np.abs(self)
    with np.errstate(invalid="ignore", divide="ignore"):
        out[...] = np.where(magnitude == 0, 0, self / magnitude)


@kernel("angle")
def angle(out: Any, self: Any) -> None:
    """Argument of a complex number; 0 or pi for reals, nan stays."""
    if self.dtype.kind == "c":
        out[...] = np.angle(self)
    else:
        result = np.where(self < 0, math.pi, 0.0)
        out[...] = np.where(np.isnan(self), np.nan, result)


# numpy 2.4 writes wrong answers of these two into results with gaps between the elements.
kernel("signbit", upcast=False)(lambda out, self: np.copyto(out, self.dtype.kind != "b" and np.signbit(self)))
kernel("isfinite")(lambda out, self: np.copyto(out, np.isfinite(self)))
kernel("isnan")(lambda out, self: np.isnan(self, out))
kernel("isinf")(lambda out, self: np.isinf(self, out))
kernel("isposinf")(lambda out, self: np.isposinf(self, out) if self.dtype.kind == "f" else out.fill(False))
kernel("isneginf")(lambda out, self: np.isneginf(self, out) if self.dtype.kind == "f" else out.fill(False))


@kernel("logit", upcast=False)
def logit(out: Any, self: Any, eps: float | None) -> None:
    """`log(x / (1 - x))`, x clamped to [eps, 1 - eps] when eps is given; each step is rounded, as in torch."""
    one = self.dtype.type(1)
    x = self
    if eps is not None:
        low, high = self.dtype.type(eps), one - self.dtype.type(eps)
        x = np.where(
            self < low, low, np.where(self > high, high, self)
        )  # the lower bound first: it may be the larger one
    out[...] = np.log((x / (one - x)).astype(np.float32 if self.dtype.itemsize == 2 else self.dtype))


@kernel("nan_to_num", upcast=False)
def nan_to_num(out: Any, self: Any, nan: float | None, posinf: float | None, neginf: float | None) -> None:
    """nan and infinities replaced, by default the latter by the largest number of the dtype."""
    if self.dtype.kind == "c":
        out[...] = np.nan_to_num(self, nan=nan or 0.0, posinf=posinf, neginf=neginf)
        return
    if self.dtype.kind in "iub":
        np.copyto(out, self)
        return
    most = float(ml_dtypes.finfo(self.dtype).max)
    places = np.isnan(self), self == np.inf, self == -np.inf
    np.copyto(out, self)
    for where, number, default in zip(places, (nan, posinf, neginf), (0.0, most, -most), strict=True):
        out[where] = default if number is None else number

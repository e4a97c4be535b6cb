"""Elementwise functions of one operand."""

from __future__ import annotations

import math
from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.typing import Tensor

from ..derivative import ZERO, derivative
from .numbers import conj
from .pointwise import masked


def logit_grad(grad: Tensor, self: Tensor, eps: float | None) -> Any:
    """`1 / (x (1 - x))` within the clamped range."""
    slope = grad / (self * (1 - self))
    if eps is None:
        return aten.where(aten.logical_and(aten.ge(self, 0), aten.le(self, 1)), slope, math.nan)
    return masked(slope, aten.logical_and(aten.ge(self, eps), aten.le(self, 1 - eps)))


def sgn_grad(grad: Tensor, self: Tensor, result: Tensor) -> Any:
    """Zero for reals; for complex the part of the gradient across the direction, over the magnitude."""
    if not self.dtype.is_complex:
        return aten.zeros_like(grad)
    magnitude = aten.abs(self)
    across = (grad / magnitude - (aten.real(grad / self) * result)) / 1
    return aten.where(aten.eq(magnitude, 0), 0, across)


def angle_grad(grad: Tensor, self: Tensor) -> Any:
    """Zero for reals; `i z / |z|^2` for complex."""
    if not self.dtype.is_complex:
        return aten.zeros_like(self)
    return aten.where(aten.eq(self, 0), 0, grad * self / aten.pow(aten.abs(self), 2) * 1j)


def sinc_grad(grad: Tensor, self: Tensor) -> Any:
    """`(pi x cos(pi x) - sin(pi x)) / (pi x^2)`."""
    scaled = self * math.pi
    slope = (scaled * aten.cos(scaled) - aten.sin(scaled)) / (scaled * self)
    return aten.where(aten.eq(self, 0), 0.0, grad * conj(slope))


derivative("acos", self=lambda grad, self: grad * conj(-aten.rsqrt(1 - self * self)))
derivative(
    "acosh",
    self=lambda grad, self: (
        grad * conj(aten.rsqrt(self * self - 1))
        if not self.dtype.is_complex
        else grad * conj(aten.rsqrt(self - 1) * aten.rsqrt(self + 1))
    ),
)
derivative("asin", self=lambda grad, self: grad * conj(aten.rsqrt(1 - self * self)))
derivative("asinh", self=lambda grad, self: grad * conj(aten.rsqrt(self * self + 1)))
derivative("atan", self=lambda grad, self: grad / conj(self * self + 1))
derivative("atanh", self=lambda grad, self: grad / conj(1 - self * self))
derivative("cos", self=lambda grad, self: grad * conj(-aten.sin(self)))
derivative("cosh", self=lambda grad, self: grad * conj(aten.sinh(self)))
derivative("digamma", self=lambda grad, self: grad * aten.polygamma(1, self))
derivative("erf", self=lambda grad, self: grad * (2 / math.sqrt(math.pi)) * aten.exp(-(self * self)))
derivative("erfc", self=lambda grad, self: grad * (-2 / math.sqrt(math.pi)) * aten.exp(-(self * self)))
derivative("erfinv", self=lambda grad, result: grad * (math.sqrt(math.pi) / 2) * aten.exp(result * result))
derivative("exp", self=lambda grad, result: grad * conj(result))
derivative("exp2", self=lambda grad, result: grad * conj(result) * math.log(2))
derivative("expm1", self=lambda grad, result: grad * conj(result + 1))
derivative("lgamma", self=lambda grad, self: grad * aten.digamma(self))
derivative("log", self=lambda grad, self: grad / conj(self))
derivative("log10", self=lambda grad, self: grad / (conj(self) * math.log(10)))
derivative("log1p", self=lambda grad, self: grad / conj(self + 1))
derivative("log2", self=lambda grad, self: grad / (conj(self) * math.log(2)))
derivative("reciprocal", self=lambda grad, result: -grad * conj(result * result))
derivative("rsqrt", self=lambda grad, result: -0.5 * grad * conj(result * result * result))
derivative("sigmoid", self=lambda grad, result: aten.sigmoid_backward(grad, result))
derivative("sin", self=lambda grad, self: grad * conj(aten.cos(self)))
derivative("sinc", self=sinc_grad)
derivative("sinh", self=lambda grad, self: grad * conj(aten.cosh(self)))
derivative("sqrt", self=lambda grad, result: grad / (2 * conj(result)))
derivative("tan", self=lambda grad, result: grad * conj(1 + result * result))
derivative("tanh", self=lambda grad, result: aten.tanh_backward(grad, result))
derivative("i0", self=lambda grad, self: grad * aten.special_i1(self))
for _name in ("ceil", "floor", "trunc", "round", "sign"):
    derivative(_name, self=lambda grad: aten.zeros_like(grad))
for _name in ("eq_", "ge_", "gt_", "le_", "lt_", "ne_"):  # in place, the numbers do not depend on what was compared
    derivative(f"{_name}.Tensor", self=ZERO, other=ZERO, node=f"{_name.title().rstrip('_')}Backward1")
    derivative(f"{_name}.Scalar", self=ZERO)
derivative("round.decimals", self=lambda grad: aten.zeros_like(grad), node="RoundBackward1")
derivative("frac", self=lambda grad: grad)
derivative("neg", self=lambda grad: -grad)
derivative("abs", self=lambda grad, self: grad * aten.sgn(self))
derivative("sgn", self=sgn_grad)
derivative("angle", self=angle_grad)
derivative("logit", self=logit_grad)
derivative("nan_to_num", self=lambda grad, self: masked(grad, aten.isfinite(self)))
derivative("conj_physical", self=lambda grad: conj(grad))
derivative("deg2rad", self=lambda grad: aten.deg2rad(grad), node="Deg2RadBackward0")
derivative("rad2deg", self=lambda grad: aten.rad2deg(grad), node="Rad2DegBackward0")

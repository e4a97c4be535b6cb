"""Elementwise arithmetic of two and three operands."""

from __future__ import annotations

import math
from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.typing import Tensor, TensorOrScalar
from mindtorch_storage.tensor_base import TensorBase

from ..derivative import derivative
from .numbers import conj, scaled


def masked(grad: Tensor, mask: Tensor | None) -> Any:
    """Return `grad` where `mask` holds, zero elsewhere."""
    return aten.where(mask, grad, 0)


def pow_self(grad: Tensor, self: Tensor, exponent: TensorOrScalar) -> Any:
    """`exponent * self ** (exponent - 1)`; zero for exponent 0."""
    if not isinstance(exponent, TensorBase):
        if exponent == 0:
            return aten.zeros_like(self)
        return grad * conj(exponent * aten.pow(self, exponent - 1))
    zero = aten.eq(exponent, 0.0)
    return aten.where(zero, 0.0, grad * conj(exponent * aten.pow(self, aten.sub(exponent, 1))))


def _not_negative(exponent: Tensor) -> Any:
    """Where an exponent is a real number that is not negative."""
    if not exponent.dtype.is_complex:
        return aten.ge(exponent, 0)
    return aten.logical_and(aten.eq(aten.imag(exponent), 0), aten.ge(aten.real(exponent), 0))


def pow_exponent(grad: Tensor, self: TensorOrScalar, exponent: Tensor, result: Tensor) -> Any:
    """`self ** exponent * log(self)`; zero where the base is zero and the exponent is not negative."""
    if not isinstance(self, TensorBase):
        if self == 0:
            below = grad * conj(result * -math.inf)
            # nan is not negative, and has no derivative.
            return masked(below, aten.logical_not(_not_negative(exponent)))
        if isinstance(self, complex) or result.dtype.is_complex:
            return grad * conj(result * aten.log(aten.scalar_tensor(self, dtype=result.dtype)))
        return grad * conj(result * (math.log(self) if self > 0 else math.nan))
    zero = aten.logical_and(aten.eq(self, 0), _not_negative(exponent))
    # The logarithm of a negative base is complex.
    base = aten.to(self, result.dtype) if result.dtype.is_complex else self
    return aten.where(zero, 0.0, grad * conj(result * aten.log(base)))


def clamp_grad(grad: Tensor, self: Tensor, min: TensorOrScalar | None, max: TensorOrScalar | None) -> Any:
    """The gradient where the value was kept."""
    kept = None
    if min is not None:
        kept = aten.ge(self, min)
    if max is not None:
        below = aten.le(self, max)
        kept = below if kept is None else aten.logical_and(kept, below)
    return masked(grad, kept)


def extreme_grad(grad: Tensor, first: Tensor, second: Tensor, loses: str) -> Any:
    """The gradient where `first` does not lose, half of it where both are equal; where one is nan nothing loses."""
    shared = aten.div(grad, 2)
    equal = aten.eq(first, second)
    lost = getattr(aten, loses)(first, second)
    return aten.where(equal, shared, masked(grad, aten.logical_not(lost)))


def atan2_factor(self: Tensor, other: Tensor) -> Any:
    """1 over the squared distance from the origin, where it is 0."""
    squared = self * self + other * other
    return aten.where(aten.eq(squared, 0), 0.0, aten.reciprocal(squared))


def remainder_other(grad: Tensor, self: Tensor, other: Tensor) -> Any:
    """`-floor(self / other)`."""
    return -grad * aten.div(self, other, rounding_mode="floor")


def lerp_weight(grad: Tensor, self: Tensor, end: Tensor) -> Any:
    """`end - self`."""
    return grad * conj(end - self)


derivative("add.Tensor", self=lambda grad: grad, other=lambda grad, alpha: scaled(grad, alpha))
derivative("add.Scalar", self=lambda grad: grad, node="AddBackward1")
derivative("sub.Tensor", self=lambda grad: grad, other=lambda grad, alpha: -scaled(grad, alpha))
derivative("sub.Scalar", self=lambda grad: grad, node="SubBackward1")
derivative("rsub.Tensor", self=lambda grad, alpha: -scaled(grad, alpha), other=lambda grad: grad)
derivative("rsub.Scalar", self=lambda grad, alpha: -scaled(grad, alpha), node="RsubBackward1")
derivative("mul.Tensor", self=lambda grad, other: grad * conj(other), other=lambda grad, self: grad * conj(self))
derivative("mul.Scalar", self=lambda grad, other: grad * conj(other), node="MulBackward1")
derivative(
    "div.Tensor",
    self=lambda grad, other: grad / conj(other),
    other=lambda grad, self, other: -grad * conj((self / other) / other),
)
derivative("div.Scalar", self=lambda grad, other: grad / conj(other), node="DivBackward1")
derivative(
    "_div_floor.Tensor _div_trunc.Tensor",
    self=lambda grad: aten.zeros_like(grad),
    other=lambda grad: aten.zeros_like(grad),
    node="DivBackward2",
)
derivative("_div_floor.Scalar _div_trunc.Scalar", self=lambda grad: aten.zeros_like(grad), node="DivBackward3")
derivative("remainder.Tensor", self=lambda grad: grad, other=remainder_other, node="RemainderBackward1")
derivative("remainder.Scalar", self=lambda grad: grad)
derivative("remainder.Scalar_Tensor", other=lambda grad, self, other: remainder_other(grad, self, other))
derivative(
    "fmod.Tensor",
    self=lambda grad: grad,
    other=lambda grad, self, other: -grad * aten.div(self, other, rounding_mode="trunc"),
    node="FmodBackward1",
)
derivative("fmod.Scalar", self=lambda grad: grad)
derivative("pow.Tensor_Scalar", self=pow_self)
derivative("pow.Tensor_Tensor", self=pow_self, exponent=pow_exponent, node="PowBackward1")
derivative("pow.Scalar", exponent=pow_exponent, node="PowBackward2")
derivative(
    "maximum",
    self=lambda grad, self, other: extreme_grad(grad, self, other, "lt"),
    other=lambda grad, self, other: extreme_grad(grad, other, self, "lt"),
)
derivative(
    "minimum",
    self=lambda grad, self, other: extreme_grad(grad, self, other, "gt"),
    other=lambda grad, self, other: extreme_grad(grad, other, self, "gt"),
)
derivative(
    "fmax",
    self=lambda grad, self, other: masked(grad, aten.logical_or(aten.ge(self, other), aten.isnan(other))),
    other=lambda grad, self, other: masked(
        grad, aten.logical_not(aten.logical_or(aten.ge(self, other), aten.isnan(other)))
    ),
)
derivative(
    "fmin",
    self=lambda grad, self, other: masked(grad, aten.logical_or(aten.le(self, other), aten.isnan(other))),
    other=lambda grad, self, other: masked(
        grad, aten.logical_not(aten.logical_or(aten.le(self, other), aten.isnan(other)))
    ),
)
derivative("clamp", self=clamp_grad, node="ClampBackward1")
derivative(
    "clamp.Tensor",
    self=clamp_grad,
    min=lambda grad, self, min, max: masked(
        grad, aten.lt(self, min) if max is None else aten.logical_and(aten.lt(self, min), aten.lt(min, max))
    ),
    max=lambda grad, self, min, max: masked(
        grad, aten.gt(self, max) if min is None else aten.logical_or(aten.gt(self, max), aten.lt(max, min))
    ),
    node="ClampBackward0",
)
derivative("clamp_min", self=lambda grad, self, min: masked(grad, aten.ge(self, min)))
derivative(
    "clamp_min.Tensor",
    self=lambda grad, self, min: masked(grad, aten.ge(self, min)),
    min=lambda grad, self, min: masked(grad, aten.lt(self, min)),
    node="ClampMinBackward1",
)
derivative("clamp_max", self=lambda grad, self, max: masked(grad, aten.le(self, max)))
derivative(
    "clamp_max.Tensor",
    self=lambda grad, self, max: masked(grad, aten.le(self, max)),
    max=lambda grad, self, max: masked(grad, aten.gt(self, max)),
    node="ClampMaxBackward1",
)
derivative(
    "addcmul",
    self=lambda grad: grad,
    tensor1=lambda grad, tensor2, value: grad * conj(tensor2 * value),
    tensor2=lambda grad, tensor1, value: grad * conj(tensor1 * value),
)
derivative(
    "addcdiv",
    self=lambda grad: grad,
    tensor1=lambda grad, tensor2, value: grad * conj(value / tensor2),
    tensor2=lambda grad, tensor1, tensor2, value: -grad * conj(value * tensor1 / (tensor2 * tensor2)),
)
derivative(
    "lerp.Scalar",
    self=lambda grad, weight: grad * conj(1 - weight),
    end=lambda grad, weight: grad * conj(weight),
)
derivative(
    "lerp.Tensor",
    self=lambda grad, weight: grad * conj(1 - weight),
    end=lambda grad, weight: grad * conj(weight),
    weight=lerp_weight,
    node="LerpBackward1",
)
derivative(
    "where.self where.ScalarSelf where.ScalarOther",
    self=lambda grad, condition: aten.where(condition, grad, 0),
    other=lambda grad, condition: aten.where(condition, 0, grad),
)
derivative(
    "atan2",
    self=lambda grad, self, other: grad * other * atan2_factor(self, other),
    other=lambda grad, self, other: grad * -self * atan2_factor(self, other),
)
derivative(
    "copysign.Tensor",
    self=lambda grad, self, result: grad * aten.where(aten.eq(self, 0), 0.0, result / self),
    other=lambda grad: aten.zeros_like(grad),
)
derivative(
    "copysign.Scalar",
    self=lambda grad, self, result: grad * aten.where(aten.eq(self, 0), 0.0, result / self),
    node="CopysignBackward1",
)
derivative(
    "hypot",
    self=lambda grad, self, result: grad * (self / result),
    other=lambda grad, other, result: grad * (other / result),
)
derivative(
    "logaddexp",
    self=lambda grad, self, result: grad * conj(aten.exp(self - result)),
    other=lambda grad, other, result: grad * conj(aten.exp(other - result)),
)
derivative(
    "logaddexp2",
    self=lambda grad, self, result: grad * aten.pow(2.0, self - result),
    other=lambda grad, other, result: grad * aten.pow(2.0, other - result),
)
derivative(
    "xlogy.Tensor",
    self=lambda grad, self, other: (
        grad * aten.where(aten.logical_and(aten.eq(self, 0.0), aten.le(other, 0)), 0.0, aten.log(other))
    ),
    other=lambda grad, self, other: grad * self / other,
)
derivative(
    "xlogy.Scalar_Other",
    self=lambda grad, self, other: (
        grad
        * (math.log(other) if other > 0 else aten.where(aten.eq(self, 0.0), 0.0, -math.inf if other == 0 else math.nan))
    ),
    node="XlogyBackward2",
)
derivative("xlogy.Scalar_Self", other=lambda grad, self, other: grad * self / other, node="XlogyBackward1")
derivative(
    "nextafter",
    self=lambda grad, self, other: masked(grad, aten.ne(self, other)),
    other=lambda grad: aten.zeros_like(grad),
)
derivative(
    "ldexp.Tensor",
    self=lambda grad, other: grad * conj(aten.pow(2.0, other)),
    other=lambda grad, self, other, result: grad * conj(result * math.log(2.0)),
)

"""Elementwise arithmetic."""

from ..derivative import derivative
from .numbers import conj, scaled

derivative(
    "add.Tensor",
    self=lambda grad: grad,
    other=lambda grad, alpha: scaled(grad, alpha),
)
derivative("mul.Tensor", self=lambda grad, other: grad * conj(other), other=lambda grad, self: grad * conj(self))

"""Functions of square matrices."""

from __future__ import annotations

from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.typing import Tensor

from ..derivative import derivative
from .matrices import adjoint


def exponential(grad: Tensor, self: Tensor) -> Any:
    """The derivative of the exponential is a block of the exponential of a matrix of twice the size."""
    turned, size = adjoint(self), self.shape[-1]
    upper = aten.cat([turned, grad], -1)
    lower = aten.cat([aten.zeros_like(turned), turned], -1)
    whole = aten.linalg_matrix_exp(aten.cat([upper, lower], -2))
    return aten.narrow(aten.narrow(whole, -2, 0, size), -1, size, size)


derivative("linalg_matrix_exp", self=exponential)
derivative("trace", self=lambda grad, self_spec: aten.trace_backward(grad, list(self_spec.shape)))

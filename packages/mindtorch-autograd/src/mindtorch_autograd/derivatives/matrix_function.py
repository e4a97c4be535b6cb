"""Functions of square matrices."""

from __future__ import annotations

from typing import Any

from mindtorch_dispatch.call import aten

from ..derivative import derivative
from .matrices import adjoint


def matrix_exp(grad: Any, self: Any) -> Any:
    """The exponential of `[[A, G], [0, A]]`, whose upper right block is the derivative at A along G."""
    turned, size = adjoint(self), self.shape[-1]
    if not self._sig.spec.numel:
        return aten.zeros_like(self)
    upper = aten.cat([turned, grad], -1)
    lower = aten.cat([aten.zeros_like(turned), turned], -1)
    exponential = aten.linalg_matrix_exp(aten.cat([upper, lower], -2))
    return aten.narrow(aten.narrow(exponential, -2, 0, size), -1, size, size)


derivative("linalg_matrix_exp", self=matrix_exp)
derivative("trace", self=lambda grad, self_spec: aten.trace_backward(grad, list(self_spec.shape)))

"""Running sums, products and extremes."""

from __future__ import annotations

from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.typing import Tensor
from mindtorch_storage.spec import Spec

from ..derivative import derivative


def cumsum_grad(grad: Tensor, dim: int) -> Any:
    """Running sum from the other end."""
    if grad.ndim == 0 or grad.numel() <= 1 or grad.size(dim) == 1:
        return grad
    return aten.flip(aten.cumsum(aten.flip(grad, [dim]), dim), [dim])


def running_grad(grad: Tensor, dim: int, self_spec: Spec, result1: Tensor) -> Any:
    """Each gradient goes to where its value came from."""
    if self_spec.numel == 0:
        return grad
    return aten.scatter_add(aten.new_zeros(grad, list(self_spec.shape)), dim, result1, grad)


derivative("cumsum", self=cumsum_grad)
derivative("cumprod", self=lambda grad, self, dim, result: aten.cumprod_backward(grad, self, dim, result))
derivative("cummax cummin", self=running_grad)

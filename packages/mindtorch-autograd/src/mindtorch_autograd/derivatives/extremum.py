"""Smallest and largest values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.typing import Tensor
from mindtorch_storage.spec import Spec

from ..derivative import NON_DIFFERENTIABLE, derivative
from .reduce import evenly, shared


def selected(grad: Tensor, self_spec: Spec, dim: int, keepdim: bool, result1: Tensor) -> Any:
    """The gradient at the chosen index along `dim`, zero elsewhere."""
    if not keepdim and self_spec.ndim:
        grad, result1 = aten.unsqueeze(grad, dim), aten.unsqueeze(result1, dim)
    return aten.scatter(aten.new_zeros(grad, list(self_spec.shape)), dim, result1, grad)


def aminmax(
    grads: Sequence[Tensor], self: Tensor, dim: int | None, keepdim: bool, result0: Tensor, result1: Tensor
) -> Any:
    """Shares of both gradients."""
    total = None
    for grad, result in zip(grads, (result0, result1), strict=True):
        if grad is None:
            continue
        share = evenly(grad, self, result) if dim is None else shared(grad, self, result, self, dim, keepdim)
        total = share if total is None else aten.add(total, share)
    return total


derivative("amax amin", self=lambda grad, self, result, dim, keepdim: shared(grad, self, result, self, dim, keepdim))
derivative("aminmax", self=aminmax)
derivative("max", self=evenly, node="MaxBackward1")
derivative("min", self=evenly, node="MinBackward1")
derivative("max.dim min.dim", self=selected)
derivative("argmax argmin histc", NON_DIFFERENTIABLE)

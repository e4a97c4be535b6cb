"""Reductions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.meta.checks import wrap_dim, wrap_dims
from mindtorch_dispatch.typing import Scalar, Tensor
from mindtorch_storage.tensor_base import TensorBase

from ..derivative import derivative, joint
from .numbers import conj


def restored(value: Any, self_spec: Any, dim: Any, keepdim: bool) -> Any:
    """Return `value` with the reduced dims back as extents of 1."""
    if keepdim or self_spec.ndim == 0:
        return value
    for one in sorted(wrap_dims(dim, self_spec.ndim)):
        value = aten.unsqueeze(value, one)
    return value


def spread(grad: Tensor | None, self_spec: Any, dim: Any, keepdim: bool) -> Any:
    """Return `grad` expanded over the reduced dims."""
    return aten.expand(restored(grad, self_spec, dim, keepdim), list(self_spec.shape))


def reduced_count(self_spec: Any, dim: Any) -> int:
    """Return how many elements one result is made of."""
    return math.prod(self_spec.shape[one] for one in wrap_dims(dim, self_spec.ndim))


def evenly(grad: Tensor, self: Tensor, result: Tensor) -> Any:
    """The gradient shared by the elements equal to the result of a full reduction."""
    if result._wraps:  # a batch cannot be asked
        mask = aten.where(aten.isnan(result), aten.isnan(self), aten.eq(self, result))
        return aten.mul(mask, aten.div(grad, aten.sum(mask)))
    if result.dtype.is_floating_point and bool(aten.isnan(result).item()):
        mask = aten.isnan(self)
    else:
        mask = aten.eq(self, result)
    # Filled, not multiplied: a gradient that is nan or infinite stays with the elements that have the result.
    return aten.masked_fill(aten.zeros_like(self), mask, aten.div(grad, aten.sum(mask)))


def shared(
    grad: Tensor, self: Tensor, result: Tensor, self_spec: Tensor, dim: Sequence[int] | int, keepdim: bool
) -> Any:
    """The gradient shared by the elements equal to the result of a reduction over dims."""
    mask = aten.eq(self, restored(result, self_spec, dim, keepdim))
    dims = wrap_dims(dim, self_spec.ndim)
    return aten.div(aten.mul(restored(grad, self_spec, dim, keepdim), mask), aten.sum(mask, list(dims), True))


def _exclusive_product(self: Tensor, dim: int) -> Any:
    """Product of all other elements along `dim`, right where elements are zero."""
    if self.size(dim) == 1:
        return aten.ones_like(self)
    shape = list(self.shape)
    shape[dim] = 1
    ones = aten.ones(shape, dtype=self.dtype, device=self.device)
    before = aten.cumprod(aten.cat([ones, aten.narrow(self, dim, 0, self.size(dim) - 1)], dim), dim)
    flipped = aten.flip(aten.narrow(self, dim, 1, self.size(dim) - 1), [dim])
    after = aten.flip(aten.cumprod(aten.cat([ones, flipped], dim), dim), [dim])
    return aten.mul(before, after)


def prod_all(grad: Tensor, self: Tensor, result: Tensor) -> Any:
    """Product of the others; by division where no element is zero."""
    if self.numel() == 0:
        return aten.zeros_like(self)
    if self.ndim == 0:
        return aten.clone(grad)
    zeros = 1 if self._wraps else int(aten.sum(aten.eq(self, 0)).item())  # a batch cannot be asked
    if zeros == 0:
        return grad * conj(aten.div(result, self))
    if zeros > 1:
        return aten.zeros_like(self)
    flat = _exclusive_product(aten.reshape(self, [-1]), 0)
    return aten.reshape(grad * conj(flat), list(self.shape))


def prod_dim(grad: Tensor, self: Tensor, result: Tensor, dim: int, keepdim: bool) -> Any:
    """Product of the others along `dim`."""
    if self.numel() == 0:
        return aten.zeros_like(self)
    if self.ndim == 0:
        return aten.clone(grad)
    wrapped = wrap_dim(dim, self.ndim)
    if not keepdim:
        grad, result = aten.unsqueeze(grad, wrapped), aten.unsqueeze(result, wrapped)
    if not self._wraps and int(aten.sum(aten.eq(self, 0)).item()) == 0:
        return grad * conj(aten.div(result, self))
    return grad * conj(_exclusive_product(self, wrapped))


def norm_grad(grad: Any, self: Any, result: Any, order: float, dims: Any, keepdim: bool) -> Any:
    """Gradient of a vector norm; zero where the norm has none."""
    if self.ndim:
        grad, result = (restored(value, self, dims, keepdim) for value in (grad, result))
    if order == 0:
        return None
    if order == 1:
        return aten.sgn(self) * grad
    if order == 2:
        return grad * aten.masked_fill(self / result, aten.eq(result, 0), 0)
    if math.isinf(order):
        magnitude = aten.abs(self)
        mask = aten.logical_or(aten.eq(magnitude, result), aten.isnan(magnitude))
        count = aten.sum(mask, list(wrap_dims(dims, self.ndim)), True) if self.ndim else aten.sum(mask)
        return aten.sgn(self) * (aten.div(grad, count) * mask)
    if order < 1:
        direction = aten.masked_fill(aten.sgn(self) * aten.pow(aten.abs(self), order - 1), aten.eq(self, 0), 0)
        return direction * grad * aten.pow(result, 1 - order)
    if order < 2:
        scale = grad / aten.pow(result, order - 1)
        scale = aten.masked_fill(scale, aten.eq(result, 0), 0)
        return aten.sgn(self) * aten.pow(aten.abs(self), order - 1) * scale
    scale = aten.masked_fill(grad / aten.pow(result, order - 1), aten.eq(result, 0), 0)
    return self * aten.pow(aten.abs(self), order - 2) * scale


def dist_grad(grad: TensorBase, self: TensorBase, other: TensorBase, p: Any, result: TensorBase) -> Any:
    """Gradient of the norm of the difference."""
    return norm_grad(grad, aten.sub(self, other), result, float(p), None, False)


@joint("self", "other")
def dist(
    grad: Tensor, self: Tensor, other: Tensor, p: Scalar, result: Tensor, needs: Sequence[bool]
) -> tuple[Any, Any]:
    """Opposite gradients of the two points."""
    found = dist_grad(grad, self, other, p, result)
    return found, None if found is None else -found


def nansum(grad: Tensor, self: Tensor, dim: Sequence[int] | None, keepdim: bool) -> Any:
    """The gradient where the element is not nan."""
    return aten.mul(spread(grad, self, dim, keepdim), aten.logical_not(aten.isnan(self)))


derivative("sum", self=lambda grad, self_spec: aten.expand(grad, list(self_spec.shape)))
derivative("sum.dim_IntList", self=spread, node="SumBackward1")
derivative("mean", self=lambda grad, self_spec: aten.div(aten.expand(grad, list(self_spec.shape)), self_spec.numel))
derivative(
    "mean.dim",
    self=lambda grad, self_spec, dim, keepdim: aten.div(
        spread(grad, self_spec, dim, keepdim), reduced_count(self_spec, dim)
    ),
    node="MeanBackward1",
)
derivative("prod", self=prod_all)
derivative("prod.dim_int", self=prod_dim, node="ProdBackward1")
derivative("nansum", self=nansum)
derivative(
    "linalg_vector_norm",
    self=lambda grad, self, result, ord, dim, keepdim: norm_grad(grad, self, result, float(ord), dim, keepdim),
)
derivative("dist", dist)

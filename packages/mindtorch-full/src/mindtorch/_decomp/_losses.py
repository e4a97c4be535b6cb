"""Losses and activations as functions of the core operators."""

from __future__ import annotations

from typing import Any

import mindtorch as torch
from mindtorch._decomp._creation import zero_dim
from mindtorch_dispatch.typing import Tensor

aten = torch.ops.aten


def sum(self: Tensor, *, dtype: Any = None) -> Any:
    return aten.sum(self, [], dtype=dtype) if dtype is not None else aten.sum(self, [])


def reduced(loss: Tensor, reduction: int) -> Any:
    return loss if reduction == 0 else aten.mean(loss) if reduction == 1 else sum(loss)


def mse_loss(self: Tensor, target: Tensor, reduction: int = 1) -> Any:
    return reduced(aten.pow(aten.sub(self, target), 2), reduction)


def smooth_l1_loss(self: Tensor, target: Tensor, reduction: int = 1, beta: float = 1.0) -> Any:
    loss = aten.abs(aten.sub(self, target))
    if beta == 0:
        return reduced(loss, reduction)
    small = aten.lt(loss, beta)
    square = aten.div(aten.mul(aten.pow(loss, 2), 0.5), beta)
    return reduced(aten.where(small, square, aten.sub(loss, 0.5 * beta)), reduction)


def huber_loss(self: Tensor, target: Tensor, reduction: int = 1, delta: float = 1.0) -> Any:
    distance = aten.abs(aten.sub(self, target))
    small = aten.lt(distance, delta)
    square = aten.mul(aten.mul(distance, 0.5), distance)
    return reduced(aten.where(small, square, aten.mul(aten.sub(distance, 0.5 * delta), delta)), reduction)


def silu(self: Tensor) -> Any:
    return aten.mul(self, aten.sigmoid(self))


def clamped_to_six(self: Tensor) -> Any:
    return aten.clamp(aten.clamp(aten.add(self, 3), 0), None, 6)


def hardswish(self: Tensor) -> Any:
    return aten.div(aten.mul(self, clamped_to_six(self)), 6)


def hardsigmoid(self: Tensor) -> Any:
    return aten.div(clamped_to_six(self), 6)


def softplus(self: Tensor, beta: float = 1, threshold: float = 20) -> Any:
    scaled = self if beta == 1 else aten.mul(self, beta)
    smooth = aten.log1p(aten.exp(scaled))
    return aten.where(aten.gt(scaled, threshold), self, smooth if beta == 1 else aten.div(smooth, beta))


def mish(self: Tensor) -> Any:
    return aten.mul(self, aten.tanh(softplus(self)))


def glu(self: Tensor, dim: int = -1) -> Any:
    dim, half = dim % self.dim(), self.shape[dim] // 2
    return aten.mul(aten.slice(self, dim, 0, half), aten.sigmoid(aten.slice(self, dim, half, 2 * half)))


def log_sigmoid_forward(self: Tensor) -> Any:
    zero = aten.full([], 0, dtype=self.dtype, layout=torch.strided, device=self.device, pin_memory=False)
    low = aten.minimum(zero, self)
    rest = aten.exp(aten.neg(aten.abs(self)))
    return aten.sub(low, aten.log1p(rest)), aten.full_like(self, 0)


def prelu(self: Tensor, weight: Tensor | None) -> Any:
    return aten.where(aten.gt(self, 0), self, aten.mul(weight, self))


def threshold(self: Tensor, threshold: float, value: object) -> Any:
    return aten.where(aten.le(self, threshold), zero_dim(value, self), self)


def hardshrink(self: Tensor, lambd: float = 0.5) -> Any:
    return aten.where(aten.le(aten.abs(self), lambd), zero_dim(0, self), self)


def softshrink(self: Tensor, lambd: float = 0.5) -> Any:
    large = aten.gt(aten.abs(self), lambd)
    moved = aten.sub(self, aten.mul(aten.sign(self), lambd))
    return aten.where(large, moved, aten.mul(self, 0))


def nll_loss_forward(self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int) -> Any:
    dim = 0 if self.dim() < 2 else 1
    kept = aten.ne(target, ignore_index)
    places = aten.unsqueeze(aten.where(kept, target, zero_dim(0, target)), dim)
    shape = [1] * self.dim()
    shape[dim] = self.shape[dim]
    shown = None if weight is None else aten.view(weight, shape)
    scores = self if shown is None else aten.mul(self, shown)
    picked = aten.neg(aten.squeeze(aten.gather(scores, dim, places), [dim]))
    loss = aten.where(aten.ne(target, ignore_index), picked, zero_dim(0, self))
    if reduction == 0 and self.dim() > 1:
        return loss, aten.full([], 0.0, dtype=self.dtype, device=self.device)
    if shown is not None:
        shares = aten.squeeze(aten.gather(aten.expand(shown, self.shape), dim, places), [dim])
        total = sum(aten.where(aten.ne(target, ignore_index), shares, zero_dim(0, self)))
    else:
        total = aten._to_copy(sum(aten.ne(target, ignore_index)), dtype=self.dtype, device=self.device)
    return (sum(loss) if reduction == 2 else aten.div(sum(loss), total)), total


def binary_cross_entropy_with_logits(
    self: Tensor, target: Tensor, weight: Tensor | None = None, pos_weight: Tensor | None = None, reduction: int = 1
) -> Any:
    kept = aten.mul(aten.sub(1, target), self)
    if pos_weight is not None:
        scaled = aten.add(aten.mul(aten.sub(pos_weight, 1), target), 1)
        loss = aten.sub(kept, aten.mul(scaled, log_sigmoid_forward(self)[0]))
    else:
        loss = aten.sub(kept, log_sigmoid_forward(self)[0])
    return reduced(loss if weight is None else aten.mul(loss, weight), reduction)

"""Losses, and their gradients once more."""

from __future__ import annotations

from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.typing import Tensor

from ..derivative import ZERO, derivative
from .pointwise import masked

_MEAN = 1


def share(value: Tensor, reduction: int, *operands: object) -> Any:
    """Divide by the number of elements of the broadcast operands where the loss was their mean."""
    if reduction != _MEAN:
        return value
    return value / max(_broadcast_numel(operands), 1)


def _broadcast_numel(operands: tuple[Any, ...]) -> int:
    numel = 1
    shapes = [tuple(operand.shape) for operand in operands if operand is not None]
    for place in range(1, max(map(len, shapes)) + 1):
        extents = [shape[-place] for shape in shapes if len(shape) >= place]
        numel *= next((extent for extent in extents if extent != 1), 1)
    return numel


def smooth_curvature(self: Tensor, target: Tensor, beta: float) -> Any:
    """Second derivative of `smooth_l1_loss`."""
    inside = aten.lt(aten.abs(self - target), beta)
    return masked(aten.ones_like(self - target) / (beta or 1.0), inside)


def huber_curvature(self: Tensor, target: Tensor, delta: float) -> Any:
    """Second derivative of `huber_loss`."""
    return masked(aten.ones_like(self - target), aten.lt(aten.abs(self - target), delta))


def entropy_target(grad: Tensor, self: Tensor, target: Tensor, weight: Tensor | None, reduction: int) -> Any:
    """Gradient of `binary_cross_entropy` with respect to the target."""
    slope = grad * (aten.log(1.0 - self) - aten.log(self))
    return share(slope if weight is None else slope * weight, reduction, target)


def entropy_curvature(
    grad: Tensor, grad_output: Tensor, self: Tensor, target: Tensor, weight: Tensor | None, reduction: int
) -> Any:
    """Second derivative of `binary_cross_entropy` with respect to the input."""
    product = aten.clamp_min(self * (1 - self), 1e-12)
    curve = (self * self - 2 * self * target + target) / (product * product)
    curve = grad * grad_output * curve
    return share(curve if weight is None else curve * weight, reduction, target)


def entropy_again(grad: Tensor, self: Tensor, target: Tensor, weight: Tensor | None, reduction: int) -> Any:
    """What `binary_cross_entropy_backward` passes on to its incoming gradient."""
    slope = grad * (self - target) / aten.clamp_min((1 - self) * self, 1e-12)
    return share(slope if weight is None else slope * weight, reduction, target)


def logits_input(
    grad: Tensor, self: Tensor, target: Tensor, weight: Tensor | None, pos_weight: Tensor | None, reduction: int
) -> Any:
    """Gradient of `binary_cross_entropy_with_logits` with respect to the logits."""
    if pos_weight is None:
        slope = (aten.sigmoid(self) - target) * grad
    else:
        scaled = pos_weight * target
        slope = ((scaled + 1 - target) * aten.sigmoid(self) - scaled) * grad
    slope = slope if weight is None else slope * weight
    return share(slope, reduction, self, target, weight, pos_weight)


def logits_target(
    grad: Tensor, self: Tensor, target: Tensor, weight: Tensor | None, pos_weight: Tensor | None, reduction: int
) -> Any:
    """Gradient of `binary_cross_entropy_with_logits` with respect to the target."""
    if pos_weight is None:
        slope = -self * grad
    else:
        slope = (aten.log_sigmoid(-self) - pos_weight * aten.log_sigmoid(self)) * grad
    slope = slope if weight is None else slope * weight
    return share(slope, reduction, self, target, weight, pos_weight)


derivative(
    "mse_loss",
    self=lambda grad, self, target, reduction: aten.mse_loss_backward(grad, self, target, reduction),
    target=lambda grad, self, target, reduction: aten.mse_loss_backward(grad, target, self, reduction),
)
derivative(
    "mse_loss_backward",
    grad_output=lambda grad, self, target, reduction: share(2 * grad * (self - target), reduction, self, target),
    self=lambda grad, grad_output, self, target, reduction: share(2 * grad * grad_output, reduction, self, target),
    target=lambda grad, grad_output, self, target, reduction: share(-2 * grad * grad_output, reduction, self, target),
)
derivative(
    "smooth_l1_loss",
    self=lambda grad, self, target, reduction, beta: aten.smooth_l1_loss_backward(grad, self, target, reduction, beta),
    target=lambda grad, self, target, reduction, beta: aten.smooth_l1_loss_backward(
        grad, target, self, reduction, beta
    ),
)
derivative(
    "smooth_l1_loss_backward",
    grad_output=lambda grad, self, target, reduction, beta: (
        grad * aten.smooth_l1_loss_backward(aten.ones_like(grad), self, target, reduction, beta)
    ),
    self=lambda grad, grad_output, self, target, reduction, beta: share(
        grad * grad_output * smooth_curvature(self, target, beta), reduction, self, target
    ),
    target=lambda grad, grad_output, self, target, reduction, beta: share(
        -grad * grad_output * smooth_curvature(self, target, beta), reduction, self, target
    ),
)
derivative(
    "huber_loss",
    self=lambda grad, self, target, reduction, delta: aten.huber_loss_backward(grad, self, target, reduction, delta),
    target=lambda grad, self, target, reduction, delta: aten.huber_loss_backward(grad, target, self, reduction, delta),
)
derivative(
    "huber_loss_backward",
    grad_output=lambda grad, self, target, reduction, delta: (
        grad * aten.huber_loss_backward(aten.ones_like(grad), self, target, reduction, delta)
    ),
    self=lambda grad, grad_output, self, target, reduction, delta: share(
        grad * grad_output * huber_curvature(self, target, delta), reduction, self, target
    ),
    target=lambda grad, grad_output, self, target, reduction, delta: share(
        -grad * grad_output * huber_curvature(self, target, delta), reduction, self, target
    ),
)
derivative(
    "binary_cross_entropy",
    self=lambda grad, self, target, weight, reduction: aten.binary_cross_entropy_backward(
        grad, self, target, weight, reduction
    ),
    target=entropy_target,
)
derivative(
    "binary_cross_entropy_backward",
    grad_output=entropy_again,
    self=entropy_curvature,
    target=lambda grad, grad_output, self, target, weight, reduction: share(
        -grad * grad_output / aten.clamp_min((1 - self) * self, 1e-12) * (1 if weight is None else weight),
        reduction,
        target,
    ),
)
derivative("binary_cross_entropy_with_logits", self=logits_input, target=logits_target)
derivative(
    "nll_loss_forward",
    self=lambda grad, self, target, weight, reduction, ignore_index, result1: aten.nll_loss_backward(
        grad, self, target, weight, reduction, ignore_index, result1
    ),
    outputs=(0,),
    node="NllLossBackward0",
)
derivative(
    "nll_loss2d_forward",
    self=lambda grad, self, target, weight, reduction, ignore_index, result1: aten.nll_loss2d_backward(
        grad, self, target, weight, reduction, ignore_index, result1
    ),
    outputs=(0,),
    node="NllLoss2DBackward0",
)
derivative(
    "nll_loss_backward",
    grad_output=lambda grad, target, weight, reduction, ignore_index: aten.nll_loss(
        grad, target, weight, reduction, ignore_index
    ),
    self=ZERO,
)
derivative(
    "nll_loss2d_backward",
    grad_output=lambda grad, target, weight, reduction, ignore_index: aten.nll_loss2d(
        grad, target, weight, reduction, ignore_index
    ),
    self=ZERO,
)
derivative(
    "multi_margin_loss",
    self=lambda grad, self, target, p, margin, weight, reduction: aten.multi_margin_loss_backward(
        grad, self, target, p, margin, weight, reduction
    ),
)
derivative(
    "multilabel_margin_loss_forward",
    self=lambda grad, self, target, reduction, result1: aten.multilabel_margin_loss_backward(
        grad, self, target, reduction, result1
    ),
    outputs=(0,),
    node="MultilabelMarginLossBackward0",
)

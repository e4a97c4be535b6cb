"""Losses composed of other ops."""

from __future__ import annotations

import math
from typing import Any

from mindtorch_storage.strides import broadcast_pair
from mindtorch_storage.tensor_base import TensorBase

from ..call import aten
from ..errors import not_differentiable
from ..meta.checks import check, shape_text
from ..meta.loss import MEAN, NONE, SUM
from ..state import state
from ..typing import Tensor

_COSINE_EPSILON = 1e-12


def reduce_loss(loss: object, reduction: int) -> Any:
    """Apply the reduction of that number."""
    if reduction == MEAN:
        return aten.mean(loss)
    return aten.sum(loss) if reduction == SUM else loss


def l1_loss(self: Tensor, target: Tensor, reduction: int) -> Any:
    """|self - target|."""
    return reduce_loss(aten.abs(aten.sub(self, target)), reduction)


def nll_loss(self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int) -> Any:
    """Negated log-probability of the target classes."""
    return aten.nll_loss_forward(self, target, weight, reduction, ignore_index)[0]


def nll_loss2d(self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int) -> Any:
    """`nll_loss` of images of classes."""
    return aten.nll_loss2d_forward(self, target, weight, reduction, ignore_index)[0]


def nll_loss_nd(self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int) -> Any:
    """`nll_loss` of any number of dimensions."""
    shape = tuple(self.shape)
    ndim = len(shape)
    check(ndim >= 1, lambda: f"Expected 1 or more dimensions (got {ndim})", ValueError)
    check(
        ndim == 1 or (len(target.shape) > 0 and shape[0] == target.shape[0]),
        lambda: f"Expected input batch_size ({shape[0]}) to match target batch_size ({(*target.shape, 0)[0]}).",
        ValueError,
    )
    if ndim <= 2:
        return aten.nll_loss(self, target, weight, reduction, ignore_index)
    if ndim == 4:
        return aten.nll_loss2d(self, target, weight, reduction, ignore_index)
    expected = (shape[0], *shape[2:])
    check(
        tuple(target.shape[1:]) == shape[2:],
        lambda: f"Expected target size {shape_text(expected)}, got {shape_text(target.shape)}",
    )
    places = (1, -1) if math.prod(shape) else (0, 0)
    flat = aten.reshape(self, [shape[0], shape[1], *places])
    flat_target = aten.reshape(target, [shape[0], *places])
    loss = aten.nll_loss2d(flat, flat_target, weight, reduction, ignore_index)
    return aten.reshape(loss, list(expected)) if reduction == NONE else loss


def _class_dim(self: Any) -> int:
    return 0 if len(self.shape) == 1 else 1


def _per_class(weight: TensorBase, self: Any) -> Any:
    """Return class weights in a shape that broadcasts against `self`."""
    shape = [1] * len(self.shape)
    shape[_class_dim(self)] = weight.shape[0]
    return aten.reshape(weight, shape)


def cross_entropy_loss(
    self: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int, label_smoothing: float
) -> Any:
    """Cross entropy of logits with classes or with class probabilities."""
    if tuple(self.shape) == tuple(target.shape):
        check(
            target.dtype.is_floating_point,
            lambda: f"Expected floating point type for target with class probabilities, got {target.dtype.scalar_name}",
        )
        check(ignore_index < 0, lambda: "ignore_index is not supported for floating point target")
        return _with_probabilities(self, target, weight, reduction, label_smoothing)
    log_probabilities = aten.log_softmax(self, _class_dim(self))
    if label_smoothing > 0:
        check(
            label_smoothing <= 1,
            lambda: f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}",
        )
        return _smoothed(log_probabilities, target, weight, reduction, ignore_index, label_smoothing)
    return aten.nll_loss_nd(log_probabilities, target, weight, reduction, ignore_index)


def _with_probabilities(self: Tensor, target: Tensor, weight: Any, reduction: int, label_smoothing: float) -> Any:
    dim = _class_dim(self)
    classes = self.shape[dim]
    check(
        weight is None or (len(weight.shape) == 1 and weight.shape[0] == classes),
        lambda: (
            f"cross_entropy: weight tensor should be defined either for all {classes} classes or no classes but "
            f"got weight tensor of shape: {shape_text(weight.shape)}"
        ),
    )
    scores = aten.log_softmax(self, dim)
    if label_smoothing > 0:
        check(
            label_smoothing <= 1,
            lambda: f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}",
        )
        target = target * (1 - label_smoothing) + label_smoothing / classes
    product = scores * target if weight is None else scores * target * _per_class(weight, self)
    if reduction == NONE:
        return -aten.sum(product, [dim])
    total = -aten.sum(product)
    if reduction == SUM:
        return total
    count = math.prod(self.shape) // classes if classes else 0
    return total / count if count else total * math.nan


def _smoothed(
    scores: Any, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int, label_smoothing: float
) -> Any:
    """Mix the loss of the target class with that of all classes."""
    dim = _class_dim(scores)
    classes = scores.shape[dim]
    exact = aten.nll_loss_nd(scores, target, weight, reduction, ignore_index)
    weighted = scores if weight is None else scores * _per_class(weight, scores)
    ignored = aten.eq(target, ignore_index)
    spread = aten.masked_fill_(-aten.sum(weighted, [dim]), ignored, 0.0)  # which has the shape of the losses
    if reduction == SUM:
        spread = aten.sum(spread)
    elif reduction == MEAN:
        counted = aten.logical_not(ignored)
        if weight is None:
            spread = aten.sum(spread) / aten.sum(counted)
        else:
            # Ignored targets may be no class at all; they look up class 0, which then does not count.
            safe = aten.masked_fill(target, ignored, 0)
            of_targets = aten.reshape(aten.index_select(weight, 0, aten.reshape(safe, [-1])), list(target.shape))
            spread = aten.sum(spread) / aten.sum(aten.masked_fill(of_targets, ignored, 0.0))
    return (1 - label_smoothing) * exact + spread * (label_smoothing / classes)


def kl_div(self: Tensor, target: Tensor, reduction: int, log_target: bool) -> Any:
    """Kullback-Leibler divergence of log-probabilities."""
    both = (self.dtype, target.dtype)
    check(not any(dtype.is_complex for dtype in both), lambda: "kl_div: Complex inputs not supported.")
    check(all(dtype.is_floating_point for dtype in both), lambda: "kl_div: Integral inputs not supported.")
    if log_target:
        loss = aten.exp(target) * (target - self)
    else:
        loss = aten.xlogy(target, target) - target * self
    return reduce_loss(loss, reduction)


def poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float, reduction: int) -> Any:
    """Negated log-likelihood of counts; `full` adds Stirling's approximation of the constant term."""
    if log_input:
        loss = aten.exp(input) - target * input
    else:
        loss = input - target * aten.log(input + eps)
    if full:
        constant = target * aten.log(target) - target + 0.5 * aten.log(2 * math.pi * target)
        loss = loss + aten.masked_fill(constant, aten.le(target, 1), 0)
    return reduce_loss(loss, reduction)


def soft_margin_loss(self: Tensor, target: Tensor, reduction: int) -> Any:
    """log(1 + exp(-self * target))."""
    if target.requires_grad and state.mode.records:
        raise not_differentiable("soft_margin_loss", "target")
    if self.dtype.is_complex and self.requires_grad and state.mode.records:
        raise RuntimeError(
            "soft_margin_loss does not support automatic differentiation for outputs with complex dtype."
        )
    negated = -self
    shape = broadcast_pair(tuple(self.shape), tuple(target.shape))
    check(
        tuple(self.shape) == shape,
        lambda: f"output with shape {shape_text(self.shape)} doesn't match the broadcast shape {shape_text(shape)}",
    )
    check(
        self.dtype.is_floating_point or self.dtype.is_complex,
        lambda: f"result type Float can't be cast to the desired output type {self.dtype.scalar_name}",
    )
    return reduce_loss(aten.log1p(aten.exp(negated * target)), reduction)


def margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float, reduction: int) -> Any:
    """max(0, -target * (input1 - input2) + margin); the margin is a float, so whole inputs have losses that are not."""
    return reduce_loss(aten.clamp_min(-target * (input1 - input2) + float(margin), 0), reduction)


def hinge_embedding_loss(self: Tensor, target: Tensor, margin: float, reduction: int) -> Any:
    """The input for target 1, max(0, margin - input) for target -1."""
    # The margin is a number of the input's type, as in torch: whole inputs have whole losses.
    distant = aten.where(aten.eq(target, 1), 0, aten.clamp_min(aten.sub(aten.full_like(self, margin), self), 0))
    close = aten.where(aten.eq(target, -1), 0, self)
    return reduce_loss(distant + close, reduction)


def cosine_embedding_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float, reduction: int) -> Any:
    """1 - cos for target 1, max(0, cos - margin) for target -1."""
    ndim = len(target.shape)
    check(ndim <= 1, lambda: "0D or 1D target tensor expected, multi-target not supported")
    check(
        len(input1.shape) == ndim + 1 and len(input2.shape) == ndim + 1,
        lambda: (
            f"{ndim}D target tensor expects {ndim + 1}D input tensors, but found inputs with sizes "
            f"{shape_text(input1.shape)} and {shape_text(input2.shape)}."
        ),
    )
    dim = [ndim]
    product = aten.sum(input1 * input2, dim)
    first = aten.sum(input1 * input1, dim) + _COSINE_EPSILON
    second = aten.sum(input2 * input2, dim) + _COSINE_EPSILON
    cosine = product / aten.sqrt(first * second)
    close = aten.where(aten.eq(target, 1), 1 - cosine, 0)
    distant = aten.where(aten.eq(target, -1), aten.clamp_min(cosine - margin, 0), 0)
    return reduce_loss(close + distant, reduction)


def triplet_margin_loss(
    anchor: Tensor, positive: Tensor, negative: Tensor, margin: float, p: float, eps: float, swap: bool, reduction: int
) -> Any:
    """max(0, d(anchor, positive) - d(anchor, negative) + margin)."""
    dims = [len(each.shape) for each in (anchor, positive, negative)]
    check(
        len(set(dims)) == 1,
        lambda: (
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but "
            f"got: anchor {dims[0]}D, positive {dims[1]}D, and negative {dims[2]}D inputs"
        ),
    )
    close = aten.pairwise_distance(anchor, positive, p, eps)
    distant = aten.pairwise_distance(anchor, negative, p, eps)
    if swap:
        distant = aten.minimum(distant, aten.pairwise_distance(positive, negative, p, eps))
    return reduce_loss(aten.clamp_min(margin + close - distant, 0), reduction)


def multilabel_margin_loss(self: Tensor, target: Tensor, reduction: int) -> Any:
    """Hinge loss between every target class and every other class."""
    return aten.multilabel_margin_loss_forward(self, target, reduction)[0]

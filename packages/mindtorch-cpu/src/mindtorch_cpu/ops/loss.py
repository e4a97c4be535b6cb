"""Losses and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch_cpu.many_dimensions import combine_at
from mindtorch_cpu.reduced import rounder, widened
from mindtorch_cpu.register import kernel

_NONE, _MEAN, _SUM = 0, 1, 2


def _reduce(out: Any, loss: Any, reduction: int) -> None:
    """Write the elements, their mean or their sum."""
    if reduction == _MEAN:
        with np.errstate(invalid="ignore", divide="ignore"):
            out[...] = np.sum(loss) / loss.size if loss.size else np.nan
    else:
        out[...] = np.sum(loss) if reduction == _SUM or out.ndim < np.ndim(loss) else loss


def _share(self: Any, reduction: int) -> float:
    """Return by how much an element's gradient counts."""
    return 1.0 / self.size if reduction == _MEAN and self.size else 1.0


@kernel("mse_loss")
def mse_loss(out: Any, self: Any, target: Any, reduction: int) -> None:
    """Squared differences."""
    _reduce(out, np.square(self - target), reduction)


@kernel("mse_loss_backward")
def mse_loss_backward(out: Any, grad_output: Any, self: Any, target: Any, reduction: int) -> None:
    """Gradient of `mse_loss`."""
    np.multiply((2.0 * _share(self, reduction)) * (self - target), grad_output, out)


def _smooth(difference: Any, beta: float) -> Any:
    size = np.abs(difference)
    return np.where(size < beta, 0.5 * size * size / (beta or 1.0), size - 0.5 * beta)


@kernel("smooth_l1_loss")
def smooth_l1_loss(out: Any, self: Any, target: Any, reduction: int, beta: float) -> None:
    """Quadratic below beta, linear above."""
    _reduce(out, _smooth(self - target, beta), reduction)


@kernel("smooth_l1_loss_backward")
def smooth_l1_loss_backward(out: Any, grad_output: Any, self: Any, target: Any, reduction: int, beta: float) -> None:
    """Gradient of `smooth_l1_loss`."""
    difference = self - target
    slope = np.where(difference <= -beta, -1, np.where(difference >= beta, 1, difference / (beta or 1.0)))
    np.multiply(_share(self, reduction) * slope, grad_output, out)


@kernel("huber_loss")
def huber_loss(out: Any, self: Any, target: Any, reduction: int, delta: float) -> None:
    """Quadratic below delta, linear with that slope above."""
    size = np.abs(self - target)
    _reduce(out, np.where(size <= delta, 0.5 * size * size, delta * (size - 0.5 * delta)), reduction)


@kernel("huber_loss_backward")
def huber_loss_backward(out: Any, grad_output: Any, self: Any, target: Any, reduction: int, delta: float) -> None:
    """Gradient of `huber_loss`."""
    slope = np.clip(self - target, -delta, delta)
    np.multiply(_share(self, reduction) * slope, grad_output, out)


def _refuse_improbable(self: Any, target: Any) -> None:
    """Raise RuntimeError for the first element that is no probability; of one place, the input's before the target's."""
    inside = [(one >= 0) & (one <= 1) for one in (self, target)]
    if np.all(inside[0]) and np.all(inside[1]):
        return
    wrong, of_target = ~np.logical_and(*inside).ravel(), inside[0].ravel()
    name = "target" if np.broadcast_to(of_target, wrong.shape)[np.argmax(wrong)] else "input"
    raise RuntimeError(f"all elements of {name} should be between 0 and 1")


@kernel("binary_cross_entropy")
def binary_cross_entropy(out: Any, self: Any, target: Any, weight: Any, reduction: int) -> None:
    """Cross entropy of probabilities, logarithms bounded by -100; refuses what is no probability."""
    _refuse_improbable(self, target)
    with np.errstate(divide="ignore"):
        loss = (target - 1) * np.maximum(np.log1p(-self), -100) - target * np.maximum(np.log(self), -100)
    _reduce(out, loss if weight is None else loss * weight, reduction)


@kernel("binary_cross_entropy_backward")
def binary_cross_entropy_backward(
    out: Any, grad_output: Any, self: Any, target: Any, weight: Any, reduction: int
) -> None:
    """Gradient of `binary_cross_entropy`."""
    slope = grad_output * (self - target) / np.maximum((1 - self) * self, 1e-12)
    slope = slope if weight is None else slope * weight
    np.multiply(slope, _share(out, reduction), out)


@kernel("binary_cross_entropy_with_logits", upcast=False)
def binary_cross_entropy_with_logits(
    out: Any, self: Any, target: Any, weight: Any, pos_weight: Any, reduction: int
) -> None:
    """Cross entropy of logits; in halves each step is rounded, as torch makes it of other functions."""
    rounded = rounder(out.dtype)
    self, target, weight, pos_weight = map(widened, (self, target, weight, pos_weight))
    log_sigmoid = rounded(np.minimum(self, 0) - np.log1p(np.exp(-np.abs(self))))
    if pos_weight is not None:
        log_sigmoid = rounded(rounded(rounded(rounded(pos_weight - 1) * target) + 1) * log_sigmoid)
    loss = rounded(rounded(rounded(1 - target) * self) - log_sigmoid)
    _reduce(out, loss if weight is None else rounded(loss * weight), reduction)


def _counted(target: Any, weight: Any, ignore_index: int, classes: int, dtype: Any) -> tuple[Any, Any]:
    """Return each target as a class that can be looked up, and its weight, 0 where it is ignored."""
    counts = target != ignore_index
    outside = counts & ((target < 0) | (target >= classes))
    if np.any(outside):
        raise IndexError(f"Target {int(target[outside][0])} is out of bounds.")
    safe = np.where(counts, target, 0)
    weights = counts.astype(dtype) if weight is None else np.where(counts, weight[safe], 0).astype(dtype)
    return safe, weights


def _nll(
    out: Any, scores: Any, target: Any, weight: Any, reduction: int, ignore_index: int, total_unreduced: bool
) -> None:
    """Loss of (N, C, *) and (N, *)."""
    output, total = out
    safe, weights = _counted(target, weight, ignore_index, scores.shape[1], scores.dtype)
    picked = np.take_along_axis(scores, np.expand_dims(safe, 1), 1).squeeze(1)
    # An ignored element must not let its infinity or nan through.
    loss = np.where(weights == 0, np.where(target == ignore_index, 0, -picked * weights), -picked * weights)
    if reduction == _NONE:
        output[...] = loss.reshape(output.shape)
        total[...] = weights.sum() if total_unreduced else 0
        return
    total[...] = weights.sum()
    with np.errstate(invalid="ignore", divide="ignore"):
        output[...] = np.sum(loss) / weights.sum() if reduction == _MEAN else np.sum(loss)


@kernel("nll_loss_forward")
def nll_loss_forward(out: Any, self: Any, target: Any, weight: Any, reduction: int, ignore_index: int) -> None:
    """Loss of (N, C) or (C)."""
    single = self.ndim == 1
    scores = self[None] if single else self
    _nll(out, scores, target.reshape(scores.shape[0]), weight, reduction, ignore_index, single)


@kernel("nll_loss2d_forward")
def nll_loss2d_forward(out: Any, self: Any, target: Any, weight: Any, reduction: int, ignore_index: int) -> None:
    """Loss of (N, C, H, W)."""
    _nll(out, self, target, weight, reduction, ignore_index, False)


def _nll_backward(
    out: Any, grad_output: Any, target: Any, weight: Any, reduction: int, ignore_index: int, total: Any
) -> None:
    safe, weights = _counted(target, weight, ignore_index, out.shape[1], out.dtype)
    scale = np.where(target == ignore_index, 0, -weights * grad_output)
    if reduction == _MEAN:
        with np.errstate(invalid="ignore", divide="ignore"):
            scale = np.where(weights == 0, 0, scale / total)
    out[...] = 0
    np.put_along_axis(out, np.expand_dims(safe, 1), np.expand_dims(scale, 1).astype(out.dtype), 1)


@kernel("nll_loss_backward")
def nll_loss_backward(
    out: Any,
    grad_output: Any,
    self: Any,
    target: Any,
    weight: Any,
    reduction: int,
    ignore_index: int,
    total_weight: Any,
) -> None:
    """Gradient of `nll_loss_forward`."""
    frame = out[None] if out.ndim == 1 else out
    target = target.reshape(frame.shape[0])
    _nll_backward(frame, grad_output, target, weight, reduction, ignore_index, total_weight)


@kernel("nll_loss2d_backward")
def nll_loss2d_backward(
    out: Any,
    grad_output: Any,
    self: Any,
    target: Any,
    weight: Any,
    reduction: int,
    ignore_index: int,
    total_weight: Any,
) -> None:
    """Gradient of `nll_loss2d_forward`."""
    _nll_backward(out, grad_output, target, weight, reduction, ignore_index, total_weight)


def _margins(self: Any, target: Any, margin: float) -> tuple[Any, Any, Any, Any]:
    """Return the input as a matrix, its rows, the targets, and each class's distance to the target's margin."""
    frame = self.reshape(-1, self.shape[-1] if self.ndim else 1)
    rows = np.arange(frame.shape[0])
    target = target.reshape(-1)
    if np.any((target < 0) | (target >= frame.shape[1])):
        raise RuntimeError("target out of range")
    distance = margin - frame[rows, target][:, None] + frame
    distance[rows, target] = 0
    return frame, rows, target, np.maximum(distance, 0)


@kernel("multi_margin_loss")
def multi_margin_loss(out: Any, self: Any, target: Any, p: int, margin: float, weight: Any, reduction: int) -> None:
    """Hinge loss of every class against the target."""
    frame, _, target, distance = _margins(self, target, margin)
    loss = distance if p == 1 else distance * distance
    loss = loss if weight is None else loss * weight[target][:, None]
    _reduce(out, (loss.sum(1) / frame.shape[1]).reshape(out.shape if reduction == _NONE else -1), reduction)


@kernel("multi_margin_loss_backward")
def multi_margin_loss_backward(
    out: Any, grad_output: Any, self: Any, target: Any, p: int, margin: float, weight: Any, reduction: int
) -> None:
    """Gradient of `multi_margin_loss`."""
    frame, rows, target, distance = _margins(self, target, margin)
    slope = (distance > 0).astype(frame.dtype) if p == 1 else 2 * distance
    slope = slope if weight is None else slope * weight[target][:, None]
    slope /= frame.shape[1] * (frame.shape[0] if reduction == _MEAN else 1)
    slope[rows, target] = -slope.sum(1)
    scale = grad_output if grad_output.ndim == 0 else grad_output[:, None]
    out[...] = (slope * scale).reshape(out.shape)


def _listed_classes(frame: Any, target: Any) -> Any:
    """Yield each row's scores, its number and its target classes, which end at the first -1."""
    if np.any((target < -1) | (target >= frame.shape[1])):
        raise RuntimeError("argument #2 'target' is out of range")
    for row, scores in enumerate(frame):
        ends = np.flatnonzero(target[row] < 0)
        yield row, scores, target[row, : ends[0] if ends.size else None]


def _hinges(scores: Any, targets: Any, listed: Any) -> Any:
    """Return max(0, 1 - score of target + score of other), targets by classes, 0 at target classes."""
    hinge = np.maximum(1 - scores[targets][:, None] + scores[None], 0)
    hinge[:, listed] = 0
    return hinge


@kernel("multilabel_margin_loss_forward")
def multilabel_margin_loss_forward(out: Any, self: Any, target: Any, reduction: int) -> None:
    """Hinge loss between target classes and the others."""
    output, is_target = out
    frame = self.reshape(-1, self.shape[-1] if self.ndim else 1)
    listed = is_target.reshape(frame.shape)
    listed[...] = 0
    loss = np.zeros(frame.shape[0], frame.dtype)
    for row, scores, targets in _listed_classes(frame, target.reshape(frame.shape)):
        listed[row, targets] = 1
        loss[row] = _hinges(scores, targets, listed[row] != 0).sum() / frame.shape[1]
    is_target[...] = listed.reshape(is_target.shape)
    _reduce(output, loss.reshape(output.shape) if reduction == _NONE else loss, reduction)


@kernel("multilabel_margin_loss_backward")
def multilabel_margin_loss_backward(
    out: Any, grad_output: Any, self: Any, target: Any, reduction: int, is_target: Any
) -> None:
    """Gradient of `multilabel_margin_loss_forward`."""
    if not np.all((is_target >= 0) & (is_target <= 1)):
        raise RuntimeError("argument #5 'is_target' is out of range")
    frame = self.reshape(-1, self.shape[-1] if self.ndim else 1)
    listed = is_target.reshape(frame.shape) != 0
    slope = np.zeros_like(frame)
    for row, scores, targets in _listed_classes(frame, target.reshape(frame.shape)):
        active = (_hinges(scores, targets, listed[row]) > 0).astype(frame.dtype)
        slope[row] += active.sum(0)
        combine_at(np.subtract, slope[row], targets, active.sum(1))
    slope /= frame.shape[1] * (frame.shape[0] if reduction == _MEAN else 1)
    scale = grad_output if grad_output.ndim == 0 else grad_output[:, None]
    out[...] = (slope * scale).reshape(out.shape)

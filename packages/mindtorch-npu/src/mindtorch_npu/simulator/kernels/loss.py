"""Losses."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch_npu.simulator.kernels import kernel
from mindtorch_npu.simulator.typing import Array

NONE, MEAN, SUM = 0, 1, 2


def _reduced(values: Array, reduction: int) -> Any:
    return values if reduction == NONE else values.mean() if reduction == MEAN else values.sum()


def _share(grad: Array, x: Array, reduction: int) -> Any:
    return grad / x.size if reduction == MEAN else grad


def _nll(x: Any, target: Any, weight: Any, reduction: int, ignored: int) -> Any:
    single = x.ndim == 1
    rows, wanted = (x[None], target.reshape(1)) if single else (x, target)
    kept = wanted != ignored
    places = np.where(kept, wanted, 0)
    if places.size and (places.min() < 0 or places.max() >= rows.shape[1]):
        raise IndexError("NLLLoss: a target is out of range")
    weights = np.where(kept, weight[places], 0).astype(x.dtype)
    losses = -rows[np.arange(len(rows)), places] * weights
    total = weights.sum()
    if reduction == NONE:
        return (losses[0] if single else losses), np.zeros((), x.dtype)
    return losses.sum() / total if reduction == MEAN else losses.sum(), total


def _nll_backward(grad: Any, x: Array, target: Array, weight: Any, reduction: int, ignored: int, total: Any) -> Any:
    single = x.ndim == 1
    rows, wanted = (x[None], target.reshape(1)) if single else (x, target)
    made = np.zeros(rows.shape, x.dtype)
    kept = wanted != ignored
    places = np.where(kept, wanted, 0)
    scale = grad.reshape(-1) if reduction == NONE else grad
    scale = scale / total if reduction == MEAN else scale
    made[np.arange(len(rows)), places] = np.where(kept, -weight[places] * scale, 0)
    return made[0] if single else made


def _smooth(x: Array, target: Array, reduction: int, beta: float) -> Any:
    size = np.abs(x - target)
    return _reduced(np.where(size < beta, 0.5 * size * size / (beta or 1), size - 0.5 * beta), reduction)


def _cross(x: Array, target: Array, weight: Array | None, reduction: int) -> Any:
    losses = -(target * np.maximum(np.log(x), -100) + (1 - target) * np.maximum(np.log1p(-x), -100))
    return _reduced(losses if weight is None else losses * weight, reduction)


def _cross_backward(grad: Array, x: Array, target: Array, weight: Array | None, reduction: int) -> Any:
    made = _share(grad, x, reduction) * (x - target) / np.maximum((1 - x) * x, 1e-12)
    return made if weight is None else made * weight


def _divergence(x: Array | None, target: Any, reduction: int, log_target: bool) -> Any:
    if log_target:
        return _reduced(np.exp(target) * (target - x), reduction)
    return _reduced(np.where(target > 0, target * (np.log(np.where(target > 0, target, 1)) - x), 0), reduction)


kernel("NLLLoss", _nll, workspace=True)
kernel("NLLLossBackward", _nll_backward, workspace=True)
kernel("MseLoss", lambda x, target, reduction: _reduced((x - target) ** 2, reduction), workspace=True)
kernel("MseLossBackward", lambda grad, x, target, reduction: _share(grad, x, reduction) * 2 * (x - target))
kernel("L1Loss", lambda x, target, reduction: _reduced(np.abs(x - target), reduction), workspace=True)
kernel("SmoothL1Loss", _smooth, workspace=True)


def _smooth_backward(grad: Array, x: Array, target: Array, reduction: int, beta: float) -> Any:
    difference = x - target
    slope = np.where(np.abs(difference) < beta, difference / (beta or 1), np.sign(difference))
    return _share(grad, x, reduction) * slope


def _cross_logits(x: Any, target: Any, weight: Array | None, positive: Any, reduction: int) -> Any:
    scale = 1 if positive is None else 1 + (positive - 1) * target
    losses = (1 - target) * x + scale * (np.log1p(np.exp(-np.abs(x))) + np.maximum(-x, 0))
    return _reduced(losses if weight is None else losses * weight, reduction)


kernel("SmoothL1LossBackward", _smooth_backward)
kernel("BinaryCrossEntropyWithLogits", _cross_logits, workspace=True)
kernel("BinaryCrossEntropy", _cross, workspace=True)
kernel("BinaryCrossEntropyBackward", _cross_backward)
kernel("KlDiv", _divergence, workspace=True)


def _plane(x: Array, target: Any, weight: Array | None, reduction: int, ignored: int) -> Any:
    """The loss of pictures: every pixel is a row."""
    rows = np.moveaxis(x, 1, -1).reshape(-1, x.shape[1])
    value, total = _nll(rows, target.reshape(-1), weight, reduction, ignored)
    return (value.reshape(target.shape) if reduction == NONE else value), total


def _plane_backward(grad: Any, x: Array, target: Any, weight: Any, reduction: int, ignored: int, total: Any) -> Any:
    rows = np.moveaxis(x, 1, -1)
    flat = rows.reshape(-1, x.shape[1])
    made = _nll_backward(
        grad.reshape(-1) if reduction == NONE else grad, flat, target.reshape(-1), weight, reduction, ignored, total
    )
    return np.moveaxis(made.reshape(rows.shape), -1, 1)


kernel("NLLLoss2d", _plane, workspace=True)
kernel("NLLLoss2dBackward", _plane_backward, outputs=("out",), workspace=True)

"""Normalizations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch_npu.simulator.kernels import kernel
from mindtorch_npu.simulator.typing import Array


def _layer_norm(x: Array, shape: Sequence[int], weight: Array | None, bias: Array | None, eps: float) -> Any:
    axes = tuple(range(x.ndim - len(shape), x.ndim))
    mean = x.mean(axes, keepdims=True)
    rstd = 1 / np.sqrt(((x - mean) ** 2).mean(axes, keepdims=True) + x.dtype.type(eps))
    out = (x - mean) * rstd
    out = out if weight is None else out * weight
    return (out if bias is None else out + bias), mean, rstd


def _layer_norm_backward(
    grad: Array,
    x: Array,
    shape: Sequence[int],
    mean: Array,
    rstd: Array,
    weight: Array | None,
    bias: Array | None,
    mask: Array,
) -> tuple[Any, Any, Any]:
    axes = tuple(range(x.ndim - len(shape), x.ndim))
    rest = tuple(range(x.ndim - len(shape)))
    standard = (x - mean) * rstd
    weighted = grad if weight is None else grad * weight
    inner = weighted - weighted.mean(axes, keepdims=True) - standard * (weighted * standard).mean(axes, keepdims=True)
    to_weight = (grad * standard).sum(rest) if mask[1] else None
    return inner * rstd if mask[0] else None, to_weight, grad.sum(rest) if mask[2] else None


def _channels(x: Any, value: Any) -> Any:
    return None if value is None else value.reshape([-1 if axis == 1 else 1 for axis in range(x.ndim)])


def _batch_norm(
    x: Array,
    weight: Array | None,
    bias: Array | None,
    mean: Array | None,
    var: Array,
    training: bool,
    momentum: float,
    eps: float,
) -> Any:
    axes = tuple(axis for axis in range(x.ndim) if axis != 1)
    running: tuple[Any, Any] = (None, None)
    if training:
        batch_mean, batch_var = x.mean(axes), x.var(axes)
        count = x.size // x.shape[1]
        if mean is not None:
            unbiased = batch_var * count / max(1, count - 1)
            running = (mean + momentum * (batch_mean - mean), var + momentum * (unbiased - var))
    else:
        batch_mean, batch_var = mean, var
    rstd = 1 / np.sqrt(batch_var + eps)
    out = (x - _channels(x, batch_mean)) * _channels(x, rstd)
    out = out if weight is None else out * _channels(x, weight)
    out = out if bias is None else out + _channels(x, bias)
    saved = (batch_mean, rstd) if training else (None, None)
    return (*running, out, *saved)


def _batch_norm_backward(
    grad: Array,
    x: Array,
    weight: Array | None,
    mean: Array,
    var: Array,
    saved: object,
    rstd: Array,
    training: bool,
    eps: float,
    mask: Array,
) -> Any:
    axes = tuple(axis for axis in range(x.ndim) if axis != 1)
    if not training:
        saved, rstd = mean, 1 / np.sqrt(var + eps)
    standard = (x - _channels(x, saved)) * _channels(x, rstd)
    to_weight, to_bias = (grad * standard).sum(axes), grad.sum(axes)
    scale = _channels(x, rstd) if weight is None else _channels(x, rstd * weight)
    if training:
        count = x.size // x.shape[1]
        to_input = scale * (grad - _channels(x, to_bias) / count - standard * _channels(x, to_weight) / count)
    else:
        to_input = grad * scale
    return tuple(value if wanted else None for value, wanted in zip((to_input, to_weight, to_bias), mask, strict=True))


def _group_norm(
    x: Array, weight: Array | None, bias: Array | None, n: int, c: int, inner: int, groups: int, eps: float
) -> Any:
    parts = x.reshape(n, groups, -1)
    mean = parts.mean(2)
    rstd = 1 / np.sqrt(parts.var(2) + eps)
    out = ((parts - mean[..., None]) * rstd[..., None]).reshape(x.shape)
    out = out if weight is None else out * _channels(x, weight)
    return (out if bias is None else out + _channels(x, bias)), mean, rstd


def _group_norm_backward(
    grad: Array,
    x: Array,
    mean: Array,
    rstd: Array,
    weight: Array | None,
    n: int,
    c: int,
    inner: int,
    groups: int,
    mask: Array,
) -> Any:
    axes = tuple(axis for axis in range(x.ndim) if axis != 1)
    parts = x.reshape(n, groups, -1)
    standard = ((parts - mean.reshape(n, groups, 1)) * rstd.reshape(n, groups, 1)).reshape(x.shape)
    weighted = (grad if weight is None else grad * _channels(x, weight)).reshape(n, groups, -1)
    flat = standard.reshape(n, groups, -1)
    centred = weighted - weighted.mean(2, keepdims=True) - flat * (weighted * flat).mean(2, keepdims=True)
    grads = ((centred * rstd.reshape(n, groups, 1)).reshape(x.shape), (grad * standard).sum(axes), grad.sum(axes))
    return tuple(value if wanted else None for value, wanted in zip(grads, mask, strict=True))


kernel("GroupNormBackward", _group_norm_backward, workspace=True)
kernel("LayerNorm", _layer_norm, workspace=True)
kernel("LayerNormBackward", _layer_norm_backward, workspace=True)
kernel(
    "BatchNorm",
    _batch_norm,
    outputs=("runningMean", "runningVar", "output", "saveMean", "saveInvstd"),
    updates=("runningMean", "runningVar"),
    workspace=True,
)
kernel("BatchNormBackward", _batch_norm_backward, workspace=True)
kernel("GroupNorm", _group_norm, workspace=True)

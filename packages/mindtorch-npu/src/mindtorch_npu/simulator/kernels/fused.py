"""What transformers are made of: dropout, root mean square norm, gated units, rotary positions."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch_npu.simulator.kernels import kernel
from mindtorch_npu.simulator.kernels.random import stream
from mindtorch_npu.simulator.typing import Array

BITS = 128


def _kept(count: int, prob: float, seed: int, offset: int) -> Any:
    """Return which elements are kept, as bits, the first element in the lowest one; a multiple of 128 of them."""
    kept = np.zeros((count + BITS - 1) // BITS * BITS, bool)
    kept[:count] = stream(seed, offset).random(count, np.float32) >= prob
    return np.packbits(kept, bitorder="little")


def _masked(x: Array, mask: Array, scale: float) -> Any:
    kept = np.unpackbits(mask.reshape(-1), bitorder="little")[: x.size].reshape(x.shape)
    return np.where(kept == 1, x * x.dtype.type(scale), x.dtype.type(0))


def _scale(prob: float) -> float:
    return 0.0 if prob == 1 else 1.0 / (1.0 - prob)


def _dropout(x: Array, prob: float, train: bool, seed: int, offset: int) -> tuple[Any, Any]:
    mask = _kept(x.size, prob if train else 0.0, seed, offset)
    return _masked(x, mask, _scale(prob) if train else 1.0), mask


def _rms_norm(x: Array, gamma: Array, epsilon: float) -> tuple[Any, Any]:
    axes = tuple(range(x.ndim - gamma.ndim, x.ndim))
    rstd = 1 / np.sqrt((x * x).mean(axes, keepdims=True, dtype=np.float32) + np.float32(epsilon))
    return x * rstd * gamma, rstd


def _rms_norm_grad(dy: Array, x: Array, rstd: Array, gamma: Array) -> tuple[Any, Any]:
    axes, outer = tuple(range(x.ndim - gamma.ndim, x.ndim)), tuple(range(x.ndim - gamma.ndim))
    standard, weighted = x * rstd, dy * gamma
    return (weighted - standard * (weighted * standard).mean(axes, keepdims=True)) * rstd, (dy * standard).sum(outer)


def _add_rms_norm(x1: Array, x2: Array, gamma: Array, epsilon: float) -> tuple[Any, Any, Any]:
    total = x1 + x2
    return (*_rms_norm(total, gamma, epsilon), total)


def _swiglu(x: Array, dim: int) -> Any:
    first, second = np.split(x, 2, dim)
    return first / (1 + np.exp(-first)) * second


def _swiglu_grad(grad: Array, x: Array, dim: int) -> Any:
    first, second = np.split(x, 2, dim)
    chance = 1 / (1 + np.exp(-first))
    return np.concatenate([grad * second * chance * (1 + first * (1 - chance)), grad * first * chance], dim)


def _turned(x: Array, mode: int, sign: int) -> Any:
    if mode == 0:
        first, second = np.split(x, 2, -1)
        return np.concatenate([-sign * second, sign * first], -1)
    made = np.empty_like(x)
    made[..., ::2], made[..., 1::2] = -sign * x[..., 1::2], sign * x[..., ::2]
    return made


def _rotary(x: Array, cos: Array, sin: Array, mode: int) -> Any:
    return x * cos + _turned(x, mode, 1) * sin


def _rotary_grad(dy: Array, cos: Array, sin: Array, x: Array | None, mode: int) -> tuple[Any, Any, Any]:
    dx = dy * cos + _turned(dy * sin, mode, -1)
    if x is None:  # without it these two are not computed
        return dx, np.zeros_like(cos), np.zeros_like(sin)
    axes = tuple(axis for axis, (n, c) in enumerate(zip(x.shape, cos.shape, strict=True)) if c == 1 != n)
    return dx, (dy * x).sum(axes, keepdims=True), (dy * _turned(x, mode, 1)).sum(axes, keepdims=True)


def _grouped(*given: Any) -> Any:
    (x,), (weight,), ends, (_, kind, listed, _) = given[0], given[1], given[8], given[12:16]
    ends = np.cumsum(ends) if listed == 1 else ends
    parts = [slice(begin, end) for begin, end in zip([0, *ends], ends, strict=False)]
    if kind == 2:
        return ([np.stack([x[:, part] @ weight[part] for part in parts])],)
    out = np.zeros((x.shape[0], weight.shape[2]), x.dtype)
    for part, matrix in zip(parts, weight, strict=True):
        out[part] = x[part] @ matrix
    return ([out],)


kernel("GroupedMatmulV4", _grouped, outputs=("out",), workspace=True)
kernel("Dropout", _dropout, workspace=True)
kernel("DropoutBackward", _masked)
kernel("DropoutDoMask", lambda x, mask, prob: _masked(x, mask, _scale(prob)))
kernel("DropoutGenMask", lambda shape, prob, seed, offset: _kept(int(np.prod(shape)), prob, seed, offset))
kernel(
    "DropoutGenMaskV2Tensor",
    lambda shape, prob, seed, first, offset, dtype: _kept(
        int(np.prod(shape)), prob, int(seed.item()), int(first.item()) + offset
    ),
)
kernel("RmsNorm", _rms_norm, outputs=("yOut", "rstdOut"))
kernel("RmsNormGrad", _rms_norm_grad, outputs=("dxOut", "dgammaOut"), workspace=True)
kernel("AddRmsNorm", _add_rms_norm, outputs=("yOut", "rstdOut", "xOut"))
kernel("SwiGlu", _swiglu)
kernel("SwiGluGrad", _swiglu_grad)
kernel("RotaryPositionEmbedding", _rotary)
kernel("RotaryPositionEmbeddingGrad", _rotary_grad, outputs=("dxOut", "dcosOut", "dsinOut"), workspace=True)

"""Activations and softmax, with their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch_npu.simulator.kernels import kernel
from mindtorch_npu.simulator.kernels._special import special
from mindtorch_npu.simulator.typing import Array

_erf, _expit = special("erf"), special("expit")
_ROOT, _SLOPE = np.sqrt(2.0), np.sqrt(2.0 / np.pi)


def _like(x: Array, value: float) -> Any:
    return x.dtype.type(value)


def _gelu(x: Array, approximate: int) -> Any:
    half = _like(x, 0.5)
    if approximate:
        return half * x * (1 + np.tanh(_like(x, _SLOPE) * (x + _like(x, 0.044715) * x * x * x)))
    return half * x * (1 + _erf(x / _like(x, _ROOT)))


def _gelu_backward(grad: Array, x: Array, approximate: str) -> Any:
    half = _like(x, 0.5)
    if approximate == "tanh":
        inner = _like(x, _SLOPE) * (x + _like(x, 0.044715) * x * x * x)
        bent = np.tanh(inner)
        slope = _like(x, _SLOPE) * (1 + _like(x, 3 * 0.044715) * x * x)
        return grad * (half * (1 + bent) + half * x * (1 - bent * bent) * slope)
    return grad * (half * (1 + _erf(x / _like(x, _ROOT))) + x * np.exp(-half * x * x) / _like(x, np.sqrt(2 * np.pi)))


def _softmax(x: Array, dim: int) -> Any:
    if x.ndim == 0:
        return np.ones((), x.dtype)
    raised = np.exp(x - x.max(dim, keepdims=True))
    return raised / raised.sum(dim, keepdims=True)


def _log_softmax(x: Array, dim: int) -> Any:
    if x.ndim == 0:
        return np.zeros((), x.dtype)
    centred = x - x.max(dim, keepdims=True)
    return centred - np.log(np.exp(centred).sum(dim, keepdims=True))


def _axis(x: Array, dim: int) -> int | None:
    return dim if x.ndim else None


def _elu_backward(grad: Array, alpha: float, scale: float, input_scale: float, is_result: bool, x: Array) -> Any:
    negative = (x + alpha * scale) * input_scale if is_result else input_scale * alpha * scale * np.exp(x * input_scale)
    return grad * np.where(x <= 0, negative, scale)


def _softplus(x: Array, beta: float, threshold: float) -> Any:
    return np.where(x * beta > threshold, x, np.log1p(np.exp(np.minimum(x * beta, threshold))) / beta)


def _softplus_backward(grad: Array, x: Array, beta: float, threshold: float) -> Any:
    return np.where(x * beta > threshold, grad, grad * _expit(x * beta))


def _shrunk(x: Array, lambd: float) -> Any:
    return np.where(x > lambd, x - lambd, np.where(x < -lambd, x + lambd, x * 0))


def _halves(x: Array, dim: int) -> Any:
    return np.split(x, 2, dim)


def _glu_backward(grad: Array, x: Array, dim: int) -> Any:
    one, other = _halves(x, dim)
    gate = _expit(other)
    return np.concatenate([grad * gate, grad * one * gate * (1 - gate)], dim)


def _mish_backward(grad: Array, x: Array) -> Any:
    bent, gate = np.tanh(np.logaddexp(0, x)), _expit(x)
    return grad * (bent + x * (1 - bent * bent) * gate)


kernel("Relu", lambda x: np.maximum(x, 0))
kernel("GeluV2", _gelu)
kernel("GeluBackwardV2", _gelu_backward)
kernel("Gelu", lambda x: _gelu(x, 1))
kernel("GeluBackward", lambda grad, x, y: _gelu_backward(grad, x, "tanh"))
kernel("Silu", lambda x: x * _expit(x))
kernel("SiluBackward", lambda grad, x: grad * _expit(x) * (1 + x * (1 - _expit(x))))
kernel("SigmoidBackward", lambda grad, y: grad * y * (1 - y))
kernel("TanhBackward", lambda grad, y: grad * (1 - y * y))
kernel("LeakyRelu", lambda x, slope: np.where(x > 0, x, x * _like(x, slope)))
kernel("LeakyReluBackward", lambda grad, x, slope, is_result: np.where(x > 0, grad, grad * _like(grad, slope)))
kernel("Elu", lambda x, alpha, scale, inner: np.where(x > 0, x * scale, np.expm1(x * inner) * alpha * scale))
kernel("EluBackward", _elu_backward)
kernel("Mish", lambda x: x * np.tanh(np.logaddexp(0, x)))
kernel("MishBackward", _mish_backward)
kernel("Softplus", _softplus)
kernel("SoftplusBackward", _softplus_backward)
kernel("Softshrink", _shrunk)
kernel("SoftshrinkBackward", lambda grad, x, lambd: np.where(np.abs(x) <= lambd, 0, grad))
kernel("Hardshrink", lambda x, lambd: np.where(np.abs(x) <= lambd, 0, x))
kernel("HardshrinkBackward", lambda grad, x, lambd: np.where(np.abs(x) <= lambd, 0, grad))
kernel("Hardsigmoid", lambda x: np.clip(x + 3, 0, 6) / 6)
kernel("HardsigmoidBackward", lambda grad, x: np.where((x > -3) & (x < 3), grad / 6, 0))
kernel("Hardswish", lambda x: x * np.clip(x + 3, 0, 6) / 6)
kernel("HardswishBackward", lambda grad, x: grad * np.where(x <= -3, 0, np.where(x < 3, x / 3 + 0.5, 1)))
kernel("Hardtanh", lambda x, low, high: np.clip(x, _like(x, low), _like(x, high)))
kernel("HardtanhBackward", lambda grad, x, low, high: np.where((x > low) & (x < high), grad, 0))
kernel("Threshold", lambda x, threshold, value: np.where(x <= threshold, _like(x, value), x))
kernel("ThresholdBackward", lambda grad, x, threshold: np.where(x <= threshold, 0, grad))
kernel("LogSigmoidForward", lambda x: (np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x))), None))
kernel("LogSigmoidBackward", lambda grad, x, buffer: grad * _expit(-x), outputs=("gradInput",))
kernel("Glu", lambda x, dim: _halves(x, dim)[0] * _expit(_halves(x, dim)[1]))
kernel("GluBackward", _glu_backward)
kernel("Softmax", _softmax, workspace=True)
kernel("LogSoftmax", _log_softmax, workspace=True)
kernel(
    "SoftmaxBackward", lambda grad, y, dim: y * (grad - (grad * y).sum(_axis(y, dim), keepdims=True)), workspace=True
)
kernel(
    "LogSoftmaxBackward",
    lambda grad, y, dim: grad - np.exp(y) * grad.sum(_axis(y, dim), keepdims=True),
    workspace=True,
)


def _prelu_weight(x: Array, weight: Array) -> Any:
    return weight if weight.ndim == x.ndim else weight.reshape([-1 if axis == 1 else 1 for axis in range(x.ndim)])


def _prelu_backward(grad: Array, x: Array, weight: Array) -> tuple[Any, Any]:
    factor = np.broadcast_to(_prelu_weight(x, weight), x.shape)
    return np.where(x > 0, grad, grad * factor), np.where(x > 0, 0, grad * x)


kernel("Prelu", lambda x, weight: np.where(x > 0, x, x * _prelu_weight(x, weight)))
kernel("PreluBackward", _prelu_backward)

"""Activations and their gradients. Temporaries are reused; every function is one or a few passes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..lazy import special
from ..number import number_of
from ..register import kernel, numbers

_SQRT_HALF = math.sqrt(0.5)
_GELU_BETA = math.sqrt(2.0 / math.pi)
_GELU_KAPPA = 0.044715
_SIXTH = float(np.float32(1) / np.float32(6))  # of single precision for every dtype, as in torch


@kernel("relu")
def relu(out: Any, self: Any) -> None:
    """`max(self, 0)`."""
    np.maximum(self, 0, out=out)


@kernel("gelu")
def gelu(out: Any, self: Any, approximate: str) -> None:
    """`x * Phi(x)`, exactly or by tanh."""
    if approximate == "tanh":
        work = np.asarray(np.multiply(self, self))
        work *= _GELU_KAPPA
        work += 1
        work *= self
        work *= _GELU_BETA
        np.tanh(work, out=work)
    else:
        work = np.asarray(np.multiply(self, self.dtype.type(_SQRT_HALF)))
        special.erf(work, out=work)
    work += 1
    work *= self
    np.multiply(work, 0.5, out=out)


@kernel("gelu_backward")
def gelu_backward(out: Any, grad: Any, self: Any, approximate: str) -> None:
    """Gradient of `gelu`."""
    if approximate == "tanh":
        inner = _GELU_BETA * (self + _GELU_KAPPA * self * self * self)
        bounded = np.tanh(inner)
        slope = _GELU_BETA * (1 + 3 * _GELU_KAPPA * self * self)
        np.multiply(grad, 0.5 * (1 + bounded) + 0.5 * self * (1 - bounded * bounded) * slope, out)
        return
    normal = np.asarray(np.multiply(self, self.dtype.type(_SQRT_HALF)))
    special.erf(normal, out=normal)
    normal += 1
    normal *= 0.5
    density = np.asarray(np.multiply(self, self))
    density *= -0.5
    np.exp(density, out=density)
    density *= self.dtype.type(1 / math.sqrt(2 * math.pi))
    density *= self
    density += normal
    np.multiply(grad, density, out)


def _sigmoid(x: Any) -> Any:
    work = np.asarray(np.negative(x))  # a 0-d operand gives a scalar, which out= refuses
    with np.errstate(over="ignore"):
        np.exp(work, out=work)
    work += 1
    return np.reciprocal(work, out=work)


@kernel("silu")
def silu(out: Any, self: Any) -> None:
    """`x * sigmoid(x)`."""
    np.multiply(self, _sigmoid(self), out)


@kernel("silu_backward")
def silu_backward(out: Any, grad: Any, self: Any) -> None:
    """Gradient of `silu`."""
    gate = _sigmoid(self)
    np.multiply(grad, gate * (1 + self * (1 - gate)), out)


@kernel("mish")
def mish(out: Any, self: Any) -> None:
    """`x * tanh(softplus(x))`."""
    np.multiply(self, np.tanh(np.logaddexp(self, self.dtype.type(0))), out)


@kernel("mish_backward")
def mish_backward(out: Any, grad: Any, self: Any) -> None:
    """Gradient of `mish`."""
    bounded = np.tanh(np.logaddexp(self, self.dtype.type(0)))
    np.multiply(grad, bounded + self * _sigmoid(self) * (1 - bounded * bounded), out)


@kernel("tanh_backward")
def tanh_backward(out: Any, grad: Any, output: Any) -> None:
    """`grad * (1 - output ** 2)`."""
    if output.dtype.kind == "c":
        np.multiply(grad, np.conj(1 - output * output), out)
        return
    work = np.asarray(np.multiply(output, output))
    np.subtract(1, work, out=work)
    np.multiply(grad, work, out)


@kernel("sigmoid_backward")
def sigmoid_backward(out: Any, grad: Any, output: Any) -> None:
    """`grad * (1 - output) * output`."""
    if output.dtype.kind == "c":
        np.multiply(grad, np.conj((1 - output) * output), out)
        return
    work = np.subtract(1, output)
    work *= output
    np.multiply(grad, work, out)


@kernel("logit_backward")
def logit_backward(out: Any, grad: Any, self: Any, eps: float | None) -> None:
    """Gradient of `logit`."""
    low, high = (0.0, 1.0) if eps is None else (eps, 1 - eps)
    outside = (self < low) | (self > high)
    out[...] = np.where(outside, np.nan if eps is None else 0.0, grad / (self * (1 - self)))


@kernel("leaky_relu")
@numbers(1)
def leaky_relu(out: Any, self: Any, negative_slope: Any) -> None:
    """`x` or `slope * x`."""
    np.copyto(out, np.where(self > 0, self, self * negative_slope))


@kernel("leaky_relu_backward")
@numbers(2)
def leaky_relu_backward(out: Any, grad: Any, self: Any, negative_slope: Any, self_is_result: bool) -> None:
    """Gradient of `leaky_relu`."""
    np.copyto(out, np.where(self > 0, grad, grad * negative_slope))


@kernel("elu")
@numbers(1, 2, 3)
def elu(out: Any, self: Any, alpha: Any, scale: Any, input_scale: Any) -> None:
    """`scale * x`, or `scale * alpha * (exp(x * input_scale) - 1)` below zero."""
    with np.errstate(over="ignore"):
        below = np.expm1(self * input_scale) * (alpha * scale)
    np.copyto(out, np.where(self < 0, below, self * scale), casting="same_kind")


@kernel("elu_backward")
@numbers(1, 2, 3)
def elu_backward(
    out: Any, grad: Any, alpha: Any, scale: Any, input_scale: Any, is_result: bool, self_or_result: Any
) -> None:
    """Gradient of `elu`, from its input or its result."""
    x = self_or_result
    with np.errstate(over="ignore"):
        if is_result:
            below = grad * input_scale * (x + alpha * scale)
        else:
            below = grad * (input_scale * alpha * scale) * np.exp(x * input_scale)
    np.copyto(out, np.where(x <= 0, below, grad * scale), casting="same_kind")


@kernel("hardtanh")
def hardtanh(out: Any, self: Any, min_val: Any, max_val: Any) -> None:
    """Values kept between two bounds."""
    low, high = number_of(min_val, self.dtype), number_of(max_val, self.dtype)
    np.minimum(np.maximum(self, low), high, out=out)


@kernel("hardtanh_backward")
@numbers(2, 3)
def hardtanh_backward(out: Any, grad: Any, self: Any, min_val: Any, max_val: Any) -> None:
    """Gradient of `hardtanh`."""
    np.copyto(out, np.where((self <= min_val) | (self >= max_val), 0, grad))


@kernel("hardswish")
def hardswish(out: Any, self: Any) -> None:
    """`x * relu6(x + 3) / 6`."""
    np.multiply(self, np.clip(self + 3, 0, 6) / self.dtype.type(6), out)


@kernel("hardswish_backward")
def hardswish_backward(out: Any, grad: Any, self: Any) -> None:
    """Gradient of `hardswish`."""
    np.copyto(out, np.where(self <= -3, 0, np.where(self < 3, grad * (self / 3 + self.dtype.type(0.5)), grad)))


@kernel("hardsigmoid")
def hardsigmoid(out: Any, self: Any) -> None:
    """`relu6(x + 3) / 6`."""
    np.true_divide(np.clip(self + 3, 0, 6), 6, out)


@kernel("hardsigmoid_backward")
def hardsigmoid_backward(out: Any, grad: Any, self: Any) -> None:
    """Gradient of `hardsigmoid`."""
    np.copyto(out, np.where((self > -3) & (self < 3), grad * grad.dtype.type(_SIXTH), 0))


@kernel("softplus")
@numbers(1, 2)
def softplus(out: Any, self: Any, beta: Any, threshold: Any) -> None:
    """`log(1 + exp(beta x)) / beta`, `x` itself above the threshold."""
    scaled = self * beta
    with np.errstate(over="ignore"):
        smooth = np.log1p(np.exp(scaled)) / beta
    np.copyto(out, np.where(scaled > threshold, self, smooth), casting="same_kind")


@kernel("softplus_backward")
@numbers(2, 3)
def softplus_backward(out: Any, grad: Any, self: Any, beta: Any, threshold: Any) -> None:
    """Gradient of `softplus`."""
    scaled = self * beta
    np.copyto(out, np.where(scaled > threshold, grad, grad * _sigmoid(scaled)), casting="same_kind")


@kernel("softshrink")
def softshrink(out: Any, self: Any, lambd: Any) -> None:
    """`x` moved towards zero by lambda."""
    np.copyto(
        out, np.where(self > lambd, self - lambd, np.where(self < -lambd, self + lambd, self * 0)), casting="same_kind"
    )


@kernel("hardshrink")
@numbers(1)
def hardshrink(out: Any, self: Any, lambd: Any) -> None:
    """Zero within lambda of zero."""
    np.copyto(out, np.where((self >= -lambd) & (self <= lambd), 0, self))


@kernel("softshrink_backward", "hardshrink_backward")
@numbers(2)
def shrink_backward(out: Any, grad: Any, self: Any, lambd: Any) -> None:
    """Gradient of the shrink functions."""
    np.copyto(out, np.where((self >= -lambd) & (self <= lambd), 0, grad))


@kernel("threshold")
@numbers(1, 2)
def threshold_(out: Any, self: Any, threshold: Any, value: Any) -> None:
    """`x` above the threshold, a value elsewhere."""
    np.copyto(out, np.where(self <= threshold, value, self))


@kernel("threshold_backward")
@numbers(2)
def threshold_backward(out: Any, grad: Any, self: Any, threshold: Any) -> None:
    """Gradient of `threshold` and `relu`: that of nan passes."""
    below = np.less_equal(self, threshold)
    np.copyto(out, grad, casting="same_kind")
    np.copyto(out, 0, where=below)


@kernel("log_sigmoid_forward")
def log_sigmoid_forward(outs: Any, self: Any) -> None:
    """`min(x, 0) - log1p(exp(-|x|))`."""
    np.subtract(np.minimum(self, 0), np.log1p(np.exp(-np.abs(self))), outs[0])


@kernel("log_sigmoid_backward")
def log_sigmoid_backward(out: Any, grad: Any, self: Any, buffer: Any) -> None:
    """Gradient of `log_sigmoid`."""
    np.multiply(grad, _sigmoid(-self), out)


@kernel("_prelu_kernel")
def prelu(out: Any, self: Any, weight: Any) -> None:
    """`x` or `weight * x`."""
    np.copyto(out, np.where(self > 0, self, weight * self))


@kernel("_prelu_kernel_backward")
def prelu_backward(outs: Any, grad: Any, self: Any, weight: Any) -> None:
    """Gradients of `_prelu_kernel`."""
    np.copyto(outs[0], np.where(self > 0, grad, weight * grad))
    np.copyto(outs[1], np.where(self > 0, 0, self * grad))


def _halves(self: Any, dim: int) -> tuple[Any, Any]:
    first, second = np.split(self, 2, axis=dim)
    return first, second


@kernel("glu")
def glu(out: Any, self: Any, dim: int) -> None:
    """The first half times the sigmoid of the second."""
    first, second = _halves(self, dim)
    np.multiply(first, _sigmoid(second), out)


@kernel("glu_backward")
def glu_backward(out: Any, grad: Any, self: Any, dim: int) -> None:
    """Gradient of `glu`."""
    first, second = _halves(self, dim)
    gate = _sigmoid(second)
    np.concatenate((grad * gate, grad * first * gate * (1 - gate)), axis=dim, out=out)

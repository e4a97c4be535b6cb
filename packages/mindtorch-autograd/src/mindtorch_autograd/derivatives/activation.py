"""Activations and their gradients."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.typing import Scalar, Tensor

from ..derivative import derivative, joint
from .numbers import conj
from .pointwise import masked


def tanh_backward_output(grad: Tensor, grad_output: Tensor, output: Tensor) -> Any:
    """Second derivative of tanh."""
    return conj(grad) * grad_output * conj(-2 * output)


def gelu_second(grad: Tensor, grad_output: Tensor, self: Tensor, approximate: str) -> Any:
    """Second derivative of gelu."""
    if approximate == "tanh":
        beta, kappa = math.sqrt(2 / math.pi), 0.044715
        inner = beta * (self + kappa * self**3)
        slope = beta * (1 + 3 * kappa * self * self)
        curve = beta * 6 * kappa * self
        bounded = aten.tanh(inner)
        sech = 1 - bounded * bounded
        second = sech * slope + 0.5 * self * sech * (curve - 2 * bounded * slope * slope)
        return grad * grad_output * second
    density = aten.exp(-0.5 * self * self) / math.sqrt(2 * math.pi)
    return grad * grad_output * density * (2 - self * self)


def silu_second(grad: Tensor, grad_output: Tensor, self: Tensor) -> Any:
    """Second derivative of silu."""
    gate = aten.sigmoid(self)
    first = gate * (1 - gate)
    return grad * grad_output * first * (2 + self * (1 - 2 * gate))


def softplus_second(grad: Tensor, grad_output: Tensor, self: Tensor, beta: Scalar, threshold: Scalar) -> Any:
    """Second derivative of softplus."""
    gate = aten.sigmoid(self * beta)
    return masked(grad * grad_output * beta * gate * (1 - gate), aten.le(self * beta, threshold))


def elu_second(
    grad: Tensor,
    grad_output: Tensor,
    self_or_result: Tensor,
    alpha: Scalar,
    scale: Scalar,
    input_scale: Scalar,
    is_result: bool,
) -> Any:
    """Second derivative of elu."""
    negative = aten.le(self_or_result, 0)
    if is_result:
        return masked(grad * grad_output * input_scale, negative)
    curve = (input_scale * input_scale * alpha * scale) * aten.exp(self_or_result * input_scale)
    return masked(grad * grad_output * curve, negative)


derivative("relu", self=lambda grad, result: aten.threshold_backward(grad, result, 0))


def elu_of_result(grad: Tensor, result: Tensor, alpha: Scalar, scale: Scalar, input_scale: Scalar) -> Any:
    """Gradient of `elu_`, which wrote its result over the input."""
    return aten.elu_backward(grad, alpha, scale, input_scale, True, result)


def leaky_relu_of_result(grad: Tensor, result: Tensor, negative_slope: Scalar) -> Any:
    """Gradient of `leaky_relu_`, which wrote its result over the input."""
    return aten.leaky_relu_backward(grad, result, negative_slope, True)


derivative("gelu", self=lambda grad, self, approximate: aten.gelu_backward(grad, self, approximate=approximate))
derivative(
    "gelu_backward",
    grad_output=lambda grad, self, approximate: aten.gelu_backward(grad, self, approximate=approximate),
    self=gelu_second,
)
derivative("silu", self=lambda grad, self: aten.silu_backward(grad, self))
derivative("silu_backward", grad_output=lambda grad, self: aten.silu_backward(grad, self), self=silu_second)
derivative("mish", self=lambda grad, self: aten.mish_backward(grad, self))
derivative(
    "tanh_backward",
    grad_output=lambda grad, output: aten.tanh_backward(grad, conj(output)),
    output=tanh_backward_output,
)
derivative(
    "sigmoid_backward",
    grad_output=lambda grad, output: aten.sigmoid_backward(grad, conj(output)),
    output=lambda grad, grad_output, output: conj(grad) * grad_output * conj(1 - 2 * output),
)
derivative(
    "leaky_relu", self=lambda grad, self, negative_slope: aten.leaky_relu_backward(grad, self, negative_slope, False)
)
derivative(
    "leaky_relu_",
    self=leaky_relu_of_result,
    node="LeakyReluBackward1",
)
derivative(
    "leaky_relu_backward",
    grad_output=lambda grad, self, negative_slope: aten.leaky_relu_backward(grad, self, negative_slope, False),
    self=lambda grad: aten.zeros_like(grad),
)
derivative(
    "elu",
    self=lambda grad, self, alpha, scale, input_scale: aten.elu_backward(grad, alpha, scale, input_scale, False, self),
)
derivative(
    "elu_",
    self=elu_of_result,
    node="EluBackward1",
)
derivative(
    "elu_backward",
    grad_output=lambda grad, alpha, scale, input_scale, is_result, self_or_result: aten.elu_backward(
        grad, alpha, scale, input_scale, is_result, self_or_result
    ),
    self_or_result=elu_second,
)
derivative("hardtanh", self=lambda grad, self, min_val, max_val: aten.hardtanh_backward(grad, self, min_val, max_val))
derivative(
    "hardtanh_backward",
    grad_output=lambda grad, self, min_val, max_val: aten.hardtanh_backward(grad, self, min_val, max_val),
    self=lambda grad: aten.zeros_like(grad),
)
derivative("hardswish", self=lambda grad, self: aten.hardswish_backward(grad, self))
derivative(
    "hardswish_backward",
    grad_output=lambda grad, self: aten.hardswish_backward(grad, self),
    self=lambda grad, grad_output, self: masked(
        grad * grad_output / 3, aten.logical_and(aten.gt(self, -3), aten.lt(self, 3))
    ),
)
derivative("hardsigmoid", self=lambda grad, self: aten.hardsigmoid_backward(grad, self))
derivative(
    "hardsigmoid_backward",
    grad_output=lambda grad, self: aten.hardsigmoid_backward(grad, self),
    self=lambda grad: aten.zeros_like(grad),
)
derivative("softplus", self=lambda grad, self, beta, threshold: aten.softplus_backward(grad, self, beta, threshold))
derivative(
    "softplus_backward",
    grad_output=lambda grad, self, beta, threshold: aten.softplus_backward(grad, self, beta, threshold),
    self=softplus_second,
)
derivative("softshrink", self=lambda grad, self, lambd: aten.softshrink_backward(grad, self, lambd))
derivative(
    "softshrink_backward",
    grad_output=lambda grad, self, lambd: aten.softshrink_backward(grad, self, lambd),
    self=lambda grad: aten.zeros_like(grad),
)
derivative("hardshrink", self=lambda grad, self, lambd: aten.hardshrink_backward(grad, self, lambd))
derivative(
    "hardshrink_backward",
    grad_out=lambda grad, self, lambd: aten.hardshrink_backward(grad, self, lambd),
    self=lambda grad: aten.zeros_like(grad),
)
derivative("threshold", self=lambda grad, self, threshold: aten.threshold_backward(grad, self, threshold))
derivative(
    "threshold_backward",
    grad_output=lambda grad, self, threshold: aten.threshold_backward(grad, self, threshold),
    self=lambda grad: aten.zeros_like(grad),
)
derivative(
    "log_sigmoid_forward",
    self=lambda grad, self, result1: aten.log_sigmoid_backward(grad, self, result1),
    node="LogSigmoidBackward0",
    outputs=(0,),
)
derivative(
    "log_sigmoid_backward",
    grad_output=lambda grad, self, buffer: aten.log_sigmoid_backward(grad, self, buffer),
    self=lambda grad, grad_output, self: grad * grad_output * -(aten.sigmoid(self) * (1 - aten.sigmoid(self))),
)


@joint("self", "weight")
def prelu_grads(grad: Tensor, self: Tensor, weight: Tensor) -> Any:
    """Gradients of both inputs; the weight's is summed to its shape by the engine."""
    return aten._prelu_kernel_backward(grad, self, weight)


derivative("_prelu_kernel", prelu_grads, node="PreluKernelBackward0")
derivative("glu", self=lambda grad, self, dim: aten.glu_backward(grad, self, dim))


def mish_second(grad: Tensor, grad_output: Tensor, self: Tensor) -> Any:
    """Second derivative of mish."""
    gate = aten.sigmoid(self)
    bent = aten.tanh(aten.softplus(self))
    return grad * grad_output * (1 - bent * bent) * gate * (2 + self * (1 - gate) - 2 * self * bent * gate)


def glu_second(grad: Tensor, grad_output: Tensor, self: Tensor, dim: int) -> Any:
    """What `glu_backward` passes on to the input of `glu`."""
    first, second = aten.chunk(self, 2, dim)
    to_first, to_second = aten.chunk(grad, 2, dim)
    gate = aten.sigmoid(second)
    slope = gate * (1 - gate)
    for_first = grad_output * to_second * slope
    for_second = grad_output * (to_first * slope + to_second * first * slope * (1 - 2 * gate))
    return aten.cat([for_first, for_second], dim)


def glu_again(grad: Tensor, self: Tensor, dim: int) -> Any:
    """What `glu_backward` passes on to its incoming gradient."""
    first, second = aten.chunk(self, 2, dim)
    to_first, to_second = aten.chunk(grad, 2, dim)
    gate = aten.sigmoid(second)
    return to_first * gate + to_second * first * gate * (1 - gate)


@joint("grad_output", "self", "weight")
def prelu_second(grads: Sequence[Tensor], grad_output: Tensor, self: Tensor, weight: Tensor) -> Any:
    """Gradients of `_prelu_kernel_backward`."""
    positive = aten.gt(self, 0)
    to_self, to_weight = (0.0 if each is None else each for each in grads)
    for_grad = aten.where(positive, to_self, to_self * weight + to_weight * self)
    return (
        for_grad,
        aten.where(positive, 0.0, to_weight * grad_output),
        aten.where(positive, 0.0, to_self * grad_output),
    )


derivative("mish_backward", grad_output=lambda grad, self: aten.mish_backward(grad, self), self=mish_second)
derivative("glu_backward", grad_output=glu_again, self=glu_second)
derivative("_prelu_kernel_backward", prelu_second)

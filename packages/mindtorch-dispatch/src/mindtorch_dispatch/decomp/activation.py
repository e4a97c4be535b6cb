"""Activations composed of other ops."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch_storage.dtype import float32, float64

from ..call import aten
from ..meta.checks import check
from ..meta.support import FLOATS, require, require_floating
from ..typing import Scalar, Tensor, TensorOrScalar

SELU_ALPHA = 1.6732632423543772848170429916717
SELU_SCALE = 1.0507009873554804934193349852946


def selu(self: Tensor) -> Any:
    """`elu` with the self-normalising constants."""
    return aten.elu(self, SELU_ALPHA, SELU_SCALE)


def celu(self: Tensor, alpha: Scalar) -> Any:
    """`elu` that is smooth for every alpha."""
    check(alpha != 0, lambda: "ZeroDivisionError: alpha cannot be 0 for CELU")
    return aten.elu(self, alpha, 1.0, 1.0 / alpha)


def relu6(self: Tensor) -> Any:
    """`hardtanh` between 0 and 6."""
    return aten.hardtanh(self, 0, 6)


def log_sigmoid(self: Tensor) -> Any:
    """`log(sigmoid(self))`."""
    return aten.log_sigmoid_forward(self)[0]


def prelu(self: Tensor, weight: Tensor) -> Any:
    """`leaky_relu` with learned slopes, one or one per channel."""
    check(
        self.dtype is weight.dtype,
        lambda: f"prelu: Type promoting not supported. Got {self.dtype.scalar_name} and {weight.dtype.scalar_name}",
    )
    if weight.numel() != 1:
        check(len(self.shape) > 0, lambda: "Not allow zero-dim input tensor.")
        channels = self.shape[1] if len(self.shape) >= 2 else 1
        check(
            channels == weight.numel(),
            lambda: (
                f"Mismatch of parameter numbers and input channel size. Found parameter numbers = {weight.numel()} and "
                f"channel size = {channels}."
            ),
        )
    check(
        len(weight.shape) <= 1,
        lambda: f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {len(weight.shape)}",
    )
    if len(self.shape) >= 2:
        weight = aten.reshape(weight, [-1 if place == 1 else 1 for place in range(len(self.shape))])
    elif not self.shape:
        weight = aten.reshape(weight, [])
    return aten._prelu_kernel(self, weight)


def relu6_(self: Tensor) -> Any:
    """`relu6` in place."""
    return aten.hardtanh_(self, 0, 6)


def selu_(self: Tensor) -> Any:
    """`selu` in place."""
    return aten.elu_(self, SELU_ALPHA, SELU_SCALE)


def celu_(self: Tensor, alpha: Scalar) -> Any:
    """`celu` in place."""
    check(alpha != 0, lambda: "ZeroDivisionError: alpha cannot be 0 for CELU")
    return aten.elu_(self, alpha, 1.0, 1.0 / alpha)


def _slopes(self: Tensor, lower: TensorOrScalar, upper: TensorOrScalar, generator: object) -> Any:
    """Return a slope per element: drawn where the element is not positive, in order, and one elsewhere."""
    if self.is_meta:
        return aten.empty_like(self)
    negative = aten.reshape(aten.le(self, 0), [-1])
    drawn = aten.empty([int(aten.sum(negative).item())], dtype=float64, device=self.device).uniform_(
        lower, upper, generator=generator
    )
    slopes = aten.index_put(
        aten.ones(list(negative.shape), dtype=self.dtype, device=self.device), [negative], drawn.to(self.dtype)
    )
    return aten.reshape(slopes, list(self.shape))


_DRAWN = FLOATS - {"float16"}


def _check_rrelu(self: Tensor, lower: Any, upper: Any, training: bool) -> None:
    check(lower <= upper, lambda: "Lower bound should be less than or equal to the upper bound")
    if training:
        require(self.dtype.name in _DRAWN, self, "rrelu_with_noise_out_cpu")
    else:
        require_floating(self, "leaky_relu_cpu")


def rrelu(self: Tensor, lower: Scalar, upper: Scalar, training: bool, generator: object | None) -> Any:
    """`leaky_relu` with drawn slopes in training, with their mean otherwise."""
    for name, bound in (("lower", lower), ("upper", upper)):
        check(np.isfinite(bound), lambda name=name, bound=bound: f"rrelu: {name} bound must be finite, got {bound}")
    _check_rrelu(self, lower, upper, training)
    if training:
        return aten.mul(self, _slopes(self.detach(), lower, upper, generator))
    return aten.leaky_relu(self, (lower + upper) / 2)


def rrelu_(self: Tensor, lower: Scalar, upper: Scalar, training: bool, generator: object | None) -> Any:
    """`rrelu` in place."""
    _check_rrelu(self, lower, upper, training)
    if training:
        return aten.mul_(self, _slopes(self.detach(), lower, upper, generator))
    return aten.leaky_relu_(self, (lower + upper) / 2)


def add_relu(self: Tensor, other: TensorOrScalar, alpha: Scalar = 1) -> Any:
    """`add`, and nothing below zero; torch's loop ends at the largest number, too, which infinity becomes."""
    added = aten.add(self, other, alpha=alpha)
    if added.dtype in (float32, float64):
        return aten.clamp(added, 0, float(np.finfo(added.dtype.np).max))
    return aten.relu(added)

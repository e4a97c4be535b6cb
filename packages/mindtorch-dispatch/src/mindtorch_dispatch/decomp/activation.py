"""Activations composed of other ops."""

from __future__ import annotations

from typing import Any

from ..call import aten
from ..meta.checks import check

SELU_ALPHA = 1.6732632423543772848170429916717
SELU_SCALE = 1.0507009873554804934193349852946


def selu(self: Any) -> Any:
    """`elu` with the self-normalising constants."""
    return aten.elu(self, SELU_ALPHA, SELU_SCALE)


def celu(self: Any, alpha: Any) -> Any:
    """`elu` that is smooth for every alpha."""
    check(alpha != 0, lambda: "ZeroDivisionError: alpha cannot be 0 for CELU")
    return aten.elu(self, alpha, 1.0, 1.0 / alpha)


def relu6(self: Any) -> Any:
    """`hardtanh` between 0 and 6."""
    return aten.hardtanh(self, 0, 6)


def log_sigmoid(self: Any) -> Any:
    """`log(sigmoid(self))`."""
    return aten.log_sigmoid_forward(self)[0]


def prelu(self: Any, weight: Any) -> Any:
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
            lambda: f"Mismatch of parameter numbers and input channel size. Found parameter numbers = {weight.numel()} and "
            f"channel size = {channels}.",
        )
    check(
        len(weight.shape) <= 1,
        lambda: f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {len(weight.shape)}",
    )
    if len(self.shape) >= 2:
        weight = aten.reshape(weight, [-1 if place == 1 else 1 for place in range(len(self.shape))])
    return aten._prelu_kernel(self, weight)

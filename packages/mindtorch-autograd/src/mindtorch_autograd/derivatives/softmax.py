"""Softmax and sums of exponentials."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.typing import Tensor
from mindtorch_storage.dtype import bool as boolean
from mindtorch_storage.finfo import finfo

from ..derivative import derivative
from .numbers import conj
from .reduce import restored


def softmax_twice(grad: Tensor, grad_output: Tensor, dim: int, output: Tensor) -> Any:
    """Gradient of `_softmax_backward_data` with respect to the softmax."""
    weighted = aten.sum(output * grad_output, [dim], True)
    return grad_output * grad - weighted * grad - grad_output * aten.sum(output * grad, [dim], True)


def logcumsumexp_backward(grad: Tensor, self: Tensor, result: Tensor, dim: int) -> Any:
    """Running sums from the other end, positive and negative gradients apart because they are summed as logarithms."""
    if not self.shape:
        return grad

    def from_end(value: object) -> Any:
        return aten.flip(aten.logcumsumexp(aten.flip(value, [dim]), dim), [dim])

    if grad._wraps or (grad.requires_grad and bool(aten.any(aten.eq(grad, 0)))):  # a batch cannot be asked
        return _logcumsumexp_backward_of_zeros(grad, self, result, dim)
    if grad.dtype.is_complex:
        return conj(aten.exp(from_end(aten.log(conj(grad)) - result) + self))
    least = finfo(grad.dtype).min
    size = aten.log(aten.abs(grad))
    positive = aten.where(aten.gt(grad, 0), size, least)
    negative = aten.where(aten.lt(grad, 0), size, least)
    return aten.exp(from_end(positive - result) + self) - aten.exp(from_end(negative - result) + self)


def _logcumsumexp_backward_of_zeros(grad: Tensor, self: Tensor, result: Tensor, dim: int) -> Any:
    """As `logcumsumexp_backward`, but differentiable where the gradient is zero, which logarithms are not.

    Every pair of positions is weighted, so it takes the square of the extent in memory.
    """
    given, values, totals = (aten.movedim(one, dim, -1) for one in (grad, self, result))
    exponents = aten.unsqueeze(values, -1) - aten.unsqueeze(totals, -2)
    before = aten.tril(aten.ones(list(exponents.shape)[-2:], dtype=boolean, device=exponents.device), -1)
    weights = aten.exp(aten.masked_fill(exponents, before, -inf))
    return aten.movedim(aten.sum(aten.unsqueeze(given, -2) * conj(weights), [-1]), -1, dim)


def logsumexp_backward(grad: Tensor, self: Tensor, result: Tensor, dim: Sequence[int], keepdim: bool) -> Any:
    """The gradient times the softmax; where the result is infinite, the elements that equal it share."""
    spec = self._sig.spec
    grad, total = restored(grad, spec, dim, keepdim), restored(result, spec, dim, keepdim)
    share = aten.exp(self - total)
    return grad * conj(share)


derivative(
    "_softmax",
    self=lambda grad, result, dim, self_spec: aten._softmax_backward_data(grad, result, dim, self_spec.dtype),
)
derivative(
    "_safe_softmax",
    self=lambda grad, result, dim, self_spec: aten._softmax_backward_data(grad, result, dim, self_spec.dtype),
)
derivative(
    "_log_softmax",
    self=lambda grad, result, dim, self_spec: aten._log_softmax_backward_data(grad, result, dim, self_spec.dtype),
)
derivative(
    "_softmax_backward_data",
    grad_output=lambda grad, output, dim, input_dtype: aten._softmax_backward_data(grad, output, dim, input_dtype),
    output=lambda grad, grad_output, output, dim: softmax_twice(grad, grad_output, dim, output),
)
derivative(
    "_log_softmax_backward_data",
    grad_output=lambda grad, output, dim: grad - aten.sum(grad * aten.exp(output), [dim], True),
    output=lambda grad, grad_output, output, dim: -aten.sum(grad_output, [dim], True) * aten.exp(output) * grad,
)
derivative("logsumexp", self=logsumexp_backward)
derivative("logcumsumexp", self=logcumsumexp_backward)
derivative(
    "_masked_softmax",
    self=lambda grad, result, mask, dim: aten._masked_softmax_backward(grad, result, mask, dim),
)

"""Softmax and sums of exponentials, in the output's memory: no temporary of the input's size."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..register import kernel
from .pointwise import complex_logaddexp


def _shifted(out: Any, self: Any, dim: int) -> Any:
    """Write `self` less its maximum along `dim` into `out`; return the axis, None for a tensor without dimensions."""
    axis = dim if self.ndim else None
    np.subtract(self, np.maximum.reduce(self, axis=axis, keepdims=True), out)
    return axis


@kernel("_softmax")
@np.errstate(invalid="ignore")
def softmax(out: Any, self: Any, dim: int, half_to_float: bool) -> None:
    """Exponentials as shares of their sum."""
    if out.size == 0:
        return
    axis = _shifted(out, self, dim)
    np.exp(out, out)
    np.divide(out, np.add.reduce(out, axis=axis, keepdims=True), out)


@kernel("_safe_softmax")
@np.errstate(invalid="ignore")
def safe_softmax(out: Any, self: Any, dim: int, dtype: Any) -> None:
    """As `_softmax`, but zeros where everything is -inf."""
    softmax(out, self, dim, False)
    if out.size:
        masked = np.logical_and.reduce(np.isneginf(self), axis=dim if self.ndim else None, keepdims=True)
        if masked.any():
            np.copyto(out, 0, where=masked)


@kernel("_log_softmax")
@np.errstate(invalid="ignore")
def log_softmax(out: Any, self: Any, dim: int, half_to_float: bool) -> None:
    """Logarithm of the softmax."""
    if out.size == 0:
        return
    axis = _shifted(out, self, dim)
    np.subtract(out, np.log(np.add.reduce(np.exp(out), axis=axis, keepdims=True)), out)


@kernel("_softmax_backward_data")
def softmax_backward(out: Any, grad_output: Any, output: Any, dim: int, input_dtype: Any) -> None:
    """`output * (grad - sum(grad * output))`."""
    axis = dim if output.ndim else None
    weighted = np.multiply(grad_output, output)
    total = np.add.reduce(weighted, axis=axis, keepdims=True)
    np.subtract(weighted, np.multiply(output, total), out)


@kernel("_log_softmax_backward_data")
def log_softmax_backward(out: Any, grad_output: Any, output: Any, dim: int, input_dtype: Any) -> None:
    """`grad - exp(output) * sum(grad)`."""
    total = np.add.reduce(grad_output, axis=dim if output.ndim else None, keepdims=True)
    share = np.exp(output, np.empty_like(output))
    np.multiply(share, total, share)
    np.subtract(grad_output, share, out)


@kernel("logsumexp")
@np.errstate(invalid="ignore", divide="ignore")
def logsumexp(out: Any, self: Any, dims: tuple[int, ...], keepdim: bool) -> None:
    """Logarithm of the sum of exponentials."""
    if self.size == 0:
        out[...] = -np.inf
        return
    largest = np.max(self.real, axis=dims, keepdims=True)
    largest = np.where(np.isinf(largest), 0, largest).astype(self.dtype, copy=False)
    total = np.log(np.sum(np.exp(self - largest), axis=dims, keepdims=True))
    total += largest
    out[...] = total.reshape(out.shape)


@kernel("logcumsumexp")
@np.errstate(invalid="ignore", divide="ignore")
def logcumsumexp(out: Any, self: Any, dim: int) -> None:
    """Running logarithm of the sum of exponentials."""
    if out.size == 0 or self.ndim == 0:
        out[...] = self
        return
    if self.dtype.kind != "c":
        # As torch does, the running value is kept in float64.
        out[...] = np.logaddexp.accumulate(self, axis=dim, dtype=np.float64)
        return
    result, source = np.moveaxis(out, dim, 0), np.moveaxis(self, dim, 0)
    running: Any = np.asarray(complex(-np.inf, 0), self.dtype)
    for at in range(len(source)):
        result[at] = running = complex_logaddexp(source[at], running)

"""Normalization: one pass for the mean, one for the variance, the rest in the output's memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..reduced import widened
from ..register import kernel


def _standardize(x: Any, out: Any, eps: float) -> tuple[Any, Any]:
    """Write rows of `x`, less their mean and by their deviation, into `out`; return mean and 1 / deviation."""
    count = x.shape[1]
    mean = np.add.reduce(x, axis=1) / (count or 1)
    np.subtract(x, mean[:, None], out)
    rstd = np.einsum("ij,ij->i", out, out)
    rstd /= count
    rstd += eps
    np.sqrt(rstd, rstd)
    np.reciprocal(rstd, rstd)
    np.multiply(out, rstd[:, None], out)
    return mean, rstd


def _standardized(x: Any, mean: Any, rstd: Any) -> Any:
    found = np.subtract(x, mean[:, None])
    return np.multiply(found, rstd[:, None], found)


def _input_gradient(out: Any, weighted: Any, standard: Any, rstd: Any) -> None:
    """Write the gradient of the rows that were standardized; uses `standard` up."""
    count = weighted.shape[1]
    along = np.einsum("ij,ij->i", weighted, standard) / count
    np.multiply(standard, along[:, None], standard)
    standard += (np.add.reduce(weighted, axis=1) / count)[:, None]
    np.subtract(weighted, standard, out)
    np.multiply(out, rstd[:, None], out)


@kernel("native_layer_norm")
@np.errstate(invalid="ignore", divide="ignore")
def layer_norm(outs: Any, input: Any, normalized_shape: Any, weight: Any, bias: Any, eps: float) -> None:
    """Standardize the last dimensions, scale, shift."""
    out, mean, rstd = outs
    if mean.size == 0:
        return
    rows = out.reshape(mean.size, -1)
    means, scales = _standardize(input.reshape(rows.shape), rows, eps)
    mean.reshape(-1)[...], rstd.reshape(-1)[...] = means, scales
    if weight is not None:
        np.multiply(rows, weight.reshape(-1), rows)
    if bias is not None:
        np.add(rows, bias.reshape(-1), rows)


@kernel("native_layer_norm_backward")
def layer_norm_backward(
    outs: Any, grad_out: Any, input: Any, normalized_shape: Any, mean: Any, rstd: Any, weight: Any, bias: Any, mask: Any
) -> None:
    """Gradients of input, weight and bias."""
    shape = (mean.size, int(np.prod(normalized_shape)))
    grad, scale = grad_out.reshape(shape), rstd.reshape(-1)
    standard = _standardized(input.reshape(shape), mean.reshape(-1), scale)
    if outs[1] is not None:
        outs[1].reshape(-1)[...] = np.einsum("ij,ij->j", grad, standard)
    if outs[2] is not None:
        outs[2].reshape(-1)[...] = np.add.reduce(grad, axis=0)
    if outs[0] is not None and outs[0].size:
        weighted = grad if weight is None else np.multiply(grad, weight.reshape(-1))
        _input_gradient(outs[0].reshape(shape), weighted, standard, scale)


@kernel("native_group_norm")
@np.errstate(invalid="ignore", divide="ignore")
def group_norm(
    outs: Any, input: Any, weight: Any, bias: Any, count: int, channels: int, positions: int, group: int, eps: float
) -> None:
    """Standardize groups of channels, scale and shift channels."""
    out, mean, rstd = outs
    if out.size == 0:
        mean[...], rstd[...] = 0, np.nan
        return
    work = np.empty((count * group, channels // group * positions), out.dtype)
    means, scales = _standardize(input.reshape(work.shape), work, eps)
    mean.reshape(-1)[...], rstd.reshape(-1)[...] = means, scales
    work = work.reshape(count, channels, positions)
    if weight is not None:
        np.multiply(work, weight[:, None], work)
    if bias is not None:
        np.add(work, bias[:, None], work)
    out[...] = work.reshape(out.shape)


@kernel("native_group_norm_backward")
def group_norm_backward(
    outs: Any,
    grad_out: Any,
    input: Any,
    mean: Any,
    rstd: Any,
    weight: Any,
    count: int,
    channels: int,
    positions: int,
    group: int,
    mask: Any,
) -> None:
    """Gradients of input, weight and bias."""
    rows, channel_rows = (count * group, channels // group * positions), (count, channels, positions)
    scale = rstd.reshape(-1)
    standard = _standardized(input.reshape(rows), mean.reshape(-1), scale)
    grad = grad_out.reshape(channel_rows)
    if outs[1] is not None:
        outs[1][...] = np.einsum("ncp,ncp->c", grad, standard.reshape(channel_rows))
    if outs[2] is not None:
        outs[2][...] = np.add.reduce(grad, axis=(0, 2))
    if outs[0] is not None and outs[0].size:
        weighted = grad if weight is None else np.multiply(grad, weight[:, None])
        result = np.empty(rows, outs[0].dtype)
        _input_gradient(result, weighted.reshape(rows), standard, scale)
        outs[0][...] = result.reshape(outs[0].shape)


def _wide(array: Any) -> Any:
    """Return a reduced float array as float32, others as they are."""
    return array if array is None or array.dtype.itemsize >= 4 else array.astype(np.float32)


def _per_channel(values: Any, ndim: int) -> Any:
    return values.reshape((1, -1) + (1,) * (ndim - 2))


# Not upcast by the framework: running statistics are written, so the arrays themselves must arrive.
@kernel("native_batch_norm", upcast=False)
@np.errstate(invalid="ignore", divide="ignore")
def batch_norm(
    outs: Any,
    input: Any,
    weight: Any,
    bias: Any,
    running_mean: Any,
    running_var: Any,
    training: bool,
    momentum: float,
    eps: float,
) -> None:
    """Standardize channels, scale, shift; in training, move the running statistics."""
    out, save_mean, save_invstd = outs
    x, axes = _wide(input), (0, *range(2, input.ndim))
    if training:
        count = x.size // x.shape[1]
        mean = np.add.reduce(x, axis=axes, dtype=np.float64) / count
        centred = x - _per_channel(mean.astype(x.dtype), x.ndim)
        squares = np.add.reduce(np.multiply(centred, centred), axis=axes, dtype=np.float64)
        invstd = 1.0 / np.sqrt(squares / count + eps)
        save_mean[...], save_invstd[...] = mean, invstd
        for running, new in (
            (running_mean, mean),
            (running_var, squares / (count - 1) if count > 1 else squares / 0.0),
        ):
            if running is not None:
                running[...] = momentum * new + (1 - momentum) * running.astype(np.float64)
    else:
        centred = x - _per_channel(_wide(running_mean).astype(x.dtype), x.ndim)
        invstd = 1.0 / np.sqrt(running_var.astype(np.float64) + eps)
    factor = invstd if weight is None else invstd * weight.astype(np.float64)
    np.multiply(centred, _per_channel(factor.astype(x.dtype), x.ndim), centred)
    if bias is not None:
        np.add(centred, _per_channel(_wide(bias), x.ndim), centred)
    out[...] = centred


@kernel("native_batch_norm_backward")
def batch_norm_backward(
    outs: Any,
    grad_out: Any,
    input: Any,
    weight: Any,
    running_mean: Any,
    running_var: Any,
    save_mean: Any,
    save_invstd: Any,
    train: bool,
    eps: float,
    mask: Any,
) -> None:
    """Gradients of input, weight and bias."""
    axes, ndim, count = (0, *range(2, input.ndim)), input.ndim, input.size // input.shape[1]
    mean = save_mean if train else running_mean
    invstd = save_invstd if train else 1.0 / np.sqrt(running_var + eps)
    standard = np.subtract(input, _per_channel(mean, ndim))
    np.multiply(standard, _per_channel(invstd, ndim), standard)
    along = np.add.reduce(np.multiply(grad_out, standard), axis=axes)
    total = np.add.reduce(grad_out, axis=axes)
    if outs[1] is not None:
        outs[1][...] = along
    if outs[2] is not None:
        outs[2][...] = total
    if outs[0] is None:
        return
    factor = _per_channel(invstd if weight is None else invstd * weight, ndim)
    if not train:
        np.multiply(grad_out, factor, outs[0])
        return
    np.multiply(standard, _per_channel(along / count, ndim), standard)
    standard += _per_channel(total / count, ndim)
    np.subtract(grad_out, standard, standard)
    np.multiply(standard, factor, outs[0])


@kernel("renorm", upcast=False)
def renorm(out: Any, self: Any, p: float, dim: int, maxnorm: float) -> None:
    """Scale what is longer than `maxnorm`; factors of halves are halves, as in torch."""
    axes = tuple(axis for axis in range(self.ndim) if axis != dim)
    wide = widened(self)
    size = np.abs(wide)
    norm = (
        np.max(size, axis=axes, keepdims=True) if p == np.inf else np.sum(size**p, axis=axes, keepdims=True) ** (1 / p)
    )
    factor = np.where(norm > maxnorm, maxnorm / (norm + 1e-7), 1.0).astype(norm.dtype)
    if wide is not self:
        factor = widened(factor.astype(self.dtype))
    out[...] = wide * factor

"""Reductions, scans and orders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindtorch_npu.simulator.kernels import kernel
from mindtorch_npu.simulator.typing import Array


def _axes(x: Array, dims: Sequence[int]) -> tuple[int, ...]:
    return tuple(range(x.ndim)) if not dims else tuple(dim % x.ndim if x.ndim else 0 for dim in dims)[: x.ndim or 0]


def _over(fn: Callable[..., Any]) -> Any:
    return lambda x, dims, keep, *rest: fn(x, axis=_axes(x, dims), keepdims=keep)


def _at(fn: Callable[..., Any]) -> Any:
    def call(x: Array, dim: int, keep: bool) -> Any:
        if x.ndim == 0:
            return x, np.zeros((), np.int64)
        places = fn(x, axis=dim)
        values = np.take_along_axis(x, np.expand_dims(places, dim), dim)
        return (values, np.expand_dims(places, dim)) if keep else (values.squeeze(dim), places)

    return call


def _arg(fn: Callable[..., Any]) -> Any:
    return lambda x, dim, keep: fn(x, axis=dim, keepdims=keep) if x.ndim else np.zeros((), np.int64)


def _variance(x: Array, dims: Sequence[int], correction: float, keep: bool) -> Any:
    axes = _axes(x, dims)
    count = int(np.prod([x.shape[axis] for axis in axes]))
    centred = x - x.mean(axes, keepdims=True)
    return (centred * centred).sum(axes, keepdims=keep) / max(0, count - correction)


def _norm(x: Array, order: float, dims: Sequence[int], keep: bool, dtype: int = 0) -> Any:
    axes, size = _axes(x, dims), np.abs(x)
    if order == np.inf:
        return size.max(axes, keepdims=keep)
    if order == -np.inf:
        return size.min(axes, keepdims=keep)
    if order == 0:
        return (size != 0).sum(axes, keepdims=keep)
    if order == 2:
        return np.sqrt((size * size).sum(axes, keepdims=keep))
    return (size**order).sum(axes, keepdims=keep) ** (1 / order)


def _logsumexp(x: Array, dims: Sequence[int], keep: bool) -> Any:
    axes = _axes(x, dims)
    high = x.max(axes, keepdims=True)
    high = np.where(np.isfinite(high), high, 0)
    total = np.log(np.exp(x - high).sum(axes, keepdims=True)) + high
    return total if keep else total.squeeze(axes)


def _sort(x: Array, stable: bool, dim: int, descending: bool) -> Any:
    if x.ndim == 0:
        return x, np.zeros((), np.int64)
    keys = np.flip(x, dim) if descending else x
    order = np.argsort(keys, dim, kind="stable")
    if descending:  # equal elements keep their order, the largest first
        order = np.flip(x.shape[dim] - 1 - order, dim)
    return np.take_along_axis(x, order, dim), order


def _topk(x: Array, k: int, dim: int, largest: bool, ordered: bool) -> Any:
    if not ordered:
        raise ValueError("Topk: sorted must be true")
    values, places = _sort(x, True, dim, largest)
    if x.ndim == 0:
        return values, places
    cut = (slice(None),) * (dim % x.ndim) + (slice(0, k),)
    return values[cut], places[cut]


def _running(fn: Any) -> Any:
    def call(x: Any, dim: int) -> Any:
        if x.ndim == 0:
            return x, np.zeros((), np.int64)
        best = fn.accumulate(x, dim)
        index = np.arange(x.shape[dim]).reshape([-1 if axis == dim % x.ndim else 1 for axis in range(x.ndim)])
        return best, np.maximum.accumulate(np.where(x == best, index, 0), dim)

    return call


def _wide_sum(x: Array) -> Any:
    return np.int64 if x.dtype.kind in "iub" else None


def _median(x: Array, dim: int, keep: bool) -> Any:
    if x.ndim == 0:
        return x, np.zeros((), np.int64)
    order = np.argsort(x, dim, kind="stable")
    place = np.take(order, [(x.shape[dim] - 1) // 2], dim)
    value = np.take_along_axis(x, place, dim)
    return (value, place) if keep else (value.squeeze(dim), place.squeeze(dim))


kernel("ReduceSum", lambda x, d, keep, t: x.sum(_axes(x, d), dtype=_wide_sum(x), keepdims=keep), workspace=True)
kernel("ReduceNansum", lambda x, d, keep, t: np.nansum(x, _axes(x, d), keepdims=keep), workspace=True)
kernel("Mean", lambda x, d, keep, t: x.mean(_axes(x, d), keepdims=keep), workspace=True)
kernel("Prod", lambda x, t: x.prod(dtype=_wide_sum(x)), workspace=True)
kernel(
    "ProdDim", lambda x, d, keep, t: x.prod(d if x.ndim else None, dtype=_wide_sum(x), keepdims=keep), workspace=True
)
kernel("Amax", _over(np.max), workspace=True)
kernel("Amin", _over(np.min), workspace=True)
kernel("Any", _over(np.any), workspace=True)
kernel("All", _over(np.all), workspace=True)
kernel("Max", np.max, workspace=True)
kernel("Min", np.min, workspace=True)
kernel("MaxDim", _at(np.argmax), workspace=True)
kernel("MinDim", _at(np.argmin), workspace=True)
kernel("Aminmax", lambda x, d, keep: (_over(np.min)(x, d, keep), _over(np.max)(x, d, keep)), workspace=True)
kernel("ArgMax", _arg(np.argmax), workspace=True)
kernel("ArgMin", _arg(np.argmin), workspace=True)
kernel("Var", lambda x, d, unbiased, keep: _variance(x, d, int(unbiased), keep), workspace=True)
kernel("VarCorrection", _variance, workspace=True)
kernel("Std", lambda x, d, correction, keep: np.sqrt(_variance(x, d, correction, keep)), workspace=True)
kernel("VarMean", lambda x, d, c, keep: (_variance(x, d, c, keep), x.mean(_axes(x, d), keepdims=keep)), workspace=True)
kernel(
    "StdMeanCorrection",
    lambda x, d, c, keep: (np.sqrt(_variance(x, d, c, keep)), x.mean(_axes(x, d), keepdims=keep)),
    workspace=True,
)
kernel("LinalgVectorNorm", _norm, workspace=True)
kernel("Norm", _norm, workspace=True)
kernel("LogSumExp", _logsumexp, workspace=True)
kernel("MedianDim", _median, workspace=True)
kernel("Median", lambda x: np.sort(x, None)[(x.size - 1) // 2], workspace=True)
kernel("Cumsum", lambda x, dim, t: np.cumsum(x, dim, dtype=_wide_sum(x)) if x.ndim else x)
kernel("Cumprod", lambda x, dim, t: np.cumprod(x, dim, dtype=_wide_sum(x)) if x.ndim else x)
kernel("Cummax", _running(np.maximum))
kernel("Cummin", _running(np.minimum))
kernel("Sort", _sort, workspace=True)
kernel("Argsort", lambda x, dim, descending: _sort(x, True, dim, descending)[1], workspace=True)
kernel("Topk", _topk, workspace=True)
kernel("Trace", np.trace)

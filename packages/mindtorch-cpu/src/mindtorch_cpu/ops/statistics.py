"""Variance and order statistics."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from mindtorch_dispatch.frames import frames_to_caller

from ..many_dimensions import take_along_axis
from ..register import kernel
from .reduce import total
from .sort import ordered

# numpy's stubs have no overload for `axis` and `out` given by place.
_reduce_add: Callable[..., Any] = np.add.reduce


def _moments(name: str, self: Any, dims: tuple[int, ...], correction: float) -> tuple[Any, Any]:
    """Return variance and mean with the reduced dims kept: the mean first, then the squared distances from it."""
    count = math.prod(self.shape[dim] for dim in dims)
    size = math.prod(extent for dim, extent in enumerate(self.shape) if dim not in dims)
    if size and count - correction <= 0:
        warnings.warn(
            f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor "
            "(input "
            "numel divided by output numel).",
            UserWarning,
            stacklevel=frames_to_caller(),
        )
    variance, mean = _in_own_type(self, dims, count, correction)
    if self.dtype in _WIDER and not np.isfinite(variance).all():  # squares beyond a float32 may have a float32's root
        return _in_own_type(self.astype(_WIDER[self.dtype]), dims, count, correction)
    return variance, mean


_WIDER = {np.dtype(np.float32): np.float64}


def _in_own_type(self: Any, dims: tuple[int, ...], count: int, correction: float) -> tuple[Any, Any]:
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        mean = np.true_divide(total(self, dims, self.dtype, True), self.dtype.type(count))
        distance = np.asarray(np.subtract(self, mean))
        if self.dtype.kind == "c":
            squares = distance.real**2 + distance.imag**2
        else:
            squares = np.multiply(distance, distance, out=distance)
        summed = total(squares, dims, squares.dtype, True)
        return np.true_divide(summed, squares.dtype.type(max(0.0, count - correction))), mean


def _spread(name: str, out: Any, self: Any, dims: tuple[int, ...], correction: float) -> None:
    variance, _ = _moments(name, self, dims, correction)
    with np.errstate(over="ignore"):
        out[...] = (np.sqrt(variance) if name == "std" else variance).reshape(out.shape)


@kernel("var.correction")
def var(out: Any, self: Any, dims: tuple[int, ...], correction: float, keepdim: bool) -> None:
    """Variance."""
    _spread("var", out, self, dims, correction)


@kernel("std.correction")
def std(out: Any, self: Any, dims: tuple[int, ...], correction: float, keepdim: bool) -> None:
    """Standard deviation."""
    _spread("std", out, self, dims, correction)


@kernel("var_mean.correction")
def var_mean(outs: tuple[Any, Any], self: Any, dims: tuple[int, ...], correction: float, keepdim: bool) -> None:
    """Variance and mean."""
    variance, mean = _moments("var_mean", self, dims, correction)
    with np.errstate(over="ignore"):
        outs[0][...] = variance.reshape(outs[0].shape)
        outs[1][...] = mean.reshape(outs[1].shape)


@kernel("std_mean.correction")
def std_mean(outs: tuple[Any, Any], self: Any, dims: tuple[int, ...], correction: float, keepdim: bool) -> None:
    """Standard deviation and mean."""
    variance, mean = _moments("std_mean", self, dims, correction)
    with np.errstate(over="ignore"):
        outs[0][...] = np.sqrt(variance).reshape(outs[0].shape)
        outs[1][...] = mean.reshape(outs[1].shape)


def _rows(self: Any, dims: tuple[int, ...]) -> Any:
    """Return `self` with the reduced dim last; a 0-d operand has one element."""
    return np.moveaxis(self, dims[0], -1) if dims else self.reshape(1)


def _store(outs: tuple[Any, Any], rows: Any, places: Any, dims: tuple[int, ...]) -> None:
    values = take_along_axis(rows, places, -1)
    for out, found in zip(outs, (values, places), strict=True):
        if dims:
            found = np.moveaxis(found, -1, dims[0])
        out[...] = found.reshape(out.shape)


def _median_places(rows: Any, skip_nan: bool) -> Any:
    _, order = ordered(rows, -1)
    extent = rows.shape[-1]
    middle = np.full((*rows.shape[:-1], 1), (extent - 1) // 2)
    if rows.dtype.kind == "f":
        missing = np.isnan(rows)
        count = _reduce_add(missing, -1, np.int64, None, True)
        middle = np.maximum(extent - count - 1, 0) // 2 if skip_nan else np.where(count > 0, extent - count, middle)
    return take_along_axis(order, middle, -1)


def _median_dim(outs: tuple[Any, Any], self: Any, dims: tuple[int, ...], skip_nan: bool) -> None:
    rows = _rows(self, dims)
    _store(outs, rows, _median_places(rows, skip_nan), dims)


kernel("median.dim")(lambda outs, self, dims, keepdim: _median_dim(outs, self, dims, False))
kernel("nanmedian.dim")(lambda outs, self, dims, keepdim: _median_dim(outs, self, dims, True))


def _median_all(out: Any, self: Any, skip_nan: bool) -> None:
    flat = self.reshape(-1)
    if flat.size == 0:
        # What C makes of nan: the lowest of 32 and 64 bits, whose last bits are zeros.
        out.fill(np.nan if out.dtype.kind in "fcb" else 0 if out.itemsize < 4 else np.iinfo(out.dtype).min)
        return
    out[...] = flat[_median_places(flat, skip_nan)[0]]


kernel("median")(lambda out, self: _median_all(out, self, False))
kernel("nanmedian")(lambda out, self: _median_all(out, self, True))


@kernel("kthvalue")
def kthvalue(outs: tuple[Any, Any], self: Any, k: int, dims: tuple[int, ...], keepdim: bool) -> None:
    """The k-th smallest along a dim and its index."""
    rows = _rows(self, dims)
    _store(outs, rows, ordered(rows, -1)[1][..., k - 1 : k], dims)


@kernel("mode")
def mode(outs: tuple[Any, Any], self: Any, dims: tuple[int, ...], keepdim: bool) -> None:
    """The most frequent value along a dim, the smallest of them, and the index of its last occurrence."""
    rows = _rows(self, dims)
    values, order = ordered(rows, -1)
    extent = rows.shape[-1]
    starts = np.ones(rows.shape, np.bool_)
    starts[..., 1:] = values[..., 1:] != values[..., :-1]
    begin = np.maximum.accumulate(np.where(starts, np.arange(extent), 0), -1)
    length = np.arange(extent) - begin + 1
    last = np.argmax(length, -1, keepdims=True)
    _store(outs, rows, take_along_axis(order, last, -1), dims)

"""Reductions: `fn(out, self, dims, keepdim)` with dims normalised and `self` in the computation's dtype."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mindtorch_dispatch.table import kernels

from ..register import kernel

# numpy's stubs have no overload for `axis` and `out` given by place.
_reduce_add: Callable[..., Any] = np.add.reduce
_reduce_bitwise_xor: Callable[..., Any] = np.bitwise_xor.reduce
_reduce_logical_and: Callable[..., Any] = np.logical_and.reduce
_reduce_logical_or: Callable[..., Any] = np.logical_or.reduce
_reduce_maximum: Callable[..., Any] = np.maximum.reduce
_reduce_minimum: Callable[..., Any] = np.minimum.reduce
_reduce_multiply: Callable[..., Any] = np.multiply.reduce

_PAIRWISE_LIMIT = 1024
"""Up to how many float32 terms may be added one after the other; numpy adds pairwise along the last axis only."""
_BLOCK = 32
"""How many rows are added one after the other where rows are added in blocks."""


def total(self: Any, dims: tuple[int, ...], dtype: Any, keepdim: bool, out: Any = None) -> Any:
    """Return the sum of `self` over `dims`, in `out` when given. Long sums of single precision keep their digits."""
    if dtype in (np.float32, np.complex64) and dims and self.dtype == dtype:
        inner = _innermost(self, dims)
        outer = [dim for dim in dims if dim not in inner]
        if math.prod(self.shape[dim] for dim in outer) > _PAIRWISE_LIMIT:
            if inner:
                self = _reduce_add(self, inner, dtype, None, True)
            return _stored(_long_sum(self, dims, keepdim), dtype, out)
    return _reduce_add(self, dims, dtype, out, keepdim)


def _stored(values: Any, dtype: Any, out: Any) -> Any:
    if out is None:
        return np.asarray(values).astype(dtype, copy=False)
    out[...] = values
    return out


def _innermost(self: Any, dims: tuple[int, ...]) -> tuple[int, ...]:
    """Return those of `dims` that lie together at the end, along which numpy adds pairwise."""
    if not self.flags.c_contiguous:
        return ()
    first = self.ndim
    while first > 0 and first - 1 in dims:
        first -= 1
    return tuple(range(first, self.ndim))


def _long_sum(self: Any, dims: tuple[int, ...], keepdim: bool) -> Any:
    count = math.prod(self.shape[dim] for dim in dims)
    leading = tuple(range(len(dims)))
    if tuple(sorted(dims)) != leading or not self.flags.c_contiguous:
        return _reduce_add(self, dims, np.result_type(self.dtype, np.float64), None, keepdim)
    rows = self.reshape(count, -1)
    while rows.shape[0] > _BLOCK:
        whole = rows.shape[0] // _BLOCK * _BLOCK
        summed = _reduce_add(rows[:whole].reshape(whole // _BLOCK, _BLOCK, -1), 1)
        summed[-1] += _reduce_add(rows[whole:], 0)
        rows = summed
    found = _reduce_add(rows, 0)
    return found.reshape((1,) * (len(dims) if keepdim else 0) + self.shape[len(dims) :])


@kernel("sum", "sum.dim_IntList")
def sum_(out: Any, self: Any, dims: tuple[int, ...], keepdim: bool) -> None:
    """Sums."""
    total(self, dims, out.dtype, keepdim, out)


@kernel("mean", "mean.dim")
def mean(out: Any, self: Any, dims: tuple[int, ...], keepdim: bool) -> None:
    """Sums over counts; nan over no elements."""
    sum_(out, self, dims, keepdim)
    np.true_divide(out, out.dtype.type(math.prod(self.shape[dim] for dim in dims)), out)


@kernel("prod", "prod.dim_int")
def prod(out: Any, self: Any, dims: tuple[int, ...], keepdim: bool) -> None:
    """Products."""
    _reduce_multiply(self, dims, out.dtype, out, keepdim)


@kernel("nansum")
def nansum(out: Any, self: Any, dims: tuple[int, ...], keepdim: bool) -> None:
    """Sums of what is not nan."""
    if self.dtype.kind == "f":
        self = np.where(np.isnan(self), self.dtype.type(0), self)
    sum_(out, self, dims, keepdim)


def _truth(self: Any) -> Any:
    if self.dtype.names:  # complex32, which numpy has as two halves
        return (self["real"] != 0) | (self["imag"] != 0)
    return self if self.dtype == np.bool_ else self != 0


@kernel("all", "all.dims", "all.dim", upcast=False)
def all_(out: Any, self: Any, dims: tuple[int, ...], keepdim: bool) -> None:
    """True where every element is."""
    out[...] = _reduce_logical_and(_truth(self), dims, keepdims=keepdim)


@kernel("any", "any.dims", "any.dim", upcast=False)
def any_(out: Any, self: Any, dims: tuple[int, ...], keepdim: bool) -> None:
    """True where some element is."""
    out[...] = _reduce_logical_or(_truth(self), dims, keepdims=keepdim)


@kernel("count_nonzero", "count_nonzero.dim_IntList", upcast=False)
def count_nonzero(out: Any, self: Any, dims: tuple[int, ...]) -> None:
    """How many elements are not zero."""
    _reduce_add(_truth(self), dims, np.int64, out)


def _magnitude(self: Any) -> Any:
    """Return the magnitudes that `abs` finds, bit for bit: a derivative looks for the element that equals its norm."""
    if self.dtype.kind != "c":
        return np.asarray(np.abs(self))
    found = np.empty(self.shape, self.real.dtype)
    kernels["cpu"]["hypot"].fn(found, self.real, self.imag)
    return found


@kernel("linalg_vector_norm")
def vector_norm(out: Any, self: Any, order: float, dims: tuple[int, ...], keepdim: bool) -> None:
    """Norms of any order over dims."""
    magnitude = _magnitude(self)
    if order != 0 and magnitude.size == out.size:
        np.copyto(out, magnitude.reshape(out.shape))  # of one element each: no power can overflow
    elif order == math.inf:
        _reduce_maximum(magnitude, dims, None, out, keepdim)
    elif order == -math.inf:
        _reduce_minimum(magnitude, dims, None, out, keepdim)
    elif order == 0:
        sum_(out, (magnitude != 0).astype(out.dtype), dims, keepdim)
    elif order == 1:
        sum_(out, magnitude, dims, keepdim)
    elif order == 2:
        sum_(out, np.multiply(magnitude, magnitude, out=magnitude), dims, keepdim)
        np.sqrt(out, out)
    else:
        sum_(out, np.power(magnitude, magnitude.dtype.type(order)), dims, keepdim)
        np.power(out, out.dtype.type(1.0 / order), out)


@kernel("dist")
def dist(out: Any, self: Any, other: Any, order: float, dims: tuple[int, ...]) -> None:
    """Norm of the difference."""
    difference = np.asarray(np.subtract(self, other))
    if difference.size == 0:
        out.fill(0)
        return
    vector_norm(out, difference, order, dims, False)


@kernel("hash_tensor", upcast=False)
def hash_tensor(out: Any, self: Any, dims: tuple[int, ...], keepdim: bool) -> None:
    """Exclusive or of the elements' bits as doubles, or of integers as they are."""
    exact = self.dtype.kind in "iub"
    words = self.astype(np.int64 if exact else np.float64).view(np.uint64)
    _reduce_bitwise_xor(words, dims, None, out, keepdim)

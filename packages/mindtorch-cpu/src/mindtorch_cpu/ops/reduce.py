"""Reductions: `fn(out, self, dims, keepdim)` with dims normalised and `self` in the computation's dtype."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..register import kernel

_PAIRWISE_LIMIT = 1024
"""Up to how many float32 terms may be added one after the other; numpy adds pairwise along the last axis only."""


def accumulator(self: Any, dims: tuple[int, ...]) -> Any:
    """Return the dtype in which to sum `self` over `dims`: wider than float32 where numpy would not add pairwise."""
    if self.dtype == np.float32 or self.dtype == np.complex64:
        count = math.prod(self.shape[dim] for dim in dims)
        if count > _PAIRWISE_LIMIT and not (self.flags.c_contiguous and self.ndim - 1 in dims):
            return np.result_type(self.dtype, np.float64)
    return self.dtype


@kernel("sum", "sum.dim_IntList")
def sum_(out: Any, self: Any, dims: tuple[int, ...], keepdim: bool) -> None:
    """Sums."""
    dtype = accumulator(self, dims)
    if dtype == out.dtype:
        np.add.reduce(self, dims, dtype, out, keepdim)
    else:
        out[...] = np.add.reduce(self, dims, dtype, None, keepdim)


@kernel("mean", "mean.dim")
def mean(out: Any, self: Any, dims: tuple[int, ...], keepdim: bool) -> None:
    """Sums over counts; nan over no elements."""
    sum_(out, self, dims, keepdim)
    np.true_divide(out, out.dtype.type(math.prod(self.shape[dim] for dim in dims)), out)


@kernel("prod", "prod.dim_int")
def prod(out: Any, self: Any, dims: tuple[int, ...], keepdim: bool) -> None:
    """Products."""
    np.multiply.reduce(self, dims, out.dtype, out, keepdim)


@kernel("nansum")
def nansum(out: Any, self: Any, dims: tuple[int, ...], keepdim: bool) -> None:
    """Sums of what is not nan."""
    if self.dtype.kind == "f":
        self = np.where(np.isnan(self), self.dtype.type(0), self)
    sum_(out, self, dims, keepdim)


def _truth(self: Any) -> Any:
    return self if self.dtype == np.bool_ else self != 0


@kernel("all", "all.dims", "all.dim", upcast=False)
def all_(out: Any, self: Any, dims: tuple[int, ...], keepdim: bool) -> None:
    """True where every element is."""
    out[...] = np.logical_and.reduce(_truth(self), dims, keepdims=keepdim)


@kernel("any", "any.dims", "any.dim", upcast=False)
def any_(out: Any, self: Any, dims: tuple[int, ...], keepdim: bool) -> None:
    """True where some element is."""
    out[...] = np.logical_or.reduce(_truth(self), dims, keepdims=keepdim)


@kernel("count_nonzero", "count_nonzero.dim_IntList", upcast=False)
def count_nonzero(out: Any, self: Any, dims: tuple[int, ...]) -> None:
    """How many elements are not zero."""
    np.add.reduce(_truth(self), dims, np.int64, out)


@kernel("linalg_vector_norm")
def vector_norm(out: Any, self: Any, order: float, dims: tuple[int, ...], keepdim: bool) -> None:
    """Norms of any order over dims."""
    magnitude = np.asarray(np.abs(self))
    if order == math.inf:
        np.maximum.reduce(magnitude, dims, None, out, keepdim)
    elif order == -math.inf:
        np.minimum.reduce(magnitude, dims, None, out, keepdim)
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

"""Diagonals and triangles of matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mindtorch
from mindtorch import Tensor
from mindtorch_storage.dtype import dtype as Dtype

from . import _util
from ._conversions import takes


def _triangle(name: str) -> Callable[..., Any]:
    @takes("m")
    def function(m: Tensor, k: int = 0) -> Any:
        return getattr(mindtorch, name)(m, k)

    return function


def _places_of_triangle(name: str) -> Callable[..., Any]:
    @takes()
    def function(n: int, k: int = 0, m: Tensor | None = None) -> Any:
        return tuple(getattr(mindtorch, name)(n, n if m is None else m, offset=k))

    return function


def _places_of_triangle_from(name: str) -> Callable[..., Any]:
    @takes("arr")
    def function(arr: Tensor, k: int = 0) -> Any:
        if arr.ndim != 2:
            raise ValueError("input array must be 2-d")
        return tuple(getattr(mindtorch, name)(arr.shape[0], arr.shape[1], offset=k))

    return function


tril, triu = _triangle("tril"), _triangle("triu")
tril_indices, triu_indices = map(_places_of_triangle, ("tril_indices", "triu_indices"))
tril_indices_from, triu_indices_from = map(_places_of_triangle_from, ("tril_indices", "triu_indices"))


@takes("a")
def diagonal(a: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """The elements of a diagonal."""
    return mindtorch.diagonal(a, offset, *(_util.normalize_axis_index(axis, a.ndim) for axis in (axis1, axis2)))


@takes("a")
def trace(
    a: Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Dtype | None = None, out: object = None
) -> Any:
    """The sum of a diagonal."""
    return mindtorch.diagonal(a, offset, dim1=axis1, dim2=axis2).sum(-1, dtype=dtype)


@takes("v")
def diag(v: Tensor, k: int = 0) -> Any:
    """The diagonal of a matrix, or the matrix of a diagonal."""
    return mindtorch.diag(v, k)


@takes("v")
def diagflat(v: Tensor, k: int = 0) -> Any:
    """The matrix of a diagonal."""
    return mindtorch.diagflat(v, k)


@takes()
def diag_indices(n: int, ndim: Any = 2) -> Any:
    """The places of the main diagonal, by axis."""
    return (mindtorch.arange(n),) * ndim


@takes("arr")
def diag_indices_from(arr: Tensor) -> Any:
    """The places of an array's main diagonal, by axis."""
    return _diagonal_of(arr)


def _diagonal_of(arr: Tensor) -> Any:
    if arr.ndim < 2:
        raise ValueError("input array must be at least 2-d")
    if len(set(arr.shape)) != 1:
        raise ValueError("All dimensions of input must be of equal length")
    return (mindtorch.arange(arr.shape[0]),) * arr.ndim


@takes("a val")
def fill_diagonal(a: Tensor, val: Any, wrap: bool = False) -> Any:
    """Write values to the main diagonal, and with `wrap` to those below it."""
    if a.ndim < 2:
        raise ValueError("array must be at least 2-d")
    if val.numel() == 0 and not wrap:
        return a.fill_diagonal_(val)
    val = val if val.ndim else val.reshape(1)
    if a.ndim > 2:
        a[_diagonal_of(a)] = val[: a.shape[0]]
        return a
    rows, columns = a.shape
    if not wrap or rows <= columns:
        line = a.diagonal()
        line.copy_(val[: line.numel()])
        return a
    places = mindtorch.arange(rows - rows // (columns + 1))
    row = places // columns * (columns + 1) + places % columns
    a[row, places % columns] = val[: places.numel()]
    return a

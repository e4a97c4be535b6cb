"""Norms and condition numbers of matrices, of vector norms and singular values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mindtorch_storage.dtype import dtype as Dtype

from ..call import aten
from ..meta.checks import check, shape_text, wrap_dims
from ..meta.matrices import check_inexact, check_matrix, check_norm_dtype, check_square
from ..typing import Scalar, Tensor


def _ord_text(ord: object) -> str:
    return f"{ord:g}" if isinstance(ord, (int, float)) else str(ord)


def _checked_dims(A: Tensor, dim: Any, dtype: Dtype | None, low_precision: bool) -> list[int]:
    check_matrix(A, "linalg.matrix_norm")
    check(len(dim) == 2, lambda: f"linalg.matrix_norm: dim must be a 2-tuple. Got {' '.join(map(str, dim))}")
    check_inexact(A, "linalg.matrix_norm", low_precision=low_precision)
    count = len(A.shape)
    first, second = (wrap_dims((one,), count)[0] for one in dim)
    check(first != second, lambda: f"linalg.matrix_norm: dims must be different. Got ({first}, {second})")
    check_norm_dtype(A.dtype, dtype, "linalg.matrix_norm")
    return [first, second]


def _values(A: Tensor, dims: list[int], dtype: Dtype | None) -> Any:
    """Return the singular values of the matrices in two dimensions, as a last dimension."""
    order = [dim for dim in range(len(A.shape)) if dim not in dims] + dims
    moved = aten.permute(A, order)
    return aten.linalg_svdvals(moved if dtype is None else aten._to_copy(moved, dtype=dtype))


def _kept(result: Tensor, dims: list[int], count: int) -> Any:
    """Put the reduced dimensions, which are the last two, back where they were."""
    order = [dim for dim in range(count) if dim not in dims] + dims
    inverse = [0] * count
    for place, dim in enumerate(order):
        inverse[dim] = place
    return aten.permute(aten.unsqueeze(result, -1), inverse)


def matrix_norm(A: Tensor, ord: Any, dim: Sequence[int], keepdim: bool, dtype: Dtype | None) -> Any:
    """`linalg_matrix_norm`: 1, 2, inf and their negatives."""
    check(
        not isinstance(ord, complex), lambda: "linalg.matrix_norm: Expected a non-complex scalar as the order of norm."
    )
    size = abs(ord) if isinstance(ord, (int, float)) else 0
    check(size in (1, 2, math.inf), lambda: f"linalg.matrix_norm: Order {_ord_text(ord)} not supported.")
    dims = _checked_dims(A, dim, dtype, size != 2)

    def extreme(values: Any, along: int) -> Any:
        if ord > 0 and values.shape[along] == 0:
            return aten.sum(values, [along], keepdim)
        return aten.amax(values, [along], keepdim) if ord > 0 else aten.amin(values, [along], keepdim)

    if size == 2:
        result = extreme(_values(A, dims, dtype), -1)
        return _kept(result, dims, len(A.shape)) if keepdim else result
    first, second = dims if size == 1 else dims[::-1]
    lengths = aten.linalg_vector_norm(A, 1.0, [first], keepdim, dtype=dtype)
    return extreme(lengths, second - 1 if not keepdim and first < second else second)


def matrix_norm_named(A: Tensor, ord: str, dim: Sequence[int], keepdim: bool, dtype: Dtype | None) -> Any:
    """`linalg_matrix_norm` with the order "fro" or "nuc"."""
    check(ord in ("fro", "nuc"), lambda: f"linalg.matrix_norm: Order {ord} not supported.")
    dims = _checked_dims(A, dim, dtype, ord != "nuc")
    if ord == "fro":
        return aten.linalg_vector_norm(A, 2.0, dims, keepdim, dtype=dtype)
    result = aten.sum(_values(A, dims, dtype), [-1], keepdim)
    return _kept(result, dims, len(A.shape)) if keepdim else result


def norm(X: Tensor, ord: Scalar | None, dim: Sequence[int] | None, keepdim: bool, dtype: Dtype | None) -> Any:
    """`linalg_norm`: of a matrix where two dimensions are meant, else of a vector."""
    count = len(X.shape)
    if dim is not None:
        check(
            len(dim) in (1, 2),
            lambda: f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {shape_text(dim)}",
        )
    elif ord is not None:
        check(
            count in (1, 2),
            lambda: f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {count}D.",
        )
    if ord is not None and (len(dim) == 2 if dim is not None else count == 2):
        return aten.linalg_matrix_norm(X, ord, [0, 1] if dim is None else dim, keepdim, dtype=dtype)
    return aten.linalg_vector_norm(X, 2 if ord is None else ord, dim, keepdim, dtype=dtype)


def norm_named(X: Tensor, ord: str, dim: Sequence[int] | None, keepdim: bool, dtype: Dtype | None) -> Any:
    """`linalg_norm` with the order "fro" or "nuc"."""
    if dim is not None:
        check(
            len(dim) in (1, 2),
            lambda: f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {shape_text(dim)}",
        )
    else:
        check(
            len(X.shape) in (1, 2),
            lambda: (
                f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {len(X.shape)}D."
            ),
        )
    return aten.linalg_matrix_norm(X, ord, [0, 1] if dim is None else dim, keepdim, dtype=dtype)


def nuclear_norm(self: Tensor, keepdim: bool) -> Any:
    """`nuclear_norm` of a matrix."""
    return aten.linalg_matrix_norm(self, "nuc", [-2, -1], keepdim)


def nuclear_norm_dim(self: Tensor, dim: Sequence[int], keepdim: bool) -> Any:
    """`nuclear_norm` over two dimensions."""
    return aten.linalg_matrix_norm(self, "nuc", dim, keepdim)


def frobenius_norm(self: Tensor, dim: Sequence[int], keepdim: bool) -> Any:
    """`frobenius_norm`."""
    check(len(dim) <= 2, lambda: f"Expected at most 2 dimensions, but got {len(dim)} dimensions instead.")
    return aten.linalg_vector_norm(self, 2.0, dim if len(dim) else None, keepdim)


def _with_inverse(self: Tensor, ord: object) -> Any:
    inverse, info = aten.linalg_inv_ex(self)
    failed = aten.gt(aten.unsqueeze(aten.unsqueeze(info, -1), -1), 0)
    inverse = aten.masked_fill(inverse, failed, math.inf)
    product = aten.mul(aten.linalg_matrix_norm(self, ord), aten.linalg_matrix_norm(inverse, ord))
    return aten.nan_to_num(product, math.inf, math.inf, -math.inf)


def _check_cond(self: Tensor) -> bool:
    check(len(self.shape) >= 2, lambda: "linalg.cond: The input tensor must have at least 2 dimensions.")
    return 0 in self.shape


def _empty_cond(self: Tensor) -> Any:
    return aten.zeros(tuple(self.shape[:-2]), dtype=self.dtype.to_real(), device=self.device)


def cond(self: Tensor, p: Scalar | None) -> Any:
    """`linalg_cond`."""
    if _check_cond(self):
        return _empty_cond(self)
    order = 2 if p is None else p
    if abs(order) == 2:
        values = aten.linalg_svdvals(self)
        largest, least = aten.narrow(values, -1, 0, 1), aten.narrow(values, -1, -1, 1)
        ratio = aten.div(least, largest) if order == -2 else aten.div(largest, least)
        return aten.squeeze(ratio, -1)
    check(abs(order) in (1, math.inf), lambda: f"linalg.cond got an invalid norm type: {_ord_text(order)}")
    text = f"{order:f}" if isinstance(order, float) else str(order)
    check_square(self, f"linalg.cond(ord={text})")
    return _with_inverse(self, order)


def cond_named(self: Tensor, p: str) -> Any:
    """`linalg_cond` in the norm "fro" or "nuc"."""
    check(p in ("fro", "nuc"), lambda: f"linalg.cond got an invalid norm type: {p}")
    empty = _check_cond(self)
    check_square(self, f"linalg.cond(ord={p})")
    if empty:
        return _empty_cond(self)
    if p == "nuc":
        values = aten.linalg_svdvals(self)
        return aten.mul(aten.sum(values, [-1]), aten.sum(aten.reciprocal(values), [-1]))
    return _with_inverse(self, p)

"""Products of matrices of which one is sparse, or both."""

from __future__ import annotations

from typing import Any

from mindtorch_storage.dtype import int64

from ..call import aten
from ..meta.checks import check
from ..typing import Tensor
from .coo import coalesced, index_of, is_sparse, make, parts
from .shapes import runs, wrapped
from .table import kernel


def _check_sizes(self: Tensor, mat2: Tensor) -> None:
    """Refuse what is no sparse matrix and a dense one that it can be multiplied with."""
    rank = self.sparse_dim()
    check(rank == 2, lambda: f"addmm: matrices expected, got {rank}D tensor")
    check(self.dense_dim() == 0, lambda: f"addmm: expected 0 dense dimensions, got {self.dense_dim()}")
    wrapped(1, mat2.dim())
    check(mat2.dim() == 2, lambda: f"addmm: matrices expected, got {mat2.dim()}D tensor")
    check(
        self.shape[1] == mat2.shape[0],
        lambda: f"addmm: Argument #3 (dense): Expected dim 0 size {self.shape[1]}, got {mat2.shape[0]}",
    )
    check(
        self.dtype is mat2.dtype,
        lambda: f"expected scalar type {self.dtype.scalar_name} but found {mat2.dtype.scalar_name}",
    )


def _check_both(self: Tensor, mat2: Tensor) -> None:
    check(
        self.dim() == 2 and mat2.dim() == 2 and self.shape[1] == mat2.shape[0],
        lambda: (
            f"mat1 and mat2 shapes cannot be multiplied ({self.shape[0]}x{self.shape[-1]} and "
            f"{mat2.shape[0]}x{mat2.shape[-1]})"
        ),
    )
    check(
        self.dtype is mat2.dtype,
        lambda: f"mat1 dtype {self.dtype.scalar_name} does not match mat2 dtype {mat2.dtype.scalar_name}",
    )


def of_entries(row: Tensor, column: Tensor, values: Tensor, rows: int, dense: Tensor) -> Any:
    """Return the dense product of the matrix with these entries and a dense one."""
    products = aten.mul(aten.unsqueeze(values, 1), aten.index_select(dense, 0, column))
    made = aten.zeros([rows, dense.shape[1]], dtype=products.dtype, device=products.device)
    return aten.index_add_(made, 0, row, products)


def _of_two_sparse(self: Tensor, mat2: Tensor) -> Any:
    """Each entry (i, k) meets the entries of row k; what falls on one place is added."""
    one, two = coalesced(self), coalesced(mat2)
    rows, inner = index_of(one)
    starts, columns = index_of(two)
    bounds = aten.arange(mat2.shape[0] + 1, device=starts.device)
    places = aten.searchsorted(starts, bounds)
    first = aten.index_select(places, 0, inner)
    counts = aten.sub(aten.index_select(places, 0, aten.add(inner, 1)), first)
    entry, step = runs(counts)
    other = aten.add(aten.index_select(first, 0, entry), step)
    values = aten.mul(aten.index_select(parts(one).values, 0, entry), aten.index_select(parts(two).values, 0, other))
    indices = aten.stack([aten.index_select(rows, 0, entry), aten.index_select(columns, 0, other)])
    return coalesced(make(indices, values, [self.shape[0], mat2.shape[1]]))


@kernel("mm")
def mm(self: Tensor, mat2: Tensor) -> Any:
    """Of two sparse matrices a sparse one, else a dense one."""
    if is_sparse(self) and is_sparse(mat2):
        _check_both(self, mat2)
        return _of_two_sparse(self, mat2)
    if is_sparse(mat2):
        return aten.t(mm(aten.transpose(mat2, 0, 1), aten.transpose(self, 0, 1)))
    _check_sizes(self, mat2)
    row, column = index_of(self)
    return of_entries(row, column, parts(self).values, self.shape[0], mat2)


@kernel("_sparse_sparse_matmul")
def sparse_sparse(self: Tensor, other: Tensor) -> Any:
    """The sparse product of two sparse matrices."""
    return mm(self, other)


@kernel("addmm")
def addmm(self: Tensor, mat1: Tensor, mat2: Tensor, beta: Any = 1, alpha: Any = 1) -> Any:
    """The product, added to a matrix."""
    product = mm(mat1, mat2)
    product = product if alpha == 1 else aten.mul(product, alpha)
    added = self if self.shape == product.shape else aten.expand(self, list(product.shape))
    check(
        not is_sparse(self) and not is_sparse(product),
        lambda: "addmm_sparse_dense: expected strided result tensor, got tensor with layout Sparse",
    )
    return product if beta == 0 else aten.add(added if beta == 1 else aten.mul(added, beta), product)


@kernel("mv")
def mv(self: Tensor, vec: Tensor) -> Any:
    """A sparse matrix times a dense vector."""
    check(
        self.dim() == 2 and vec.dim() == 1,
        lambda: f"mv: two tensor dim should be 2 and 1, but got SparseTensor Dim: {self.dim()}Tensor Dim: {vec.dim()}",
    )
    check(self.shape[1] == vec.shape[0], lambda: "mv: expected self.size(-1) == vec.size(-1)")
    return aten.squeeze(mm(self, aten.unsqueeze(vec, 1)), -1)


@kernel("bmm")
def bmm(self: Tensor, mat2: Tensor) -> Any:
    """Sparse matrices times dense ones, one by one."""
    check(not is_sparse(mat2), lambda: "bmm_sparse: Tensor 'mat2' must be dense")
    check(
        self.dense_dim() == 0,
        lambda: "bmm_sparse: Tensor 'self' must have 0 dense dims, but has " + str(self.dense_dim()),
    )
    check(
        self.sparse_dim() == 3,
        lambda: f"bmm_sparse: Tensor 'self' must have 3 sparse dims, but has {self.sparse_dim()}",
    )
    check(mat2.dim() == 3, lambda: f"bmm_sparse: Tensor 'mat2' must have 3 dims, but has {mat2.dim()}")
    check(self.shape[0] == mat2.shape[0], lambda: "bmm_sparse: 'self.size(0)' and 'mat2.size(0)' must match")
    check(self.shape[2] == mat2.shape[1], lambda: "bmm_sparse: 'self.size(2)' and 'mat2.size(1)' must match")
    batch, row, column = index_of(self)
    count, rows, inner = self.shape
    flat_row = aten.add(aten.mul(batch, rows), row)
    flat_column = aten.add(aten.mul(batch, inner), column)
    flat = aten.reshape(mat2, [count * inner, mat2.shape[2]])
    made = of_entries(flat_row, flat_column, parts(self).values, count * rows, flat)
    return aten.view(made, [count, rows, mat2.shape[2]])


@kernel("sspaddmm")
def sspaddmm(self: Tensor, mat1: Tensor, mat2: Tensor, beta: Any = 1, alpha: Any = 1) -> Any:
    """The product of a sparse and a dense matrix, added to a sparse one; every element of a row with entries is one."""
    check(is_sparse(self), lambda: "sspaddmm(): expected 'self' to be sparse, but got dense")
    entries = coalesced(mat1)
    row, column = index_of(entries)
    product = of_entries(row, column, parts(entries).values, mat1.shape[0], mat2)
    rows = aten._unique2(row, True)[0] if row.shape[0] else row
    width = mat2.shape[1]
    index = aten.stack(
        [
            aten.repeat_interleave(rows, width),
            aten.repeat(aten.arange(width, dtype=int64, device=rows.device), [rows.shape[0]]),
        ]
    )
    values = aten.mul(aten.reshape(aten.index_select(product, 0, rows), [-1]), alpha)
    given = parts(self)
    return make(
        aten.cat([given.indices, index], 1), aten.cat([aten.mul(given.values, beta), values]), list(product.shape)
    )

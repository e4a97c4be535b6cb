"""Derivatives of the ways between dense and sparse tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.sparse.compressed import is_compressed, parts, spec_of
from mindtorch_dispatch.sparse.coo import is_sparse
from mindtorch_dispatch.typing import Tensor
from mindtorch_storage.layout import strided
from mindtorch_storage.spec import Spec

from ..derivative import derivative
from .matmul import mm_second
from .numbers import conj, scaled


def _values_at(grad: Tensor, result: Tensor) -> Any:
    return aten._values(aten.sparse_mask(grad, result))


def _in_layout(grad: Tensor, self: Tensor) -> Any:
    """Return a gradient in the layout of what it is of, in its blocks and dense dimensions."""
    if is_sparse(self):
        return aten.to_sparse(grad, self.sparse_dim()) if grad.layout is strided else aten.to_sparse(grad)
    if is_compressed(self):
        spec = spec_of(self)
        dense = spec.dense_dim if grad.layout is strided and spec.dense_dim else None
        return aten.to_sparse(grad, layout=spec.layout, blocksize=spec.blocksize, dense_dim=dense)
    return aten.to_dense(grad)


def _values_of(grad: Tensor, result: Tensor) -> Any:
    """Return the gradient at the entries of a compressed tensor, whose own entries may be others or none."""
    if grad.layout is not result.layout:
        return aten.values(aten.sparse_mask(grad, result))
    given, wanted = parts(grad), parts(result)
    if aten.equal(given.compressed, wanted.compressed) and aten.equal(given.plain, wanted.plain):
        return aten.values(grad)
    return aten.values(aten.sparse_mask(aten.to_dense(grad), result))


def _as_entries(grad: Tensor, self: Tensor) -> Any:
    """Return the sparse tensor with the indices of a coalesced or compressed one and these values."""
    if is_compressed(self):
        given = parts(self)
        return aten._sparse_compressed_tensor_unsafe(
            given.compressed, given.plain, grad, list(self.shape), layout=self.layout
        )
    return aten._sparse_coo_tensor_unsafe(aten.indices(self), grad, list(self.shape), is_coalesced=True)


def _dense_grad(grad: Tensor, self: Tensor, masked_grad: bool | None) -> Any:
    """As in torch by default: only the entries that the sparse tensor has get a gradient."""
    if masked_grad is False:
        return _in_layout(grad, self)
    if is_compressed(self):
        return aten.sparse_mask(grad, self)
    return aten.sparse_mask(grad, aten.coalesce(self))


def _sparse_first(grad: Tensor, mat1: Tensor, mat2: Tensor, alpha: float = 1) -> Any:
    """Gradient of a sparse left matrix: what a dense one has, at the entries."""
    places = mat1 if is_compressed(mat1) else aten.coalesce(mat1)
    return aten.sparse_mask(scaled(aten.mm(grad, aten.t(conj(mat2))), alpha), places)


def _summed_grad(grad: Tensor, self: Tensor, dim: Sequence[int]) -> Any:
    """Gradient of a sum: that of the sum, at every entry that went into it."""
    rank = self.dim()
    dims = sorted({one % rank for one in dim})
    sparse = self.sparse_dim()
    if all(one in dims for one in range(sparse)) != (not is_sparse(grad)):
        raise RuntimeError("_sparse_sum_backward_cpu: expected grad_ Tensor to be sparse, but got dense")
    spread = aten.to_dense(grad) if is_sparse(grad) else grad
    for one in dims:
        spread = aten.unsqueeze(spread, one)
    return aten.sparse_mask(aten.expand(spread, list(self.shape)), aten.coalesce(self))


def _by_layout(grad: Tensor, self_spec: Spec, mask: Tensor) -> Any:
    return aten.to_dense(grad) if self_spec.layout is not mask.layout else aten.sparse_mask(grad, mask)


for _name, _node in (
    ("_to_sparse", "ToSparseBackward1"),
    ("_to_sparse.sparse_dim", "ToSparseBackward0"),
    ("_to_sparse_csr", "ToSparseCsrBackward0"),
    ("_to_sparse_csc", "ToSparseCscBackward0"),
    ("_to_sparse_bsr", "ToSparseBsrBackward0"),
    ("_to_sparse_bsc", "ToSparseBscBackward0"),
):
    derivative(_name, self=lambda grad, self: _in_layout(grad, self), node=_node)
derivative(
    "_sparse_compressed_tensor_unsafe",
    values=lambda grad, result: _values_of(grad, result),
    node="SparseCompressedTensorBackward0",
)
derivative(
    "sparse_sampled_addmm",
    self=lambda grad, beta: scaled(grad, beta),
    mat1=lambda grad, self, mat2, alpha: scaled(aten.mm(aten.sparse_mask(grad, self), aten.t(conj(mat2))), alpha),
    mat2=lambda grad, self, mat1, alpha: scaled(aten.mm(aten.t(conj(mat1)), aten.sparse_mask(grad, self)), alpha),
)
derivative(
    "_to_dense",
    self=lambda grad, self, masked_grad: _dense_grad(grad, self, masked_grad),
    node="ToDenseBackward0",
)
derivative("_sparse_coo_tensor_with_dims_and_tensors", values=lambda grad, result: _values_at(grad, result))
derivative("_coalesce", self=lambda grad: grad)
derivative("values", self=lambda grad, self: _as_entries(grad, self))
derivative("sparse_mask", self=lambda grad, self_spec, mask: _by_layout(grad, self_spec, mask))
derivative(
    "_sparse_addmm",
    self=lambda grad, beta: scaled(grad, beta),
    mat1=lambda grad, mat1, mat2, alpha: _sparse_first(grad, mat1, mat2, alpha),
    mat2=lambda grad, mat1, mat2_spec, alpha: mm_second(grad, mat1, mat2_spec, alpha),
)
derivative(
    "_sparse_sparse_matmul",
    self=lambda grad, self, other: aten._sparse_sparse_matmul(grad, aten.t(conj(other))),
    other=lambda grad, self: aten._sparse_sparse_matmul(aten.t(conj(self)), grad),
)
derivative("_sparse_sum.dim", self=lambda grad, self, dim: _summed_grad(grad, self, dim), node="SparseSumBackward0")

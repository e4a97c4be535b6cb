"""Derivatives of the ways between dense and sparse tensors."""

from mindtorch_dispatch.call import aten

from ..derivative import derivative

derivative("_to_sparse", self=lambda grad: aten.to_dense(grad), node="ToSparseBackward1")
derivative("_to_sparse.sparse_dim", self=lambda grad: aten.to_dense(grad), node="ToSparseBackward0")
# As torch by default: only the entries that the sparse tensor has get a gradient.
derivative("_to_dense", self=lambda grad, self: aten.sparse_mask(grad, aten.coalesce(self)), node="ToDenseBackward0")

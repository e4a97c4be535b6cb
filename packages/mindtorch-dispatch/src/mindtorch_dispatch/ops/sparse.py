"""Sparse coordinate tensors."""

from ..decomp import sparse as composed
from ..decomp import sparse_products
from ..sparse import kernels as kernels  # registered with the rows
from ..sparse import products as products
from ..sparse import shapes as shapes
from ..table import op

_OPTIONS = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory="
_TO = "*, Layout? layout=None, int[2]? blocksize=None, int? dense_dim=None"

op(f"sparse_coo_tensor.size(int[] size, *, {_OPTIONS}False) -> Tensor", composite=composed.without_entries, variants="")
op(
    f"sparse_coo_tensor.indices(Tensor indices, Tensor values, *, {_OPTIONS}None, bool? is_coalesced=None) -> Tensor",
    composite=composed.inferred,
    variants="",
)
for _name in ("sparse_coo_tensor.indices_size", "_sparse_coo_tensor_unsafe"):
    op(
        f"{_name}(Tensor indices, Tensor values, SymInt[] size, *, {_OPTIONS}None, bool? is_coalesced=None) -> Tensor",
        composite=composed.from_parts,
        variants="",
    )
op(
    "_sparse_coo_tensor_with_dims_and_tensors(int sparse_dim, int dense_dim, SymInt[] size, Tensor indices, "
    f"Tensor values, *, {_OPTIONS}False, bool? is_coalesced=None) -> Tensor",
    composite=composed.with_dims_and_tensors,
    variants="function",
)
op("_coalesce(Tensor self) -> Tensor", composite=composed.summed, variants="function")
op("_sparse_sparse_matmul(Tensor self, Tensor other) -> Tensor", composite=composed.needs_sparse, variants="function")
op("_sparse_sum(Tensor self) -> Tensor", composite=composed.sparse_sum, variants="function")
op(
    "_sparse_sum.dtype(Tensor self, *, ScalarType dtype) -> Tensor",
    composite=composed.sparse_sum_dtype,
    variants="function",
)
op("_sparse_sum.dim(Tensor self, int[1] dim) -> Tensor", composite=composed.needs_sparse, variants="function")
op(
    "_sparse_sum.dim_dtype(Tensor self, int[1] dim, *, ScalarType dtype) -> Tensor",
    composite=composed.sparse_sum_dim_dtype,
    variants="function",
)
op(
    "_sparse_softmax(Tensor self, int dim, bool half_to_float) -> Tensor",
    composite=composed.needs_sparse,
    variants="function",
)
op(
    "_sparse_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor",
    composite=composed.needs_sparse,
    variants="function",
)
op("smm(Tensor self, Tensor mat2) -> Tensor", composite=composed.smm)
op(
    "sspaddmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    composite=composed.needs_sparse,
)
op("hspmm(Tensor mat1, Tensor mat2) -> Tensor", composite=composed.hspmm, variants="function")
op("coalesce(Tensor(a) self) -> Tensor(a)", composite=composed.coalesce, variants="method")
op("is_coalesced(Tensor self) -> bool", composite=composed.is_coalesced, variants="method")
op("indices(Tensor(a) self) -> Tensor(a)", composite=composed.indices, variants="method")
op("values(Tensor(a) self) -> Tensor(a)", composite=composed.values, variants="method")
op("_indices(Tensor(a) self) -> Tensor(a)", composite=composed.raw_indices, variants="method")
op("_values(Tensor(a) self) -> Tensor(a)", composite=composed.raw_values, variants="method")
op("_nnz(Tensor self) -> int", composite=composed.nnz, variants="method")
op("sparse_dim(Tensor self) -> int", composite=composed.sparse_dim, variants="method")
op("dense_dim(Tensor self) -> int", composite=composed.dense_dim, variants="method")
op(
    "to_dense(Tensor self, ScalarType? dtype=None, *, bool? masked_grad=None) -> Tensor",
    composite=composed.to_dense,
    variants="method",
)
op("to_sparse.sparse_dim(Tensor self, int sparse_dim) -> Tensor", composite=composed.to_sparse_dims, variants="method")
op(f"to_sparse(Tensor self, {_TO}) -> Tensor", composite=composed.to_sparse, variants="method")
op(
    "_to_dense(Tensor self, ScalarType? dtype=None, bool? masked_grad=None) -> Tensor",
    composite=composed.dense_of,
    variants="method",
)
op("_to_sparse.sparse_dim(Tensor self, int sparse_dim) -> Tensor", composite=composed.sparse_of_dims, variants="method")
op(f"_to_sparse(Tensor self, {_TO}) -> Tensor", composite=composed.sparse_of, variants="method")
op("sparse_mask(Tensor self, Tensor mask) -> Tensor", composite=composed.sparse_mask, variants="method")
op("_coalesced_(Tensor(a!) self, bool coalesced) -> Tensor(a!)", composite=composed.set_coalesced, variants="method")
op(
    "embedding_sparse_backward(Tensor grad, Tensor indices, int num_weights, int padding_idx, bool scale_grad_by_freq) "
    "-> Tensor",
    composite=composed.embedding_backward,
    variants="",
)
op(
    "_sparse_addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    composite=composed.sparse_addmm,
    variants="function",
)
op("_sparse_mm(Tensor sparse, Tensor dense) -> Tensor", composite=composed.sparse_mm, variants="function")
op(
    "_sparse_mm.reduce(Tensor sparse, Tensor dense, str reduce) -> Tensor",
    composite=sparse_products.sparse_mm_reduce,
    variants="function",
)

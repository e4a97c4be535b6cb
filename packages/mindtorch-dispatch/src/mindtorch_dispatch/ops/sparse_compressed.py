"""Tensors with compressed rows or columns."""

from mindtorch_storage.layout import sparse_bsc, sparse_bsr, sparse_csc, sparse_csr

from ..decomp import sparse_compressed as composed
from ..decomp.sparse_products import needs_compressed
from ..sparse import compressed_kernels as compressed_kernels  # registered with the rows
from ..sparse import compressed_products as compressed_products
from ..sparse import compressed_select as compressed_select
from ..sparse import compressed_shapes as compressed_shapes
from ..table import op

_OPTIONS = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"

op(
    "_sparse_compressed_tensor_unsafe(Tensor compressed_indices, Tensor plain_indices, Tensor values, SymInt[] size, *, "
    f"{_OPTIONS}) -> Tensor",
    composite=composed.from_parts,
    variants="function",
)
op(
    "_sparse_compressed_tensor_with_dims(int nnz, int dense_dim, int[] size, int[] blocksize, ScalarType index_dtype, *, "
    f"{_OPTIONS}) -> Tensor",
    composite=composed.with_dims,
    variants="",
)
for _name, _by_rows, _bounds in (
    ("crow_indices", True, True),
    ("col_indices", True, False),
    ("ccol_indices", False, True),
    ("row_indices", False, False),
):
    op(
        f"{_name}(Tensor(a) self) -> Tensor(a)",
        composite=composed.index_of_rows(_name, _by_rows, _bounds),
        variants="method",
    )
for _kind, _layout in (("csr", sparse_csr), ("csc", sparse_csc)):
    _takes = "(Tensor self, int? dense_dim=None) -> Tensor"
    op(f"to_sparse_{_kind}{_takes}", composite=composed.to_elements(_layout), variants="method")
    op(f"_to_sparse_{_kind}{_takes}", composite=composed.elements_of(_layout), variants="method")
for _kind, _layout in (("bsr", sparse_bsr), ("bsc", sparse_bsc)):
    _takes = "(Tensor self, int[2] blocksize, int? dense_dim=None) -> Tensor"
    op(f"to_sparse_{_kind}{_takes}", composite=composed.to_blocks(_layout), variants="method")
    op(f"_to_sparse_{_kind}{_takes}", composite=composed.blocks_of(_layout), variants="method")

op(
    "sparse_sampled_addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    composite=needs_compressed("sparse_sampled_addmm"),
    variants="",
)
for _name in ("_sparse_csr_sum", "_sparse_csr_prod"):
    op(
        f"{_name}.dim_dtype(Tensor self, int[1] dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
        composite=needs_compressed(_name),
        variants="function",
    )
op(
    "_validate_sparse_compressed_tensor_args(Tensor compressed_indices, Tensor plain_indices, Tensor values, "
    "int[] size, Layout layout, bool? check_pinning=None) -> ()",
    composite=composed.validate,
    variants="function",
)
for _kind, _layout, _names in (
    ("csr", sparse_csr, "crow_indices, Tensor col_indices"),
    ("csc", sparse_csc, "ccol_indices, Tensor row_indices"),
    ("bsr", sparse_bsr, "crow_indices, Tensor col_indices"),
    ("bsc", sparse_bsc, "ccol_indices, Tensor row_indices"),
):
    op(
        f"_validate_sparse_{_kind}_tensor_args(Tensor {_names}, Tensor values, int[] size, bool? check_pinning=None) -> ()",
        composite=composed.validate_of(_layout),
        variants="function",
    )
op(
    "_validate_compressed_sparse_indices(bool is_crow, Tensor compressed_idx, Tensor plain_idx, int cdim, int dim, "
    "int nnz) -> ()",
    composite=composed.validate_indices,
    variants="function",
)
op(
    "_convert_indices_from_csr_to_coo(Tensor crow_indices, Tensor col_indices, *, bool out_int32=False, "
    "bool transpose=False) -> Tensor",
    composite=composed.csr_to_coo,
    variants="function",
)
op(
    "_convert_indices_from_coo_to_csr(Tensor self, int size, *, bool out_int32=False) -> Tensor",
    composite=composed.coo_to_csr,
    variants="function",
)

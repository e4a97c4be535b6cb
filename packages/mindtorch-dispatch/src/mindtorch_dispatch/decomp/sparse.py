"""Sparse coordinate tensors: making them, their parts, and the way between them and dense ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_storage.device import device as Device
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.dtype import int64
from mindtorch_storage.layout import layout as Layout
from mindtorch_storage.layout import layout_name, sparse_coo, strided
from mindtorch_storage.sparse import CooArray

from ..call import aten
from ..meta.checks import check, shape_text
from ..meta.embedding import check_index_dtype
from ..sparse import coo
from ..sparse.compressed import BLOCKS, is_compressed, nnz_of, to_coo, view_of
from ..sparse.compressed import parts as compressed_parts
from ..sparse.compressed import to_dense as compressed_to_dense
from ..sparse.conversions import check_conversion, layout_suffix
from ..sparse.shapes import at_indices
from ..typing import Tensor


def from_parts(
    indices: Any,
    values: Any,
    size: Any,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: Any = None,
    is_coalesced: bool | None = None,
) -> Any:
    """The sparse tensor with these entries."""
    check(indices.dim() == 2, lambda: f"indices must be sparse_dim x nnz, but got: {shape_text(indices.shape)}")
    check(
        values.dim() > 0 and indices.shape[1] == values.shape[0],
        lambda: (
            f"indices and values must have same nnz, but got nnz from indices: {indices.shape[1]}, nnz from values: "
            f"{values.shape[0] if values.dim() else 0}"
        ),
    )
    sparse, dense = indices.shape[0], values.dim() - 1
    check(
        len(size) == sparse + dense,
        lambda: f"number of dimensions must be sparse_dim ({sparse}) + dense_dim ({dense}), but got {len(size)}",
    )
    check(
        list(values.shape[1:]) == list(size[sparse:]),
        lambda: (
            f"values has incorrect size, expected {shape_text([values.shape[0], *size[sparse:]])}, got "
            f"{shape_text(values.shape)}"
        ),
    )
    values = with_dtype_on(values, dtype or values.dtype, device or values.device)
    indices = with_dtype_on(indices, int64, values.device)
    return aten._sparse_coo_tensor_with_dims_and_tensors(
        sparse,
        dense,
        size,
        indices,
        values,
        dtype=values.dtype,
        layout=sparse_coo,
        device=values.device,
        is_coalesced=is_coalesced,
    )


def with_dtype_on(tensor: Tensor, dtype: Dtype, device: Device) -> Any:
    """Return the tensor in this dtype and on this device: itself where it is so already."""
    if tensor.dtype is dtype and tensor.device == device:
        return tensor
    return aten._to_copy(tensor, dtype=dtype, device=device)


def with_dims_and_tensors(
    sparse_dim: int,
    dense_dim: int,
    size: Sequence[int],
    indices: Tensor,
    values: Tensor,
    dtype: Dtype | None = None,
    layout: Layout | None = None,
    device: Device | None = None,
    pin_memory: bool | None = None,
    is_coalesced: bool | None = None,
) -> Any:
    """The sparse tensor with these entries, which were looked at."""
    return coo.make(indices, values, size, is_coalesced)


def summed(self: Tensor) -> Any:
    """The tensor with every index once, in order, in memory of its own."""
    return coo.coalesced(self)


def needs_sparse(self: Tensor, *rest: object) -> Any:
    """Raises, as for dense tensors there is no kernel."""
    return _parts("coalesce", self)


def sparse_sum(self: Tensor) -> Any:
    """The sum of all elements, dense; its gradient is sparse."""
    return aten.sum(aten.values(aten.coalesce(self)))


def sparse_sum_dtype(self: Tensor, dtype: Dtype) -> Any:
    """The sum of all elements in another dtype."""
    return aten.sum(aten.values(aten.coalesce(self)), dtype=dtype)


def sparse_sum_dim_dtype(self: Tensor, dim: Sequence[int], dtype: Dtype) -> Any:
    """The sum over some dimensions in another dtype."""
    return aten._sparse_sum(aten._to_copy(self, dtype=dtype), dim)


def smm(self: Tensor, mat2: Tensor) -> Any:
    """The product of a sparse and a dense matrix, sparse."""
    first, second = self.layout is sparse_coo, mat2.layout is sparse_coo
    check(first or second, lambda: "tensor.sspaddmm(...) can only be called on sparse tensors")
    check(first, lambda: "sspaddmm: expected 'mat1' to have sparse layout, got 'mat1' with layout Strided")
    check(not second, lambda: "sspaddmm: expected 'mat2' to have strided layout, got 'mat2' with layout Sparse")
    empty = aten.zeros([self.shape[0], mat2.shape[1]], dtype=mat2.dtype, layout=sparse_coo, device=mat2.device)
    return aten.sspaddmm(empty, self, mat2, beta=0)


def hspmm(mat1: Tensor, mat2: Tensor) -> Any:
    """The product of a sparse and a dense matrix: the rows with entries are the values of a sparse one."""
    _parts("hspmm", mat1)
    rows = aten._unique2(coo.index_of(mat1)[0], True)[0]
    product = aten.mm(aten.detach(mat1), aten.detach(mat2))
    return coo.make(aten.unsqueeze(rows, 0), aten.index_select(product, 0, rows), product.shape, True)


def inferred(indices: Any, values: Any, *options: Any) -> Any:
    """The sparse tensor with these entries, as large as its largest indices demand."""
    check(indices.dim() == 2, lambda: f"indices must be sparse_dim x nnz, but got: {shape_text(indices.shape)}")
    if indices.shape[1]:
        lead = [extent + 1 for extent in aten.amax(indices, [1]).tolist()]
    else:
        lead = [0] * indices.shape[0]
    return from_parts(indices, values, [*lead, *values.shape[1:]], *options)


def without_entries(
    size: Any, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: Any = None
) -> Any:
    """A sparse tensor of this size without entries."""
    return aten.zeros(size, dtype=dtype, layout=sparse_coo, device=device)


def _parts(name: str, tensor: Any) -> CooArray:
    check(
        coo.is_sparse(tensor),
        lambda: f"{name} expected sparse coordinate tensor layout but got {_layout_name(tensor)}",
    )
    return coo.parts(tensor)


def _layout_name(tensor: Any) -> str:
    return layout_name(tensor._sig.spec.layout)


def coalesce(self: Any) -> Any:
    """The tensor with every index once, in order."""
    return self if _parts("coalesce", self).coalesced else aten._coalesce(self)


def is_coalesced(self: Any) -> bool:
    """True when every index occurs once, in order."""
    return _parts("is_coalesced", self).coalesced


def indices(self: Any) -> Any:
    """The indices of a coalesced tensor."""
    given = _parts("indices", self)
    check(given.coalesced, lambda: "Cannot get indices on an uncoalesced tensor, please call .coalesce() first")
    return given.indices


def values(self: Any) -> Any:
    """The values of a coalesced tensor, or of a compressed one."""
    if is_compressed(self):
        shared = aten.detach(compressed_parts(self).values)  # the tensor that was given takes no history
        return shared if self._sig.requires_grad else view_of(self, shared)
    check(coo.is_sparse(self), lambda: f"values expected sparse tensor layout but got {_layout_name(self)}")
    given = _parts("values", self)
    check(given.coalesced, lambda: "Cannot get values on an uncoalesced tensor, please call .coalesce() first")
    return aten.detach(given.values)


def raw_indices(self: Any) -> Any:
    """The indices as they are."""
    return _parts("_indices", self).indices


def raw_values(self: Any) -> Any:
    """The values as they are."""
    return aten.detach(_parts("_values", self).values)


def nnz(self: Any) -> int:
    """How many entries there are."""
    if is_compressed(self):
        return nnz_of(self)
    count: int = _parts("_nnz", self).indices.shape[1]
    return count


def sparse_dim(self: Any) -> int:
    """How many dimensions are addressed by indices; 0 for dense tensors."""
    return self._sig.spec.sparse_dim if coo.is_sparse(self) or is_compressed(self) else 0


def dense_dim(self: Any) -> int:
    """How many dimensions each value has."""
    found: int = self._sig.spec.dense_dim if coo.is_sparse(self) or is_compressed(self) else self.dim()
    return found


def to_dense(self: Any, dtype: Any = None, masked_grad: bool | None = None) -> Any:
    """The strided tensor with the same elements: itself when it is strided already."""
    sparse = coo.is_sparse(self) or is_compressed(self)
    check(
        dtype is None or not is_compressed(self),
        lambda: "dtype argument is not supported by sparse_csr_to_dense",
    )
    made = aten._to_dense(self, None, masked_grad) if sparse else self
    return made if dtype is None or dtype is made.dtype else aten._to_copy(made, dtype=dtype)


def dense_of(self: Any, dtype: Any = None, masked_grad: bool | None = None) -> Any:
    """The strided tensor with the elements of a sparse one; its gradient is sparse, with the same indices."""
    return compressed_to_dense(self) if is_compressed(self) else coo.to_dense(self)


def to_sparse_dims(self: Any, sparse_dim: int) -> Any:
    """The sparse tensor with the same elements, `sparse_dim` dimensions addressed by indices."""
    if is_compressed(self):
        check(
            sparse_dim == 2,
            lambda: (
                f"sparse_compressed_to_sparse: conversion from {_layout_name(self)} to Sparse with sparse_dim argument "
                "!=2 is not supported"
            ),
        )
    if coo.is_sparse(self):
        check(
            sparse_dim == self._sig.spec.sparse_dim,
            lambda: (
                "to_sparse: conversion from Sparse to Sparse with sparse_dim argument != self.sparse_dim() is not supported"
            ),
        )
        return self
    return aten._to_sparse(self, sparse_dim)


def to_sparse(self: Any, layout: Any = None, blocksize: Any = None, dense_dim: int | None = None) -> Any:
    """The tensor with the same elements in a sparse layout, coordinates unless told; itself where it has it."""
    target = sparse_coo if layout is None else layout
    check_conversion(self, target, blocksize, dense_dim)
    if self._sig.spec.layout is target:
        return self
    if target is strided:
        return self.to_dense()
    if target is sparse_coo:
        return aten._to_sparse(self, dense_dim=dense_dim)
    convert = getattr(aten, "_to_" + layout_suffix(target))
    return convert(self, list(blocksize), dense_dim) if target in BLOCKS else convert(self, dense_dim)


def sparse_of(self: Any, layout: Any = None, blocksize: Any = None, dense_dim: int | None = None) -> Any:
    """The sparse tensor with the elements of a dense one, or the entries of a compressed one."""
    if is_compressed(self):
        return to_coo(self)
    check(
        blocksize is None,
        lambda: "dense_to_sparse: conversion from Strided to Sparse with blocksize argument given is not supported",
    )
    return coo.from_dense(self, self.dim() - (dense_dim or 0))


def sparse_of_dims(self: Any, sparse_dim: int) -> Any:
    """The sparse tensor with the elements of a dense one, `sparse_dim` dimensions addressed by indices."""
    return to_coo(self) if is_compressed(self) else coo.from_dense(self, sparse_dim)


def sparse_mask(self: Any, mask: Any) -> Any:
    """The elements of a dense tensor at the indices of a sparse one."""
    given = _parts("sparse_mask", mask)
    check(
        self.shape == mask.shape,
        lambda: (
            "sparse_mask(): operands have incompatible sizes; self has size "
            f"{shape_text(self.shape)} but mask has size {shape_text(mask.shape)}"
        ),
    )
    return coo.make(given.indices, at_indices(self, given.indices), self.shape, given.coalesced)


def set_coalesced(self: Any, coalesced: bool) -> Any:
    """State that every index occurs once, in order, or that it may not."""
    _parts("_coalesced_", self).coalesced = coalesced
    return self


def embedding_backward(grad: Any, indices: Any, num_weights: int, padding_idx: int, scale_grad_by_freq: bool) -> Any:
    """The gradient of an embedding table, an entry per looked-up row."""
    check(not scale_grad_by_freq, lambda: "embedding_backward: scale_grad_by_freq not supported with sparse gradients")
    check_index_dtype(indices._sig.spec, "indices", 2, "embedding_backward")
    rows = aten.reshape(indices, [1, indices.numel()])
    entries = aten.reshape(grad, [rows.shape[1], grad.shape[-1]])
    if not grad.numel():  # rows without columns are no entries either
        rows, entries = rows[:, :0], entries[:0]
    if padding_idx != -1:
        kept = aten.reshape(aten.nonzero(aten.ne(rows, padding_idx)).select(1, 1), [-1])
        rows, entries = aten.index_select(rows, 1, kept), aten.index_select(entries, 0, kept)
    return from_parts(rows, entries, [num_weights, grad.shape[-1]])


def sparse_addmm(self: Tensor, mat1: Tensor, mat2: Tensor, beta: Any = 1, alpha: Any = 1) -> Any:
    """The product of a sparse and a dense matrix, added to a dense one."""
    return aten.addmm(self, mat1, mat2, beta=beta, alpha=alpha)


def sparse_mm(sparse: Tensor, dense: Tensor) -> Any:
    """The product of two matrices, one or both sparse; sparse if both are."""
    if coo.is_sparse(sparse) and coo.is_sparse(dense):
        return aten._sparse_sparse_matmul(sparse, dense)
    if is_compressed(sparse) and is_compressed(dense):
        return aten.mm(sparse, dense)
    if sparse._sig.spec.layout is strided:
        return aten.transpose(_sparse_times_dense(aten.transpose(dense, 0, 1), aten.transpose(sparse, 0, 1)), 0, 1)
    return _sparse_times_dense(sparse, dense)


def _sparse_times_dense(sparse: Tensor, dense: Tensor) -> Any:
    zero = aten.zeros([sparse.shape[0], dense.shape[-1]], dtype=dense.dtype, device=dense.device)
    return aten._sparse_addmm(zero, sparse, dense, beta=0, alpha=1)

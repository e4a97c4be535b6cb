"""Making sparse coordinate tensors and reading their parts."""

from __future__ import annotations

import math
from typing import Any

from mindtorch_storage.dtype import int64
from mindtorch_storage.sparse import CooArray, SparseSpec
from mindtorch_storage.tensor_base import TensorBase, make_tensor

from ..call import aten
from ..interface.wiring import wired
from ..meta.checks import check
from ..state import state
from .table import no_gradient


def is_sparse(tensor: Any) -> bool:
    """True for tensors with the layout `torch.sparse_coo`."""
    return type(tensor._sig.spec) is SparseSpec


def parts(tensor: TensorBase) -> CooArray:
    """Return indices, values and whether they are coalesced."""
    array: CooArray = tensor._array
    return array


def make(indices: Any, values: Any, size: Any, coalesced: bool | None = None) -> Any:
    """Return the sparse tensor of `size` with these entries, which are shared and not checked.

    Unless told, it is coalesced where it has one entry at most.
    """
    if math.prod(int(extent) for extent in size) >= 2**63 or any(extent < 0 for extent in size):
        raise RuntimeError("numel: integer multiplication overflow")
    if indices._wraps or values._wraps:
        raise NotImplementedError(
            "Could not run 'aten::view' with arguments from the 'SparseCPU' backend: vmap has no sparse tensors"
        )
    spec = SparseSpec.coo(values.dtype, values.device, tuple(int(extent) for extent in size), indices.shape[0])
    with_parts = CooArray(plain(indices), plain(values), values.shape[0] < 2 if coalesced is None else coalesced)
    return make_tensor(wired.tensor_class, spec.plain, with_parts, None, 0, [0])


def plain(tensor: Any) -> Any:
    """Return a part of a sparse tensor without gradient, which the whole has."""
    if tensor._sig.requires_grad:
        if state.mode.grad:
            raise no_gradient()
        return aten.detach(tensor)
    return tensor


def like(tensor: TensorBase, values: Any, coalesced: bool | None = None) -> Any:
    """Return a sparse tensor with the indices of `tensor` and other values."""
    given = parts(tensor)
    return make(given.indices, values, tensor.shape, given.coalesced if coalesced is None else coalesced)


def empty(size: Any, dtype: Any, device: Any, sparse_dim: int | None = None) -> Any:
    """Return a sparse tensor without entries; all dimensions are sparse unless told."""
    rank = len(size) if sparse_dim is None else sparse_dim
    indices = aten.empty([rank, 0], dtype=int64, device=device)
    return make(indices, aten.empty([0, *size[rank:]], dtype=dtype, device=device), size, True)


def replace(tensor: TensorBase, new: TensorBase) -> TensorBase:
    """Give `tensor` the entries of `new`: what an in-place op on a sparse tensor does."""
    tensor._sig, tensor._array = new._sig, new._array
    tensor._counter[0] += 1
    return tensor


def coalesced(tensor: TensorBase) -> Any:
    """Return the tensor with sorted indices that occur once, values of equal indices added up."""
    given = parts(tensor)
    if given.coalesced:
        return tensor
    shape = list(tensor.shape[: given.indices.shape[0]])
    flat = aten.zeros([given.indices.shape[1]], dtype=int64, device=given.indices.device)
    for number, extent in enumerate(shape):
        flat = aten.add(aten.mul(flat, extent), aten.select(given.indices, 0, number))
    places, member = aten._unique2(flat, True, True)[:2]
    entries = [places.shape[0], *given.values.shape[1:]]
    sums = aten.index_add(
        aten.zeros(entries, dtype=given.values.dtype, device=given.values.device), 0, member, given.values
    )
    rows = []
    for extent in reversed(shape):
        rows.append(aten.remainder(places, extent) if extent else places)
        places = aten.floor_divide(places, extent) if extent else places
    indices = aten.stack(rows[::-1]) if rows else aten.zeros([0, entries[0]], dtype=int64, device=sums.device)
    return make(indices, sums, tensor.shape, True)


def index_of(tensor: TensorBase) -> list[Any]:
    """Return the indices as the list that indexes a dense tensor of the same size."""
    return list(aten.unbind(parts(tensor).indices))


def to_dense(tensor: TensorBase) -> Any:
    """Return the strided tensor with the same elements."""
    given = parts(coalesced(tensor))
    made = aten.zeros(list(tensor.shape), dtype=tensor.dtype, device=tensor.device)
    if not given.indices.shape[0]:
        return aten.copy_(made, aten.sum(given.values, [0]))
    return aten.index_put_(made, list(aten.unbind(given.indices)), given.values)


def from_dense(tensor: TensorBase, sparse_dim: int) -> Any:
    """Return the sparse tensor of the elements (of `sparse_dim` leading dimensions) that are not all zero."""
    rank = len(tensor.shape)
    check(
        rank >= sparse_dim,
        lambda: f"dense_to_sparse: sparse_dim argument must be in [0,{rank}] range, but {sparse_dim} is given",
    )
    check(sparse_dim > 0 or not rank, lambda: "dense_to_sparse: sparse_dim argument must be in >0 when self.dim()>0")
    kept = tensor if sparse_dim == rank else aten.any(aten.ne(tensor, 0), list(range(sparse_dim, rank)))
    places = aten.t(aten.nonzero(kept))
    if sparse_dim:
        values = aten.index(tensor, list(aten.unbind(places)))
    else:  # one entry, the whole tensor, or none
        values = aten.narrow(aten.unsqueeze(tensor, 0), 0, 0, places.shape[1])
    return make(aten.contiguous(places), aten.clone(values), tensor.shape, True)

"""Sparse coordinate tensors selected from, joined and with dimensions in another order, and sums over some of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.dtype import int64

from ..call import aten
from ..meta.checks import check, shape_text
from ..typing import Tensor
from .coo import coalesced, index_of, is_sparse, make, parts, replace, to_dense
from .table import kernel


def wrapped(dim: int, rank: int) -> int:
    """Return the dimension counted from the front."""
    low, high = (-rank, rank - 1) if rank else (-1, 0)
    if not low <= dim <= high:
        raise IndexError(f"Dimension out of range (expected to be in range of [{low}, {high}], but got {dim})")
    return dim + rank if dim < 0 else dim


def _rows(indices: Tensor, order: Sequence[int]) -> Any:
    rows = aten.unbind(indices)
    return aten.stack([rows[number] for number in order]) if order else indices


@kernel("permute")
def permute(self: Tensor, dims: Sequence[int]) -> Any:
    """Dimensions in another order; those of the indices stay before those of the values."""
    rank, sparse = self.dim(), self.sparse_dim()
    check(
        len(dims) == rank,
        lambda: (
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {rank} is not equal to len(dims) = {len(dims)}"
        ),
    )
    order = [wrapped(dim, rank) for dim in dims]
    check(len(set(order)) == rank, lambda: "permute(): duplicate dims are not allowed.")
    check(
        set(order[:sparse]) == set(range(sparse)),
        lambda: (
            "permute(sparse_coo): transpositions between sparse and dense dimensions are not allowed.Only transpositions "
            "within sparse and dense dimensions are supported."
        ),
    )
    given = parts(self)
    values = aten.permute(given.values, [0, *(dim - sparse + 1 for dim in order[sparse:])])
    kept = given.coalesced and (not order or dims[0] == 0)  # as torch: the first row alone, and not as -rank
    return make(_rows(given.indices, order[:sparse]), values, [self.shape[dim] for dim in order], kept)


@kernel("transpose.int")
def transpose(self: Tensor, dim0: int, dim1: int) -> Any:
    """Two sparse dimensions exchanged."""
    rank, sparse = self.dim(), self.sparse_dim()
    one, two = wrapped(dim0, rank), wrapped(dim1, rank)
    check(
        max(one, two) < sparse,
        lambda: (
            f"sparse transpose: transposed dimensions must be sparse Got sparse_dim: {sparse}, d0: {one}, d1: {two}"
        ),
    )
    order, size = list(range(sparse)), list(self.shape)
    order[one], order[two] = two, one
    size[one], size[two] = size[two], size[one]
    given = parts(self)
    kept = given.coalesced and (one == two or not given.values.shape[0])
    return make(_rows(given.indices, order), given.values, size, kept)


@kernel("transpose_")
def transpose_(self: Tensor, dim0: int, dim1: int) -> Any:
    """Two sparse dimensions exchanged in place."""
    return replace(self, transpose(self, dim0, dim1))


@kernel("t_")
def t_(self: Tensor) -> Any:
    """A matrix with its dimensions exchanged in place."""
    return replace(self, t(self)) if self.dim() > 1 else self


@kernel("t")
def t(self: Tensor) -> Any:
    """A matrix with its dimensions exchanged."""
    sparse, dense = self.sparse_dim(), self.dense_dim()
    check(
        sparse <= 2 and dense == 0,
        lambda: (
            f"t() expects a tensor with <= 2 sparse and 0 dense dimensions, but got {sparse} sparse and {dense} dense "
            "dimensions"
        ),
    )
    return aten.alias(self) if self.dim() < 2 else transpose(self, 0, 1)


@kernel("unsqueeze")
def unsqueeze(self: Tensor, dim: int) -> Any:
    """A dimension of extent 1 more, sparse where it stands before or after the last sparse one."""
    given, sparse = parts(self), self.sparse_dim()
    place = wrapped(dim, self.dim() + 1)
    size = list(self.shape)
    size.insert(place, 1)
    if place > sparse:
        return make(given.indices, aten.unsqueeze(given.values, place - sparse + 1), size)
    rows = list(aten.unbind(given.indices))
    rows.insert(place, aten.zeros([given.values.shape[0]], dtype=int64, device=given.indices.device))
    return make(aten.stack(rows), given.values, size)


@kernel("select.int")
def select(self: Tensor, dim: int, index: int) -> Any:
    """What has one index in a dimension; dense where no sparse dimension is left."""
    given, sparse = parts(self), self.sparse_dim()
    check(self.dim() > 0, lambda: "select() cannot be applied to a 0-dim tensor.")
    place = wrapped(dim, self.dim())
    extent = self.shape[place]
    if not -extent <= index < extent:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {shape_text(self.shape)} at dimension {dim}"
        )
    index = index + extent if index < 0 else index
    size = [length for number, length in enumerate(self.shape) if number != place]
    if place >= sparse:
        return make(given.indices, aten.select(given.values, place - sparse + 1, index), size)
    kept = aten.reshape(aten.nonzero(aten.eq(aten.select(given.indices, 0, place), index)), [-1])
    values = aten.index_select(given.values, 0, kept)
    if sparse == 1:
        return aten.sum(values, [0], dtype=values.dtype)
    rows = [number for number in range(sparse) if number != place]
    return make(aten.index_select(_rows(given.indices, rows), 1, kept), values, size)


@kernel("reshape")
def reshape(self: Tensor, shape: object) -> Any:
    """Refused: entries have no order that another shape could read."""
    raise RuntimeError("reshape is not implemented for sparse tensors")


@kernel("narrow_copy")
def narrow_copy(self: Tensor, dim: int, start: int, length: int) -> Any:
    """A range of indices of one dimension, which are counted from its start."""
    given, rank, sparse = parts(self), self.dim(), self.sparse_dim()
    check(rank > 0, lambda: "narrow() cannot be applied to a 0-dim tensor.")
    check(0 <= dim < rank, lambda: f"Dimension {dim} out of range. Expecting 0 <= dim < {rank}.")
    check(length >= 0, lambda: "narrow(): length must be non-negative.")
    extent = self.shape[dim]
    check(
        0 <= start <= extent - length,
        lambda: f"Invalid range to narrow. range(start, start+length) must be a subset of range(0, {extent}).",
    )
    size = [length if number == dim else whole for number, whole in enumerate(self.shape)]
    if dim >= sparse:
        values = aten.narrow_copy(given.values, dim - sparse + 1, start, length)
        return make(given.indices, values, size, given.coalesced)
    places = aten.select(given.indices, 0, dim)
    kept = aten.reshape(aten.nonzero(aten.logical_and(aten.ge(places, start), aten.lt(places, start + length))), [-1])
    indices = aten.index_select(given.indices, 1, kept)
    aten.sub_(aten.select(indices, 0, dim), start)
    return make(indices, aten.index_select(given.values, 0, kept), size, given.coalesced)


def runs(counts: Tensor) -> tuple[Any, Any]:
    """Return, for every place in runs of these lengths that follow each other, its run and its place in the run."""
    run = aten.repeat_interleave(aten.arange(counts.shape[0], device=counts.device), counts)
    before = aten.sub(aten.cumsum(counts, 0), counts)
    place = aten.sub(aten.arange(run.shape[0], device=run.device), aten.index_select(before, 0, run))
    return run, place


@kernel("index_select")
def index_select(self: Tensor, dim: int, index: Tensor) -> Any:
    """What has these indices in a dimension, in their order."""
    given, sparse = parts(self), self.sparse_dim()
    place = wrapped(dim, self.dim())
    extent = self.shape[place]
    check(
        index.dim() == 1,
        lambda: (
            f"index_select() argument index must be 1-D long/int tensor, but got index of size {shape_text(index.shape)}"
        ),
    )
    for each in index.tolist():
        if not -extent <= each < extent:
            raise IndexError(
                f"index_select(): index contains {each} that is out of range for tensor of size {shape_text(self.shape)} at "
                f"dimension {place}"
            )
    index = aten.where(aten.lt(index, 0), aten.add(index, extent), index)
    size = list(self.shape)
    size[place] = index.shape[0]
    if place >= sparse:
        values = aten.index_select(given.values, place - sparse + 1, index)
        return make(given.indices, values, size)
    row = aten.select(given.indices, 0, place)
    order = aten.argsort(row, stable=True)
    ordered = aten.index_select(row, 0, order)
    first, last = aten.searchsorted(ordered, index), aten.searchsorted(ordered, index, right=True)
    counts = aten.sub(last, first)
    target, step = runs(counts)
    entry = aten.index_select(order, 0, aten.add(aten.index_select(first, 0, target), step))
    rows = [aten.index_select(one, 0, entry) for one in aten.unbind(given.indices)]
    rows[place] = target
    return make(aten.stack(rows), aten.index_select(given.values, 0, entry), size)


@kernel("cat")
def cat(tensors: Sequence[Tensor], dim: int = 0) -> Any:
    """Sparse tensors one after the other in a dimension."""
    first = tensors[0]
    place = wrapped(dim, first.dim())
    sparse = first.sparse_dim()
    for number, tensor in enumerate(tensors):
        _check_joins(first, tensor, place, number)
    size = list(first.shape)
    size[place] = sum(tensor.shape[place] for tensor in tensors)
    indices, values, before = [], [], 0
    for tensor in tensors:
        given = parts(tensor)
        extent = tensor.shape[place]
        if place < sparse:
            rows = list(aten.unbind(given.indices))
            rows[place] = aten.add(rows[place], before)
            indices.append(aten.stack(rows))
            values.append(given.values)
        else:
            indices.append(given.indices)
            shape = list(given.values.shape)
            at = place - sparse + 1
            kept = {"dtype": given.values.dtype, "device": given.values.device}
            lead = aten.zeros([*shape[:at], before, *shape[at + 1 :]], **kept)
            rest = aten.zeros([*shape[:at], size[place] - before - extent, *shape[at + 1 :]], **kept)
            values.append(aten.cat([lead, given.values, rest], at))
        before += extent
    return make(aten.cat(indices, 1), aten.cat(values), size)


def _check_joins(first: Tensor, tensor: Tensor, place: int, number: int) -> None:
    check(
        is_sparse(tensor),
        lambda: f"Concatenating sparse tensors, but a dense tensor was found at position {number}.",
    )
    sizes = list(first.shape), list(tensor.shape)
    check(
        [*sizes[0][:place], *sizes[0][place + 1 :]] == [*sizes[1][:place], *sizes[1][place + 1 :]],
        lambda: (
            f"All tensors must have the same shape: {shape_text(sizes[0])} (except in the concatenating dimension), but "
            f"found shape: {shape_text(sizes[1])} at position {number}."
        ),
    )
    one, two = (first.sparse_dim(), first.dense_dim()), (tensor.sparse_dim(), tensor.dense_dim())
    check(
        one == two,
        lambda: (
            f"All tensors must have the same sparse_dim and dense_dim: {one[0]}, {one[1]}, but tensor at position "
            f"{number} has {two[0]}, {two[1]}."
        ),
    )


@kernel("stack")
def stack(tensors: Sequence[Tensor], dim: int = 0) -> Any:
    """Sparse tensors of one size, along a new dimension."""
    for number, tensor in enumerate(tensors):
        check(
            tensor.shape == tensors[0].shape,
            lambda number=number, tensor=tensor: (
                f"stack expects each tensor to be equal size, but got {shape_text(tensors[0].shape)} at entry 0 and "
                f"{shape_text(tensor.shape)} at entry {number}"
            ),
        )
    return cat([aten.unsqueeze(tensor, dim) for tensor in tensors], wrapped(dim, tensors[0].dim() + 1))


@kernel("_sparse_sum.dim")
def sparse_sum(self: Tensor, dim: Sequence[int]) -> Any:
    """The sum over some dimensions; dense where no sparse one is left."""
    rank, sparse = self.dim(), self.sparse_dim()
    dims = [wrapped(one, rank) for one in dim]
    for one in dims:
        check(dims.count(one) == 1, lambda one=one: f"dim {one} appears multiple times in the list of dims")
    given = parts(coalesced(self))
    dense = [one - sparse + 1 for one in dims if one >= sparse]
    values = aten.sum(given.values, dense, dtype=given.values.dtype) if dense else given.values
    kept = [one for one in range(sparse) if one not in dims]
    if not kept:
        return aten.sum(values, [0], dtype=values.dtype)
    size = [length for one, length in enumerate(self.shape) if one not in dims]
    made = make(_rows(given.indices, kept), values, size, given.coalesced and len(kept) == sparse)
    return made if len(kept) == sparse else coalesced(made)


@kernel("sum.dim_IntList")
def sum_dim(self: Tensor, dim: Sequence[int] | None, keepdim: bool = False, dtype: Dtype | None = None) -> Any:
    """The sum over some dimensions, integers in 64 bits."""
    rank = self.dim()
    dims = sorted({wrapped(one, rank) for one in (dim or range(rank))})
    given = self.dtype
    wanted = dtype or (given if given.is_floating_point or given.is_complex else int64)
    source = self if wanted is given else aten._to_copy(self, dtype=wanted)
    made = sparse_sum(source, dims)
    if keepdim and is_sparse(made):
        for one in dims:
            made = unsqueeze(made, one)
    elif keepdim:
        made = _with_dims(made, dims)
    elif is_sparse(made):
        return coalesced(made)
    return made


def _with_dims(made: Tensor, dims: Sequence[int]) -> Any:
    """Return a dense sum with the dimensions back that were summed over."""
    for one in dims:
        made = aten.unsqueeze(made, one)
    return made


@kernel("expand")
def expand(self: Tensor, size: Sequence[int], implicit: bool = False) -> Any:
    """Raises, as in torch."""
    raise RuntimeError("expand is unsupported for Sparse tensors")


@kernel("any")
def any_(self: Tensor) -> Any:
    """Whether an element is not zero."""
    return aten.any(parts(coalesced(self)).values)


def _normalized(self: Tensor, dim: int, half_to_float: bool, name: str) -> Any:
    """Return `name`, a softmax, of the entries alone: those that are not stored count as minus infinity."""
    check(not half_to_float, lambda: f"{name} with half to float conversion is not supported on CPU")
    entries = coalesced(self)
    given, place, sparse = parts(entries), wrapped(dim, self.dim()), self.sparse_dim()
    if place >= sparse:
        values = getattr(aten, name)(given.values, place - sparse + 1, False)
        return make(given.indices, values, self.shape, True)
    flat = aten.zeros([given.values.shape[0]], dtype=int64, device=given.indices.device)
    for number, row in enumerate(index_of(entries)):
        if number != place:
            flat = aten.add(aten.mul(flat, self.shape[number]), row)
    pools, member = aten._unique2(flat, True, True)[:2]
    shape = [pools.shape[0], *given.values.shape[1:]]
    spread = aten.expand(aten.view(member, [-1] + [1] * (given.values.dim() - 1)), list(given.values.shape))
    lowest = aten.full(shape, float("-inf"), dtype=given.values.dtype, device=given.values.device)
    highest = aten.index_select(aten.scatter_reduce(lowest, 0, spread, given.values, "amax"), 0, member)
    shifted = aten.sub(given.values, highest)
    powers = aten.exp(shifted)
    sums = aten.index_add(aten.zeros(shape, dtype=powers.dtype, device=powers.device), 0, member, powers)
    each = aten.index_select(sums, 0, member)
    values = aten.div(powers, each) if name == "_softmax" else aten.sub(shifted, aten.log(each))
    return make(given.indices, values, self.shape, True)


@kernel("_sparse_softmax")
def softmax(self: Tensor, dim: int, half_to_float: bool) -> Any:
    """Softmax over what is stored."""
    return _normalized(self, dim, half_to_float, "_softmax")


@kernel("_sparse_log_softmax")
def log_softmax(self: Tensor, dim: int, half_to_float: bool) -> Any:
    """The logarithm of softmax over what is stored."""
    return _normalized(self, dim, half_to_float, "_log_softmax")


def at_indices(dense_or_sparse: Tensor, indices: Tensor) -> Any:
    """Return the elements of a tensor at these indices."""
    tensor = to_dense(dense_or_sparse) if is_sparse(dense_or_sparse) else dense_or_sparse
    if not indices.shape[0]:
        return aten.expand(aten.unsqueeze(tensor, 0), [indices.shape[1], *tensor.shape])
    return aten.index(tensor, list(aten.unbind(indices)))

"""Indexing: the position of an example in the batch is one more index."""

from __future__ import annotations

from typing import Any

from mindtorch_storage.device import device as Device
from mindtorch_storage.dtype import bool as bool_dtype
from mindtorch_storage.strides import broadcast_shapes

from ...batching.fallback import looped
from ...batching.geometry import batched, example_shape, front, is_tensor, padded, place, rank
from ...batching.levels import Batch
from ...batching.steps import aten, invoke
from ...table import OpRow
from ...typing import Tensor
from .table import rule

_MASKED = (
    "vmap: We do not support batching operators that can support dynamic shape. Attempting to batch over indexing with a "
    "boolean mask."
)


@rule(
    "gather",
    "scatter.src",
    "scatter.value",
    "scatter.reduce",
    "scatter.value_reduce",
    "scatter_add",
    "scatter_reduce.two",
)
def gather(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """Ops whose index has the rank of the tensor."""
    flat = not rank(values[0], dims[0])
    made = []
    for value, dim in zip(values, dims, strict=True):
        if not is_tensor(value):
            made.append(value)
            continue
        one = batched(value, dim, batch.size)
        made.append(aten.unsqueeze(one, 1) if one.dim() == 1 else one)
    made[1] = place(values[1], rank(values[0], dims[0]))
    result = invoke(row, made)
    if row.packet == "gather":
        flat = not rank(values[2], dims[2])
    return (aten.squeeze(result, 1) if flat else result), 0


def _spread(index: Tensor, like: Any, at: int) -> Any:
    """Return [B, k] positions as an index of every element along dimension `at`."""
    shape = [1] * like.dim()
    shape[0], shape[at] = index.shape
    wanted = list(like.shape)
    wanted[at] = index.shape[1]
    return aten.expand(aten.reshape(index, shape), wanted)


@rule("index_select", "index_add", "index_copy", "index_fill.int_Scalar", "index_fill.int_Tensor", "index_reduce")
def along_index(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """Ops with one list of positions along a dimension."""
    self, dim, index, *rest = values
    ndim = rank(self, dims[0])
    at = place(dim, ndim)
    selecting, adding = row.packet == "index_select", row.packet == "index_add"
    if dims[2] is None and row.name != "index_fill.int_Tensor":
        made = [aten.unsqueeze(v, 1) if v.dim() == 1 else v
                for v in [batched(self, dims[0], batch.size)]]  # fmt: skip
        source = [batched(v, d, batch.size) if is_tensor(v) else v for v, d in zip(rest, dims[3:], strict=True)]
        source = [aten.unsqueeze(v, 1) if is_tensor(v) and v.dim() == 1 else v for v in source]
        result = invoke(row, [made[0], at, index, *source])
        kept = ndim > 1 or (ndim == 1 and (rank(index, None) or not selecting))
        return (result if kept else aten.squeeze(result, 1)), 0
    if selecting and not ndim:
        return aten.clone(batched(self, dims[0], batch.size)), 0
    if (not selecting and not adding) or not ndim:
        return looped(row, batch, values, dims)
    self = batched(self, dims[0], batch.size)
    positions = batched(index, dims[2], batch.size)
    positions = aten.unsqueeze(positions, 1) if positions.dim() == 1 else positions
    if selecting:
        return aten.gather(self, at, _spread(positions, self, at)), 0
    source = batched(rest[0], dims[3], batch.size)
    source = source if rest[1] == 1 else aten.mul(source, rest[1])
    return aten.scatter_add(self, at, _spread(positions, self, at), source), 0


@rule("take")
def take(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`take`: positions in the example as one sequence."""
    self, index = values
    if dims[0] is None:
        return aten.take(self, index), dims[1]
    flat = aten.reshape(front(self, dims[0]), [batch.size, -1])
    positions = batched(index, dims[1], batch.size)
    extent = flat.shape[1]
    rows = aten.reshape(positions, [batch.size, -1])
    rows = aten.where(aten.lt(rows, 0), aten.add(rows, extent), rows)
    return aten.reshape(aten.gather(flat, 1, rows), list(positions.shape)), 0


def _integers(indices: list[Any], dims: list[Any]) -> tuple[list[Any], list[Any]]:
    """Return the indices with every mask replaced by the positions where it holds; torch's error for a batch of masks."""
    found, places = [], []
    for one, dim in zip(indices, dims, strict=True):
        if one is None or one.dtype.name not in ("bool", "uint8"):
            found.append(one)
            places.append(dim)
            continue
        if dim is not None:
            raise RuntimeError(_MASKED)
        where = list(aten.unbind(aten.nonzero(one), 1))
        found += where
        places += [None] * len(where)
    return found, places


def _laid_out(indices: list[Any], dims: list[Any], ndim: int) -> tuple[list[Any], int, bool, int]:
    """Return the indices with equal ranks and a batch dimension where one has it, their rank, whether they are next to
    each other, and where the first is."""
    given = [at for at, one in enumerate(indices) if one is not None]
    most = max(rank(indices[at], dims[at]) for at in given)
    made: list[Any] = [None] * len(indices)
    for at in given:
        made[at] = indices[at] if dims[at] is None else padded(front(indices[at], dims[at]), most)
    together = given == list(range(given[0], given[-1] + 1))
    return made, most, together, given[0]


def _numbers(batch: Batch, ndim: int, device: Device) -> Any:
    return aten.reshape(aten.arange(batch.size, device=device), [batch.size, *[1] * ndim])


@rule("_index_integer", "_index_masked")
def index(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`tensor[indices]`."""
    self, indices = values
    places = dims[1] if isinstance(dims[1], list) else [None] * len(indices)
    indices, places = _integers(indices, places)
    some = any(dim is not None for dim in places)
    made, most, together, first = _laid_out(indices, places, rank(self, dims[0]))
    call = aten.index.Tensor
    if not some:
        result = call(front(self, dims[0]), [None, *made])
        return result, 0 if together else most
    if dims[0] is None:
        return call(self, made), first if together else 0
    made = [_numbers(batch, most, self.device), *made]
    result = call(front(self, dims[0]), made)
    if together and first:  # the batch's index is apart from the others, so all of them came out first
        before = first
        order = [0, *range(1 + most, 1 + most + before), *range(1, 1 + most), *range(1 + most + before, result.dim())]
        result = aten.permute(result, order)
    return result, 0


@rule("index_put")
def index_put(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`index_put`: the batch's own index comes first, and values are laid out as that makes them."""
    self, indices, given, accumulate = values
    places = dims[1] if isinstance(dims[1], list) else [None] * len(indices)
    if len(indices) == 1 and indices[0].dtype is bool_dtype and not rank(given, dims[2]):
        mask = indices[0] if places[0] is None else front(indices[0], places[0])
        mask = mask if places[0] is not None else aten.unsqueeze(mask, 0)
        target = batched(self, dims[0], batch.size)
        for _ in range(target.dim() - mask.dim()):
            mask = aten.unsqueeze(mask, mask.dim())
        value = given if dims[2] is None else aten.reshape(given, [-1, *[1] * (target.dim() - 1)])
        return aten.where(mask, aten.add(target, value) if accumulate else value, target), 0
    indices, places = _integers(indices, places)
    target = batched(self, dims[0], batch.size)
    shape = list(target.shape[1:])
    made, most, together, first = _laid_out(indices, places, len(shape))
    extents = list(broadcast_shapes(*[tuple(example_shape(one, dim)) for one, dim in zip(indices, places, strict=True)
                                      if one is not None]))  # fmt: skip
    count = sum(one is not None for one in indices)
    kept = [extent for at, extent in enumerate(shape) if at >= len(indices) or indices[at] is None]
    start = first if together else 0
    result_shape = [*kept[:start], *extents, *kept[start:]]
    given = given if dims[2] is None else padded(front(given, dims[2]), len(result_shape))
    if dims[2] is not None or (together and first):
        given = aten.expand(given if dims[2] is not None else aten.unsqueeze(_ranked(given, len(result_shape)), 0),
                            [batch.size, *result_shape])  # fmt: skip
        if start:
            order = [0, *range(1 + start, 1 + start + most), *range(1, 1 + start),
                     *range(1 + start + most, given.dim())]  # fmt: skip
            given = aten.permute(given, order)
    assert count
    return aten.index_put(target, [_numbers(batch, most, self.device), *made], given, accumulate), 0


def _ranked(value: Any, wanted: int) -> Any:
    return aten.reshape(value, [*[1] * (wanted - value.dim()), *value.shape])


@rule("masked_select")
def masked_select(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`masked_select`: refused for a batch of masks."""
    if dims[1] is not None:
        raise RuntimeError(
            "vmap: Attempted to vmap over `mask` in torch.masked_select(self, mask) We cannot support this because for each "
            "batch this would return a differently shaped Tensor. Please file an issue at "
            "https://github.com/pytorch/pytorch/issues if you need this feature."
        )
    self = front(values[0], dims[0])
    shape = list(broadcast_shapes(tuple(self.shape[1:]), tuple(values[1].shape)))
    flat = aten.reshape(aten.expand(padded(self, len(shape)), [batch.size, *shape]), [batch.size, -1])
    where = aten.nonzero(aten.reshape(aten.expand(values[1], shape), [-1]))
    return aten.index_select(flat, 1, aten.squeeze(where, 1)), 0


@rule("one_hot")
def one_hot(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`one_hot` of a known number of classes."""
    if values[1] == -1:
        raise RuntimeError(
            "When vmap-ing torch.nn.functional.one_hot, please provide an explicit positive num_classes argument."
        )
    return invoke(row, [front(values[0], dims[0]), values[1]]), 0

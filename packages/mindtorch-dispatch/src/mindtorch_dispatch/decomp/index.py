"""Indexing composed of other ops."""

from __future__ import annotations

from typing import Any

from mindtorch_storage.dtype import bool as bool_dtype

from ..call import aten
from ..meta.checks import check, wrap_dim


def index(self: Any, indices: Any) -> Any:
    """`self[indices]`: masks become positions first, so that one kernel serves both."""
    if any(one is not None and one.dtype.name in ("bool", "uint8") for one in indices):
        return aten._index_masked.default(self, indices)
    return aten._index_integer.default(self, indices)


def masked_scatter(self: Any, mask: Any, source: Any) -> Any:
    """Elements of `source` in order, where the mask holds."""
    check(mask.dtype is bool_dtype, lambda: "masked_scatter_ only supports boolean masks, but got mask with dtype "
          f"{mask.dtype.scalar_name}")
    check(
        self.dtype is source.dtype,
        lambda: "masked_scatter: expected self and source to have same dtypes but got "
        f"{self.dtype.scalar_name} and {source.dtype.scalar_name}",
    )
    target, chosen = aten.broadcast_tensors([self, mask])
    positions = aten.nonzero(aten.reshape(chosen, [-1])).reshape([-1])
    count = positions.shape[0]
    check(source.numel() >= count, lambda: "Number of elements of source < number of ones in mask")
    flat = aten.reshape(target, [-1])
    values = aten.slice(aten.reshape(source, [-1]), 0, 0, count)
    return aten.reshape(aten.index_put(flat, [positions], values), list(target.shape))


def argwhere(self: Any) -> Any:
    """`nonzero`."""
    return aten.nonzero(self)


def where_positions(condition: Any) -> Any:
    """The positions where the condition holds, a tensor per dimension."""
    if not condition.shape:
        return list(aten.unbind(aten.nonzero(aten.unsqueeze(condition, 0)), 1))
    return list(aten.unbind(aten.nonzero(condition), 1))


def nonzero_as_tuple(self: Any, as_tuple: bool) -> Any:
    """`nonzero` as Python offers it: positions as rows, or a tensor per dimension."""
    return tuple(where_positions(self)) if as_tuple else aten.nonzero.default(self)


def take(self: Any, index: Any) -> Any:
    """Elements of the flattened tensor."""
    check(index.dtype.name == "int64", lambda: f"take(): Expected a long tensor for index, but got {index.dtype.scalar_name}")
    check(
        self.numel() > 0 or index.numel() == 0,
        lambda: "take(): tried to take from an empty tensor",
        IndexError,
    )
    count = self.numel()
    flat = aten.reshape(self, [-1])
    if index.numel() == 0:
        return aten.reshape(aten.index_select(flat, 0, aten.reshape(index, [-1])), list(index.shape))
    low, high = int(index.min().item()), int(index.max().item())
    check(low >= -count and high < count, lambda: "out of range: tried to access index "
          f"{high if high >= count else low} on a tensor of {count} elements.", IndexError)
    return aten.index.Tensor(flat, [index])


def put(self: Any, index: Any, source: Any, accumulate: bool) -> Any:
    """Elements written at positions of the flattened tensor."""
    check(index.dtype.name == "int64", lambda: f"put_(): Expected a long tensor for index, but got {index.dtype.scalar_name}")
    check(
        self.dtype is source.dtype,
        lambda: "put_(): self and source expected to have the same dtype, but got self.dtype = "
        f"{self.dtype.scalar_name} and source.dtype = {source.dtype.scalar_name}",
    )
    check(
        index.numel() == source.numel(),
        lambda: f"put_(): Expected source and index to have the same number of elements, but got source.numel() = "
        f"{source.numel()}, index.numel() = {index.numel()}",
    )
    flat = aten.reshape(self, [-1])
    made = aten.index_put(flat, [aten.reshape(index, [-1])], aten.reshape(source, [-1]), accumulate)
    return aten.reshape(made, list(self.shape))


def take_along_dim(self: Any, indices: Any, dim: int | None) -> Any:
    """`gather` with broadcasting; without dim on the flattened tensor."""
    check(
        indices.dtype.name == "int64",
        lambda: f"torch.take_along_dim(): dtype of indices should be Long but got {indices.dtype.scalar_name}",
    )
    if dim is None:
        return aten.gather(aten.reshape(self, [-1]), 0, aten.reshape(indices, [-1]))
    check(
        len(self.shape) == len(indices.shape),
        lambda: "torch.take_along_dim(): input and indices should have the same number of dimensions, but got "
        f"{len(self.shape)} dimensions for input, and {len(indices.shape)} dimensions for indices",
    )
    dim = wrap_dim(dim, len(self.shape))
    from_shape = list(self.shape)
    to_shape = list(indices.shape)
    common = [max(a, b) if 1 in (a, b) else a for a, b in zip(from_shape, to_shape, strict=True)]
    source = aten.expand(self, [*common[:dim], from_shape[dim], *common[dim + 1 :]])
    places = aten.expand(indices, [*common[:dim], to_shape[dim], *common[dim + 1 :]])
    return aten.gather(source, dim, places)

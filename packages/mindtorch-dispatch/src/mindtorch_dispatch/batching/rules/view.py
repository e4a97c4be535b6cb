"""Views: the batch dimension goes first and every other one moves up."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...batching.geometry import batched, front, place, places, rank
from ...batching.levels import Batch
from ...batching.steps import aten, invoke
from ...meta.checks import check
from ...table import OpRow
from .table import rule


@rule("alias", "detach")
def same(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """Views that change nothing."""
    return invoke(row, values), dims[0]


@rule("view_as_real", "view_as_complex", "view.dtype", "tril", "triu")
def trailing(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """Ops on the last dimensions, whatever comes before them."""
    check(
        row.packet not in ("tril", "triu") or rank(values[0], dims[0]) >= 2,
        lambda: f"{row.packet}: input tensor must have at least 2 dimensions",
    )
    return invoke(row, [front(values[0], dims[0]), *values[1:]]), 0


@rule("view", "_unsafe_view")
def view(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`view`."""
    self, size = front(values[0], dims[0]), list(values[1])
    if not batch.size and -1 in size:
        size[size.index(-1)] = _missing(self.shape[1:], size)
    if row.packet == "_unsafe_view":  # of memory that nothing else shows, in an order that the batch may have changed
        return aten.reshape(self, [self.shape[0], *size]), 0
    return invoke(row, [self, [self.shape[0], *size]]), 0


def _missing(shape: Sequence[int], size: list[int]) -> int:
    have, known = 1, 1
    for extent in shape:
        have *= extent
    for extent in size:
        known *= extent if extent != -1 else 1
    return have // known if known else 0


@rule("_reshape_alias")
def reshape_alias(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`_reshape_alias`."""
    self = front(values[0], dims[0])
    return invoke(row, [self, [self.shape[0], *values[1]], [self.stride(0), *values[2]]]), 0


@rule("expand")
def expand(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`expand`."""
    self, size = front(values[0], dims[0]), list(values[1])
    for _ in range(len(size) + 1 - self.dim()):
        self = aten.unsqueeze(self, 1)
    return aten.expand(self, [self.shape[0], *size]), 0


@rule("permute")
def permute(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`permute`."""
    ndim = rank(values[0], dims[0])
    order = [0, *[place(dim, ndim) for dim in values[1]]]
    check(
        len(values[1]) == ndim,
        lambda: (
            f"permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
            f"ordering of dimensions i.e. input.dim() = {ndim} is not equal to len(dims) = {len(values[1])}"
        ),
    )
    return aten.permute(front(values[0], dims[0]), order), 0


@rule("transpose.int")
def transpose(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`transpose`."""
    self, ndim = front(values[0], dims[0]), rank(values[0], dims[0])
    first, second = place(values[1], ndim), place(values[2], ndim)
    return (aten.transpose(self, first, second) if ndim else aten.alias(self)), 0


@rule("t")
def t(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`t`."""
    self, ndim = front(values[0], dims[0]), rank(values[0], dims[0])
    check(ndim <= 2, lambda: f"t() expects a tensor with <= 2 dimensions, but self is {ndim}D")
    return (aten.transpose(self, 1, 2) if ndim == 2 else aten.alias(self)), 0


@rule("unsqueeze")
def unsqueeze(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`unsqueeze`."""
    return aten.unsqueeze(front(values[0], dims[0]), place(values[1], rank(values[0], dims[0]) + 1)), 0


@rule("squeeze", "squeeze.dim", "squeeze.dims")
def squeeze(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`squeeze`."""
    self, ndim = front(values[0], dims[0]), rank(values[0], dims[0])
    if len(values) == 1:
        chosen = [at for at in range(1, ndim + 1) if self.shape[at] == 1]
    else:
        given = values[1] if isinstance(values[1], (list, tuple)) else [values[1]]
        chosen = places(given, ndim) if ndim and given else []
    return (aten.squeeze.dims(self, chosen) if chosen else aten.alias(self)), 0


@rule("as_strided")
def as_strided(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`as_strided`: the same pattern over every example."""
    self = front(values[0], dims[0])
    return aten.as_strided(self, [self.shape[0], *values[1]], [self.stride(0), *values[2]], values[3]), 0


def _shifted(count: int, *, several: bool) -> Callable[..., Any]:
    """Return the rule of a view whose argument number `count` is a dimension."""

    def shift(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
        made = [front(values[0], dims[0]), *values[1:]]
        made[count] = place(values[count], rank(values[0], dims[0]))
        result = invoke(row, made)
        return result, [0] * len(result) if several else 0

    shift.__doc__ = "A view along one dimension."
    return shift


rule("select.int", "slice.Tensor")(_shifted(1, several=False))
rule("unbind.int")(_shifted(1, several=True))
rule("split.Tensor", "split_with_sizes")(_shifted(2, several=True))


@rule("unfold")
def unfold(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`unfold`."""
    self, ndim = front(values[0], dims[0]), rank(values[0], dims[0])
    at = place(values[1], ndim)
    if ndim:
        return aten.unfold(self, at, values[2], values[3]), 0
    return aten.select(aten.unfold(aten.unsqueeze(self, 1), 1, values[2], values[3]), 1, 0), 0


@rule("diagonal")
def diagonal(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`diagonal`."""
    ndim = rank(values[0], dims[0])
    first, second = place(values[2], ndim), place(values[3], ndim)
    return aten.diagonal(front(values[0], dims[0]), values[1], first, second), 0


@rule("select_backward", "slice_backward", "unfold_backward")
def view_backward(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """The gradients of views along one dimension."""
    grad, sizes = front(values[0], dims[0]), list(values[1])
    if not sizes:  # `unfold` takes a number for a vector of one
        made = [aten.unsqueeze(grad, 1), [batch.size, 1], 1, *values[3:]]
        return aten.squeeze(invoke(row, made), 1), 0
    return invoke(row, [grad, [batch.size, *sizes], place(values[2], len(sizes)), *values[3:]]), 0


@rule("diagonal_backward")
def diagonal_backward(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """The gradient of `diagonal`."""
    grad, sizes, offset, first, second = values
    made = [front(grad, dims[0]), [batch.size, *sizes], offset, place(first, len(sizes)), place(second, len(sizes))]
    return invoke(row, made), 0


@rule("select_scatter", "slice_scatter", "diagonal_scatter")
def view_scatter(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """Copies with a view of them written."""
    ndim = rank(values[0], dims[0])
    made = [batched(value, dim, batch.size) for value, dim in zip(values[:2], dims[:2], strict=True)] + values[2:]
    for at in (2,) if row.packet != "diagonal_scatter" else (3, 4):
        made[at] = place(values[at], ndim)
    return invoke(row, made), 0


@rule("diag_embed")
def diag_embed(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`diag_embed`."""
    self, offset, first, second = values
    ndim = rank(self, dims[0]) + 1
    return invoke(row, [front(self, dims[0]), offset, place(first, ndim), place(second, ndim)]), 0


@rule("repeat")
def repeat(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`repeat`."""
    self, repeats = front(values[0], dims[0]), list(values[1])
    for _ in range(len(repeats) + 1 - self.dim()):
        self = aten.unsqueeze(self, 1)
    return aten.repeat(self, [1, *repeats]), 0


@rule("cat")
def cat(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`cat`."""
    tensors, dim = values
    made, ndim = [], 0
    for value, at in zip(tensors, dims[0], strict=True):
        if rank(value, at) == 1 and value.numel() == 0 and value.shape[-1 if at != value.dim() - 1 else 0] == 0:
            continue  # an empty vector fits everywhere
        ndim = max(ndim, rank(value, at))
        made.append(
            front(value, at) if at is not None else aten.expand(aten.unsqueeze(value, 0), [batch.size, *value.shape])
        )
    if not made:
        empty = [value if at is None else aten.narrow(front(value, at), 1, 0, 0)
                 for value, at in zip(tensors, dims[0], strict=True)]  # fmt: skip
        return aten.cat([one if one.dim() == 2 else aten.expand(aten.unsqueeze(one, 0), [batch.size, 0])
                         for one in empty], 1), 0  # fmt: skip
    return aten.cat(made, place(dim, ndim)), 0

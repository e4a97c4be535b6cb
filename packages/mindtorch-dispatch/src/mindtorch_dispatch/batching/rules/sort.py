"""Searching in sorted sequences."""

from __future__ import annotations

from typing import Any

from ...batching.fallback import looped
from ...batching.geometry import batched, front, is_tensor, rank
from ...batching.levels import Batch
from ...batching.steps import aten, invoke
from ...table import OpRow
from .table import rule


def _search(sequence: object, wanted: Any, **options: object) -> Any:
    """Look up [B, ...] values in a [B, n] sequence."""
    shape = list(wanted.shape)
    found = aten.searchsorted(sequence, aten.reshape(wanted, [shape[0], -1]), **options)
    return aten.reshape(found, shape)


@rule("searchsorted.Tensor", "searchsorted.Scalar")
def searchsorted(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`searchsorted`."""
    sequence, wanted, *_ = values
    names = [argument.name for argument in row.schema.arguments[2:]]
    options = dict(zip(names, values[2:], strict=True))
    sorter = options["sorter"]
    if dims[0] is None and (sorter is None or dims[-1] is None) and rank(sequence, None) == 1:
        return invoke(row, [sequence, front(wanted, dims[1]), *values[2:]]), 0
    scalar = not is_tensor(wanted)
    if scalar:
        wanted = aten.scalar_tensor(wanted, dtype=sequence.dtype)
    if sorter is not None:
        options["sorter"] = batched(sorter, dims[-1], batch.size)
    sequence = batched(sequence, dims[0], batch.size)
    wanted = batched(wanted, dims[1], batch.size)
    if sequence.dim() == 2:
        return _search(sequence, wanted, **options), 0
    return aten.searchsorted(sequence, wanted, **options), 0


@rule("bucketize.Tensor", "bucketize.Scalar")
def bucketize(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`bucketize`."""
    if dims[1] is None:
        return invoke(row, [front(values[0], dims[0]), *values[1:]]), 0
    wanted = values[0] if is_tensor(values[0]) else aten.scalar_tensor(values[0], dtype=values[1].dtype)
    options = {"out_int32": values[2], "right": values[3]}
    return _search(front(values[1], dims[1]), batched(wanted, dims[0], batch.size), **options), 0


@rule("isin.Tensor_Tensor", "isin.Tensor_Scalar")
def isin(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`isin`."""
    if dims[1] is not None:
        return looped(row, batch, values, dims)
    return invoke(row, [front(values[0], dims[0]), *values[1:]]), 0

"""New tensors after the pattern of a batched one."""

from __future__ import annotations

from typing import Any

from ...batching.geometry import front
from ...batching.levels import Batch
from ...batching.steps import aten, invoke
from ...table import OpRow
from .table import rule


@rule("new_empty", "new_zeros", "new_ones", "new_full")
def new(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """Factories of a given size: every example gets one."""
    return invoke(row, [front(values[0], dims[0]), [batch.size, *values[1]], *values[2:]]), 0


@rule("new_empty_strided")
def new_empty_strided(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`new_empty_strided`: the examples lie one after the other."""
    self, size, stride, *options = values
    span = 1 + sum((extent - 1) * step for extent, step in zip(size, stride, strict=True)) if 0 not in size else 0
    return invoke(row, [front(self, dims[0]), [batch.size, *size], [span, *stride], *options]), 0


@rule("_new_zeros_with_same_feature_meta")
def new_zeros_with_same_feature_meta(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """The batch is one more of the first dimensions."""
    self, other, count = values
    if dims[1] is not None:
        other = front(other, dims[1])
        return invoke(row, [other, other, 0]), 0
    return invoke(row, [front(self, dims[0]), other, count + 1]), 0


@rule("fill_diagonal_")
def fill_diagonal(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`fill_diagonal_`: one matrix after the other."""
    if dims[0] is None:
        return invoke(row, values), None
    for one in aten.unbind(values[0], dims[0]):
        invoke(row, [one, *values[1:]])
    return values[0], dims[0]

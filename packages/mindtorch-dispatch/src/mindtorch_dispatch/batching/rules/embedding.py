"""Embeddings: tables of several examples are one longer table."""

from __future__ import annotations

from typing import Any

from ...batching.geometry import batched, folded, front
from ...batching.levels import Batch
from ...batching.steps import aten, invoke
from ...table import OpRow
from ...typing import Tensor
from .table import rule


def _offset(indices: Tensor, rows: int, batch: Batch) -> Any:
    """Return [B, ...] indices into the examples' own tables as indices into the joined one."""
    starts = aten.mul(aten.arange(batch.size, dtype=indices.dtype, device=indices.device), rows)
    return aten.add(indices, aten.reshape(starts, [batch.size, *[1] * (indices.dim() - 1)]))


@rule("embedding")
def embedding(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """`embedding`."""
    weight, indices, *rest = values
    if dims[0] is None:
        return invoke(row, [weight, front(indices, dims[1]), *rest]), 0
    weight = front(weight, dims[0])
    places = _offset(batched(indices, dims[1], batch.size), weight.shape[1], batch)
    return aten.embedding(folded(weight), places, -1, False, False), 0


@rule("embedding_dense_backward")
def embedding_backward(row: OpRow, batch: Batch, values: list[Any], dims: list[Any]) -> Any:
    """The gradient of `embedding`, a table for every example."""
    grad, indices, rows, padding, scaled = values
    places = _offset(batched(indices, dims[1], batch.size), rows, batch)
    made = invoke(row, [batched(grad, dims[0], batch.size), places, rows * batch.size, -1, scaled])
    made = aten.reshape(made, [batch.size, rows, *made.shape[1:]])
    if padding >= 0:
        kept = aten.ne(aten.arange(rows, device=made.device), padding)
        made = aten.mul(made, aten.unsqueeze(kept, 1))
    return made, 0

"""Embedding tables: bags and the gradients that are not plain."""

from __future__ import annotations

from typing import Any

from mindtorch_storage.dtype import int64

from ..call import aten
from ..meta.checks import check
from ..typing import Tensor


def embedding_backward(
    grad: Tensor, indices: Tensor, num_weights: int, padding_idx: int, scale_grad_by_freq: bool, sparse: bool
) -> Any:
    """Gradient of the table."""
    if sparse:
        return aten.embedding_sparse_backward(grad, indices, num_weights, padding_idx, scale_grad_by_freq)
    return aten.embedding_dense_backward(grad, indices, num_weights, padding_idx, scale_grad_by_freq)


def embedding_bag(
    weight: Tensor,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool,
    mode: int,
    sparse: bool,
    per_sample_weights: Tensor | None,
    include_last_offset: bool,
    padding_idx: int | None = None,
) -> Any:
    """Bags of rows; a padding index may count from the end."""
    if padding_idx is None:
        padding_idx = -1
    else:
        rows = weight.shape[0]
        check(
            -rows <= padding_idx < rows,
            lambda: (
                f"padding_idx must be within the number of embeddings, -{rows} through {rows - 1}, but got "
                f"{padding_idx}"
            ),
        )
        padding_idx = padding_idx + rows if padding_idx < 0 else padding_idx
    if {indices.dtype.name, offsets.dtype.name} == {"int32", "int64"}:
        indices, offsets = (
            one if one.dtype is int64 else aten._to_copy(one, dtype=int64) for one in (indices, offsets)
        )
    return aten._embedding_bag(
        weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset, padding_idx
    )


def embedding_bag_backward(
    grad: Tensor,
    indices: Tensor,
    offsets: Tensor,
    offset2bag: Tensor,
    bag_size: Tensor,
    maximum_indices: Tensor,
    num_weights: int,
    scale_grad_by_freq: bool,
    mode: int,
    sparse: bool,
    per_sample_weights: Tensor | None,
    padding_idx: int,
) -> Any:
    """Gradient of the table."""
    if sparse:
        raise NotImplementedError(
            "embedding_bag(sparse=True): gradients with the layout torch.sparse_coo are not supported"
        )
    if offset2bag.shape[0] != indices.shape[0]:
        positions = aten.arange(indices.shape[0], dtype=offsets.dtype, device=offsets.device)
        offset2bag = aten.sub(aten.searchsorted(aten.contiguous(offsets), positions, right=True), 1)
    return aten._embedding_bag_dense_backward(
        grad,
        indices,
        offset2bag,
        bag_size,
        maximum_indices,
        num_weights,
        scale_grad_by_freq,
        mode,
        per_sample_weights,
        padding_idx,
    )

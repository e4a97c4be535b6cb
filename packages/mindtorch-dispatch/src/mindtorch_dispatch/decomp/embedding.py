"""Embedding tables: bags and the gradients that are not plain."""

from __future__ import annotations

from typing import Any

from mindtorch_storage.dtype import int64

from ..call import aten
from ..meta.checks import check
from ..typing import Tensor

MEAN = 1


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
    if offset2bag.shape[0] != indices.shape[0]:
        positions = aten.arange(indices.shape[0], dtype=offsets.dtype, device=offsets.device)
        offset2bag = aten.sub(aten.searchsorted(aten.contiguous(offsets), positions, right=True), 1)
    if sparse:
        return aten._embedding_bag_sparse_backward(
            grad,
            indices,
            offsets,
            offset2bag,
            bag_size,
            num_weights,
            scale_grad_by_freq,
            mode,
            per_sample_weights,
            padding_idx,
        )
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


def embedding_bag_sparse_backward(
    grad: Tensor,
    indices: Tensor,
    offsets: Tensor,
    offset2bag: Tensor,
    bag_size: Tensor,
    num_weights: int,
    scale_grad_by_freq: bool,
    mode: int,
    per_sample_weights: Tensor | None,
    padding_idx: int = -1,
) -> Any:
    """Gradient of the table as the rows of it that were taken, one for each index."""
    if offsets.shape[0] > grad.shape[0]:  # indices after the last offset are in no bag
        grad = aten.constant_pad_nd(grad, [0, 0, 0, 1])
    rows = aten.index_select(grad, 0, offset2bag)
    if mode == MEAN:
        sizes = aten.index_select(bag_size, 0, offset2bag)
        rows = aten.div(rows, aten._to_copy(aten.unsqueeze(sizes, 1), dtype=rows.dtype))
    if per_sample_weights is not None:
        rows = aten.mul(rows, aten.unsqueeze(per_sample_weights, 1))
    return aten.embedding_backward(rows, indices, num_weights, padding_idx, scale_grad_by_freq, True)

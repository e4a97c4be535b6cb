"""Embedding tables."""

from __future__ import annotations

from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.typing import Tensor
from mindtorch_storage.spec import Spec

from ..derivative import NON_DIFFERENTIABLE, derivative


def dense_twice(grad: Tensor, indices: Tensor, padding_idx: int) -> Any:
    """Gradient of `embedding_dense_backward`: the rows again, zero at the padding."""
    rows = aten.index_select(grad, 0, aten.reshape(indices, [-1]))
    rows = aten.reshape(rows, [*indices.shape, rows.shape[-1]])
    if padding_idx < 0:
        return rows
    return aten.masked_fill(rows, aten.unsqueeze(aten.eq(indices, padding_idx), -1), 0)


def bag_weight(
    grad: Tensor,
    weight_spec: Spec,
    indices: Tensor,
    offsets: Tensor,
    scale_grad_by_freq: bool,
    mode: int,
    sparse: bool,
    per_sample_weights: Tensor | None,
    padding_idx: int,
    result1: Tensor,
    result2: Tensor,
    result3: Tensor,
) -> Any:
    """Gradient of the table of a bag."""
    return aten._embedding_bag_backward(
        grad,
        indices,
        offsets,
        result1,
        result2,
        result3,
        weight_spec.shape[0],
        scale_grad_by_freq,
        mode,
        sparse,
        per_sample_weights,
        padding_idx,
    )


derivative(
    "embedding",
    weight=lambda grad, weight_spec, indices, padding_idx, scale_grad_by_freq, sparse: aten.embedding_backward(
        grad, indices, weight_spec.shape[0], padding_idx, scale_grad_by_freq, sparse
    ),
)
derivative(
    "embedding_dense_backward",
    grad_output=lambda grad, indices, padding_idx: dense_twice(grad, indices, padding_idx),
)
derivative(
    "_embedding_bag",
    weight=bag_weight,
    per_sample_weights=lambda grad, weight, indices, offsets, mode, padding_idx, result1: (
        aten._embedding_bag_per_sample_weights_backward(grad, weight, indices, offsets, result1, mode, padding_idx)
    ),
)
derivative("one_hot", NON_DIFFERENTIABLE)

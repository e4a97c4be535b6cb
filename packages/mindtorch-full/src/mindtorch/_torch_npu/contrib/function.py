"""`torch_npu.contrib.function`."""

from __future__ import annotations

from typing import Any

import mindtorch as torch
from mindtorch._torch_npu.operators import npu_giou, npu_iou, npu_ptiou

__all__ = [
    "dropout_with_byte_mask", "fuse_add_softmax_dropout", "matmul_transpose", "npu_fast_condition_index_put", "npu_giou",
    "npu_iou", "npu_ptiou", "roll",
]  # fmt: skip


def matmul_transpose(tensor1: Any, tensor2: Any) -> Any:
    """Return the product of the first with the second, whose last two dimensions change places."""
    return torch.matmul(tensor1, tensor2.transpose(-2, -1))


def npu_fast_condition_index_put(x: Any, condition: Any, value: Any) -> Any:
    """Write a number where a condition holds, in place."""
    return x.masked_fill_(condition.bool(), value)


def fuse_add_softmax_dropout(
    training: bool, dropout: Any, attn_mask: Any, attn_scores: Any, attn_head_size: float, p: float = 0.5, dim: int = -1
) -> Any:
    """Return dropout of `softmax` of the scores times a factor, plus the mask."""
    probabilities = torch.softmax(torch.add(attn_mask, attn_scores, alpha=attn_head_size), dim)
    return torch.nn.functional.dropout(probabilities, p, training)


def dropout_with_byte_mask(input1: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Return the tensor with elements left out by chance."""
    return torch.nn.functional.dropout(input1, p, training, inplace)


def roll(inputs: Any, shifts: Any, dims: Any) -> Any:
    """Return the tensor shifted around."""
    return torch.roll(inputs, shifts, dims)

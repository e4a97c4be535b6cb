"""Losses over parts of a vocabulary, as processes hold them that share it, under torch_npu's names."""

from __future__ import annotations

import mindtorch as torch
from mindtorch._torch_npu._operator import operator, refuse
from mindtorch.nn import functional as F
from mindtorch.tensor.tensor import Tensor

__all__ = [
    "npu_fused_cross_entropy_loss_with_max_sum", "npu_fused_linear_online_max_sum",
]  # fmt: skip


@operator(
    "npu_fused_linear_online_max_sum(Tensor input, Tensor weight, Tensor target, int vocab_start_index, "
    "int vocab_end_index, bool return_logits=False) -> (Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)"
)
def npu_fused_linear_online_max_sum(
    input: Tensor, weight: Tensor, target: Tensor, vocab_start_index: int, vocab_end_index: int,
    return_logits: bool = False,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """Return of scores of a part of the vocabulary each row's largest, sum and target's, and which targets are elsewhere.

    They are bits, eight rows a byte, the first row's the highest. The last ones are the targets' places in the part and,
    where they are asked for, the scores.
    """
    logits = (input @ weight.t()).float()
    largest = logits.amax(-1)
    less = logits - largest.unsqueeze(-1)
    elsewhere = (target < vocab_start_index) | (target > vocab_end_index)
    place = (target - vocab_start_index).masked_fill(elsewhere, 0)
    found = less.gather(1, place.long().unsqueeze(1)).squeeze(1).masked_fill(elsewhere, 0.0)
    bits = F.pad(elsewhere.to(torch.int32), [0, -len(target) % 8], value=1).reshape(-1, 8)
    packed = (bits * 2 ** torch.arange(7, -1, -1, device=target.device, dtype=torch.int32)).sum(1).to(torch.uint8)
    shown = (input @ weight.t()) if return_logits else input.new_empty(0)
    return largest, less.exp().sum(-1), found, packed, place, shown


@operator(
    "npu_fused_cross_entropy_loss_with_max_sum(Tensor logits_max, Tensor sum_exp_logits, Tensor predicted_logits, *, "
    "float? label_smoothing=0.0, Tensor? input=None, Tensor? weight=None, Tensor? vocab_parallel_logits=None) "
    "-> (Tensor, Tensor)"
)
def npu_fused_cross_entropy_loss_with_max_sum(
    logits_max: Tensor, sum_exp_logits: Tensor, predicted_logits: Tensor, *, label_smoothing: float | None = 0.0,
    input: Tensor | None = None, weight: Tensor | None = None, vocab_parallel_logits: Tensor | None = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return each row's loss, and `softmax` of the scores where they are given."""
    if label_smoothing or input is not None or weight is not None:
        refuse("npu_fused_cross_entropy_loss_with_max_sum", "label_smoothing, input and weight")
    loss = sum_exp_logits.log() - predicted_logits
    if vocab_parallel_logits is None:
        return loss, loss.new_empty(0)
    less = vocab_parallel_logits.float() - logits_max.unsqueeze(-1)
    return loss, less.exp() / sum_exp_logits.unsqueeze(-1)

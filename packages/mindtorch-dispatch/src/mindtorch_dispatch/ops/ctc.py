"""Connectionist temporal classification."""

from ..decomp import ctc as composed
from ..meta import ctc as rules
from ..table import op

_LISTS = "Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths"
_TENSORS = "Tensor log_probs, Tensor targets, Tensor input_lengths, Tensor target_lengths"

op(
    f"_ctc_loss({_LISTS}, int blank=0, bool zero_infinity=False) -> (Tensor, Tensor)",
    rules.ctc_loss,
    variants="function",
)
op(
    f"_ctc_loss_backward(Tensor grad, {_LISTS}, Tensor neg_log_likelihood, Tensor log_alpha, int blank, "
    "bool zero_infinity=False) -> Tensor",
    rules.ctc_loss_backward,
    variants="",
)
op(
    f"ctc_loss.IntList({_LISTS}, int blank=0, int reduction=1, bool zero_infinity=False) -> Tensor",
    composite=composed.ctc_loss,
    variants="function",
)
op(
    f"ctc_loss.Tensor({_TENSORS}, int blank=0, int reduction=1, bool zero_infinity=False) -> Tensor",
    composite=composed.ctc_loss_tensor,
    variants="function",
)

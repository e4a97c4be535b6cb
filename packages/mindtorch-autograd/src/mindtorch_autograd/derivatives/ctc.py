"""Connectionist temporal classification."""

from __future__ import annotations

from mindtorch_dispatch.call import aten

from ..derivative import derivative

derivative(
    "_ctc_loss",
    log_probs=lambda grad, log_probs, targets, input_lengths, target_lengths, result0, result1, blank, zero_infinity: (
        aten._ctc_loss_backward(
            grad, log_probs, targets, input_lengths, target_lengths, result0, result1, blank, zero_infinity
        )
    ),
    outputs=(0,),
    node="CtcLossBackward0",
)

"""Connectionist temporal classification composed of its kernel and a reduction."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..call import aten
from ..meta.checks import check
from ..meta.loss import MEAN, SUM
from ..typing import Tensor


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Sequence[int],
    target_lengths: Sequence[int],
    blank: int,
    reduction: int,
    zero_infinity: bool,
) -> Any:
    """Loss of (T, N, C) or (T, C); the mean is over the batch, each loss over its target's length."""
    batched = len(log_probs.shape) == 3
    if not batched:
        log_probs = aten.unsqueeze(log_probs, 1)
        targets = aten.unsqueeze(targets, 0) if len(targets.shape) == 1 else targets
    loss = aten._ctc_loss(log_probs, targets, list(input_lengths), list(target_lengths), blank, zero_infinity)[0]
    if zero_infinity:
        loss = aten.where(aten.eq(loss, math.inf), 0.0, loss)
    if reduction == MEAN:
        lengths = [float(max(length, 1)) for length in target_lengths]
        divisor = aten.empty([len(lengths)], dtype=loss.dtype, device=loss.device)
        for place, length in enumerate(lengths):
            aten.fill_(aten.select(divisor, 0, place), length)
        return aten.mean(loss / divisor)
    if reduction == SUM:
        return aten.sum(loss)
    return loss if batched else aten.squeeze(loss, 0)


def _integers(lengths: Any, name: str) -> list[int]:
    dtype = lengths.dtype
    check(not (dtype.is_floating_point or dtype.is_complex), lambda: f"{name} must be integral")
    found: list[int] = aten.reshape(lengths, [-1]).tolist()
    return found


def ctc_loss_tensor(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Tensor,
    target_lengths: Tensor,
    blank: int,
    reduction: int,
    zero_infinity: bool,
) -> Any:
    """`ctc_loss` with lengths in tensors."""
    inputs, wanted = _integers(input_lengths, "input_lengths"), _integers(target_lengths, "target_lengths")
    return ctc_loss(log_probs, targets, inputs, wanted, blank, reduction, zero_infinity)

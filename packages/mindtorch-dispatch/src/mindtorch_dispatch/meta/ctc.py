"""Meta rules of connectionist temporal classification."""

from __future__ import annotations

from collections.abc import Sequence

from mindtorch_storage.dtype import int32, int64
from mindtorch_storage.spec import Spec

from ..meta.checks import check
from ..meta.rule import MetaRule
from .support import require

_WHERE = "(while checking arguments for ctc_loss_allocate_outputs)"


def _check_lengths(name: str, lengths: Sequence[int], most: int | None) -> None:
    for length in lengths:
        check(
            length >= 0,
            lambda length=length: f"Expected {name} to have value at least 0, but got value {length} {_WHERE}",
        )
        check(
            most is None or length <= most,
            lambda length=length: f"Expected {name} to have value at most {most}, but got value {length} {_WHERE}",
        )


def _check_targets(targets: Spec, target_lengths: Sequence[int]) -> None:
    check(
        targets.dtype in (int32, int64),
        lambda: (
            "Expected tensor for argument #2 'targets' to have scalar type Int; but got "
            f"{targets.dtype.type_name} instead {_WHERE}"
        ),
    )
    check(
        1 <= targets.ndim <= 2,
        lambda: (
            f"Expected 1 to 2 dimensions, but got {targets.ndim}-dimensional tensor for argument #2 'targets' {_WHERE}"
        ),
    )
    if targets.ndim == 1:
        total = sum(target_lengths)
        check(
            targets.shape[0] == total,
            lambda: (
                f"Expected tensor to have size {total} at dimension 0, but got size {targets.shape[0]} for argument #2 "
                f"'targets' {_WHERE}"
            ),
        )
    else:
        longest = max(target_lengths, default=0)
        check(
            targets.shape[1] >= longest,
            lambda: (
                f"Expected tensor to have size at least {longest} at dimension 1, but got size {targets.shape[1]} for "
                f"argument #2 'targets' {_WHERE}"
            ),
        )


def _ctc_loss(
    log_probs: Spec,
    targets: Spec,
    input_lengths: Sequence[int],
    target_lengths: Sequence[int],
    blank: int,
    zero_infinity: bool,
) -> tuple[Spec, Spec]:
    check(
        log_probs.ndim == 3,
        lambda: (
            f"Expected 3-dimensional tensor, but got {log_probs.ndim}-dimensional tensor for argument #1 'log_probs' "
            f"{_WHERE}"
        ),
    )
    steps, batch, classes = log_probs.shape
    check(0 <= blank < classes, lambda: "blank must be in label range")
    check(len(input_lengths) == batch, lambda: "input_lengths must be of size batch_size")
    check(len(target_lengths) == batch, lambda: "target_lengths must be of size batch_size")
    _check_lengths("target_lengths", target_lengths, None)
    _check_targets(targets, target_lengths)
    _check_lengths("input_lengths", input_lengths, steps)
    require(log_probs.dtype.is_floating_point and log_probs.itemsize >= 4, log_probs, "ctc_loss_cpu")
    states = 2 * max(target_lengths, default=0) + 1
    return (
        Spec.of(log_probs.dtype, log_probs.device, (batch,)),
        Spec.of(log_probs.dtype, log_probs.device, (batch, steps, states)),
    )


ctc_loss = MetaRule(_ctc_loss)
"""`_ctc_loss`: the negated log-likelihoods, and the forward variables that the gradient needs."""


def _ctc_loss_backward(grad: Spec, log_probs: Spec, *rest: object) -> Spec:
    return Spec.of(log_probs.dtype, log_probs.device, log_probs.shape)


ctc_loss_backward = MetaRule(_ctc_loss_backward)
"""`_ctc_loss_backward`: the shape of the log-probabilities."""

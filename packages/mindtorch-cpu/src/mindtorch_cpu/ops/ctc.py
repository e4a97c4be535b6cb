"""Connectionist temporal classification: sums over all alignments, in logarithms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from mindtorch_cpu.register import kernel


class _Sample:
    """One sequence: its log-probabilities (T, C) and its states, the target with blanks between."""

    def __init__(self, place: int, scores: Any, target: Any, blank: int) -> None:
        self.place = place
        self.scores = scores
        self.states = np.full(2 * len(target) + 1, blank, np.int64)
        self.states[1::2] = target
        # A state may be entered from two states before it where that skips a blank between different labels.
        self.skips = np.zeros(len(self.states), bool)
        self.skips[2:] = (self.states[2:] != blank) & (self.states[2:] != self.states[:-2])

    def forward(self) -> Any:
        """Return the forward variables (T, states)."""
        alpha = np.full((len(self.scores), len(self.states)), -np.inf, self.scores.dtype)
        if not len(alpha):
            return alpha
        alpha[0, :2] = self.scores[0, self.states[:2]]
        for step in range(1, len(alpha)):
            alpha[step] = self._entered(alpha[step - 1], self.skips) + self.scores[step, self.states]
        return alpha

    def backward(self) -> Any:
        """Return the backward variables (T, states), which include their own step."""
        beta = np.full((len(self.scores), len(self.states)), -np.inf, self.scores.dtype)
        beta[-1, -2:] = self.scores[-1, self.states[-2:]]
        # Seen from the end, states are left where they were entered.
        skips = np.zeros_like(self.skips)
        skips[2:] = self.skips[:1:-1]
        for step in range(len(beta) - 2, -1, -1):
            beta[step] = self._entered(beta[step + 1, ::-1], skips)[::-1] + self.scores[step, self.states]
        return beta

    @staticmethod
    def _entered(before: Any, skips: Any) -> Any:
        """Return the logarithm of the sum over the states that lead to each: itself, the last, the one before."""
        ways = np.full((3, len(before)), -np.inf, before.dtype)
        ways[0] = before
        ways[1, 1:] = before[:-1]
        ways[2, 2:] = np.where(skips[2:], before[:-2], -np.inf)
        largest = ways.max(0)
        largest[largest == -np.inf] = 0
        with np.errstate(divide="ignore"):
            return np.log(np.exp(ways - largest).sum(0)) + largest

    def likelihood(self, alpha: Any) -> Any:
        """Return the log-likelihood of the target."""
        if not len(alpha):
            return 0.0 if len(self.states) == 1 else -np.inf
        last = alpha[-1, -2:]
        return last[0] if len(last) == 1 else np.logaddexp(last[0], last[1])


def _check_labels(target: Any, classes: int) -> None:
    """Refuse labels that are no class: torch reads beside the probabilities for them."""
    for label in target[(target < 0) | (target >= classes)][:1]:
        bound = "at least 0" if label < 0 else f"at most {classes - 1}"
        raise RuntimeError(
            f"Expected targets to have value {bound}, but got value {label} (while checking arguments for "
            "ctc_loss_allocate_outputs)"
        )


def _samples(
    log_probs: Any, targets: Any, input_lengths: Sequence[int], target_lengths: Sequence[int], blank: int
) -> Iterator[_Sample]:
    start = 0
    for place, (steps, length) in enumerate(zip(input_lengths, target_lengths, strict=True)):
        if targets.ndim == 1:
            target = targets[start : start + length]
            start += length
        else:
            target = targets[place, :length]
        _check_labels(target, log_probs.shape[-1])
        yield _Sample(place, log_probs[:steps, place], target, blank)


@kernel("_ctc_loss")
def ctc_loss(
    out: Any,
    log_probs: Any,
    targets: Any,
    input_lengths: Sequence[int],
    target_lengths: Sequence[int],
    blank: int,
    zero_infinity: bool,
) -> None:
    """Negated log-likelihoods and forward variables."""
    loss, log_alpha = out
    log_alpha[...] = -np.inf
    for sample in _samples(log_probs, targets, input_lengths, target_lengths, blank):
        alpha = sample.forward()
        log_alpha[sample.place, : alpha.shape[0], : alpha.shape[1]] = alpha
        loss[sample.place] = -sample.likelihood(alpha)


@kernel("_ctc_loss_backward")
def ctc_loss_backward(
    out: Any,
    grad: Any,
    log_probs: Any,
    targets: Any,
    input_lengths: Sequence[int],
    target_lengths: Sequence[int],
    neg_log_likelihood: Any,
    log_alpha: Any,
    blank: int,
    zero_infinity: bool,
) -> None:
    """Gradient of `_ctc_loss`: probabilities less the share of alignments through each class."""
    out[...] = 0
    for sample in _samples(log_probs, targets, input_lengths, target_lengths, blank):
        loss = neg_log_likelihood[sample.place]
        if not len(sample.scores) or (zero_infinity and loss == np.inf):
            continue
        alpha = log_alpha[sample.place, : len(sample.scores), : len(sample.states)]
        through = np.full(sample.scores.shape, -np.inf, sample.scores.dtype)
        joined = alpha + sample.backward()
        for state, label in reversed([*enumerate(sample.states)]):
            through[:, label] = np.logaddexp(through[:, label], joined[:, state])
        with np.errstate(invalid="ignore"):
            share = np.exp(through + loss - sample.scores)
        out[: len(sample.scores), sample.place] = (np.exp(sample.scores) - share) * grad[sample.place]

"""The geometric law."""

from __future__ import annotations

from typing import Any, ClassVar

import mindtorch as torch
from mindtorch._naming import adopt

from . import constraints
from ._probs_or_logits import ProbsOrLogits
from .distribution import Distribution
from .utils import NO_SHAPE, broadcast_all

__all__ = ["Geometric"]


class Geometric(ProbsOrLogits, Distribution):
    """How many trials fail before the first succeeds.

    >>> torch.distributions.Geometric(0.5).mean
    tensor(1.)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {"probs": constraints.unit_interval, "logits": constraints.real}  # type: ignore[assignment]
    support = constraints.nonnegative_integer
    _expanded: ClassVar[dict[str, int]] = {"probs": 0, "logits": 0}
    _shared = ("_given_logits",)

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        Distribution.__init__(self, self._store(probs, logits), validate_args=validate_args)
        if self._validate_args and probs is not None:
            value = self.probs
            valid = value > 0
            if not valid.all():
                wrong = value.data[~valid]
                raise ValueError(
                    "Expected parameter probs "
                    f"({type(value).__name__} of shape {tuple(value.shape)}) "
                    f"of distribution {self!r} "
                    f"to be positive but found invalid values:\n{wrong}"
                )

    @property
    def mean(self) -> torch.Tensor:
        """The mean."""
        return 1.0 / self.probs - 1.0

    @property
    def mode(self) -> torch.Tensor:
        """Zero."""
        return torch.zeros_like(self.probs)

    @property
    def variance(self) -> torch.Tensor:
        """The variance."""
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape: Any = NO_SHAPE) -> torch.Tensor:
        """Draw samples."""
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            u = self.probs.new_empty(shape).uniform_(torch.finfo(self.probs.dtype).tiny, 1)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Any) -> torch.Tensor:
        """The logarithm of the probability."""
        if self._validate_args:
            self._validate_sample(value)
        value, probs = broadcast_all(value, self.probs)
        probs = probs.clone(memory_format=torch.contiguous_format)
        # Zero failures of a sure success: zero times minus infinity is meant to be zero.
        probs[(probs == 1) & (value == 0)] = 0
        return value * (-probs).log1p() + self.probs.log()

    def entropy(self) -> torch.Tensor:
        """The entropy."""
        return (
            torch.nn.functional.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / self.probs
        )


adopt(globals())

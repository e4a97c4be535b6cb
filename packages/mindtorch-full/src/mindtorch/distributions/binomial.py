"""The binomial law."""

from __future__ import annotations

from typing import Any, ClassVar

import mindtorch as torch
from mindtorch._naming import adopt

from . import constraints
from ._probs_or_logits import ProbsOrLogits
from .distribution import Distribution
from .utils import NO_SHAPE

__all__ = ["Binomial"]


def _clamp_by_zero(x: Any) -> Any:
    """Negative values as zero, with half a gradient at zero itself."""
    return (x.clamp(min=0) + x - x.clamp(max=0)) / 2


class Binomial(ProbsOrLogits, Distribution):
    """How many of ``total_count`` trials succeed.

    >>> torch.distributions.Binomial(4, 0.5).mean
    tensor(2.)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {  # type: ignore[assignment]
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True
    _expanded: ClassVar[dict[str, int]] = {"total_count": 0, "probs": 0, "logits": 0}
    _shared = ("_given_logits",)

    def __init__(
        self, total_count: Any = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        batch_shape = self._store_counted(total_count, probs, logits)
        Distribution.__init__(self, batch_shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        """From zero to the number of trials."""
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> torch.Tensor:
        """The mean."""
        return self.total_count * self.probs

    @property
    def mode(self) -> torch.Tensor:
        """The most likely value."""
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> torch.Tensor:
        """The variance."""
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = NO_SHAPE) -> torch.Tensor:
        """Draw samples."""
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            return torch.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Any) -> torch.Tensor:
        """The logarithm of the probability."""
        if self._validate_args:
            self._validate_sample(value)
        n_factorial = torch.lgamma(self.total_count + 1)
        k_factorial = torch.lgamma(value + 1)
        rest_factorial = torch.lgamma(self.total_count - value + 1)
        # k * log(p) + (n - k) * log(1 - p), written so that no large terms cancel.
        normalizer = (
            self.total_count * _clamp_by_zero(self.logits)
            + self.total_count * torch.log1p(torch.exp(-torch.abs(self.logits)))
            - n_factorial
        )
        return value * self.logits - k_factorial - rest_factorial - normalizer

    def entropy(self) -> torch.Tensor:
        """The entropy, where all members have the same number of trials."""
        total_count = int(self.total_count.max())
        if not self.total_count.min() == total_count:
            raise NotImplementedError("Inhomogeneous total count not supported by `entropy`.")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(torch.exp(log_prob) * log_prob).sum(0)

    def enumerate_support(self, expand: bool = True) -> torch.Tensor:
        """All counts, where all members have the same number of trials."""
        total_count = int(self.total_count.max())
        if not self.total_count.min() == total_count:
            raise NotImplementedError("Inhomogeneous total count not supported by `enumerate_support`.")
        values = torch.arange(1 + total_count, dtype=self._param.dtype, device=self._param.device)
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values


adopt(globals())

"""The negative binomial law."""

from __future__ import annotations

from typing import Any, ClassVar

import mindtorch as torch
from mindtorch._naming import adopt

from . import constraints
from ._probs_or_logits import ProbsOrLogits
from .distribution import Distribution
from .gamma import Gamma
from .utils import NO_SHAPE, lazy_property

__all__ = ["NegativeBinomial"]


class NegativeBinomial(ProbsOrLogits, Distribution):
    """How many trials succeed before ``total_count`` have failed.

    >>> torch.distributions.NegativeBinomial(2.0, 0.5).mean
    tensor(2.)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {  # type: ignore[assignment]
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer
    _expanded: ClassVar[dict[str, int]] = {"total_count": 0, "probs": 0, "logits": 0}
    _shared = ("_given_logits",)

    def __init__(
        self, total_count: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        batch_shape = self._store_counted(total_count, probs, logits)
        Distribution.__init__(self, batch_shape, validate_args=validate_args)

    @property
    def mean(self) -> torch.Tensor:
        """The mean."""
        return self.total_count * torch.exp(self.logits)

    @property
    def mode(self) -> torch.Tensor:
        """The most likely value."""
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> torch.Tensor:
        """The variance."""
        return self.mean / torch.sigmoid(-self.logits)

    @lazy_property
    def _gamma(self) -> Any:
        """The law of the rate: the counts are Poisson with a random rate."""
        return Gamma(concentration=self.total_count, rate=torch.exp(-self.logits), validate_args=False)

    def sample(self, sample_shape: Any = NO_SHAPE) -> torch.Tensor:
        """Draw samples."""
        with torch.no_grad():
            return torch.poisson(self._gamma.sample(sample_shape=sample_shape))

    def log_prob(self, value: Any) -> torch.Tensor:
        """The logarithm of the probability."""
        if self._validate_args:
            self._validate_sample(value)
        unnormalized = self.total_count * torch.nn.functional.logsigmoid(
            -self.logits
        ) + value * torch.nn.functional.logsigmoid(self.logits)
        normalization = (
            -torch.lgamma(self.total_count + value) + torch.lgamma(1.0 + value) + torch.lgamma(self.total_count)
        )
        normalization = normalization.masked_fill(self.total_count + value == 0.0, 0.0)
        return unnormalized - normalization


adopt(globals())

"""The exponential law."""

from __future__ import annotations

from typing import Any, ClassVar

import mindtorch as torch
from mindtorch._naming import adopt

from . import constraints
from .distribution import batch_of
from .exp_family import ExponentialFamily
from .utils import NO_SHAPE, broadcast_all

__all__ = ["Exponential"]


class Exponential(ExponentialFamily):
    """Waiting times between events that come at ``rate``.

    >>> torch.distributions.Exponential(2.0).mean
    tensor(0.5000)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {"rate": constraints.positive}  # type: ignore[assignment]
    support = constraints.nonnegative
    has_rsample = True
    _mean_carrier_measure = 0
    _expanded: ClassVar[dict[str, int]] = {"rate": 0}

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(batch_of(self.rate, given=(rate,)), validate_args=validate_args)

    @property
    def mean(self) -> torch.Tensor:
        """The mean."""
        return self.rate.reciprocal()

    @property
    def mode(self) -> torch.Tensor:
        """Zero."""
        return torch.zeros_like(self.rate)

    @property
    def stddev(self) -> torch.Tensor:
        """The standard deviation."""
        return self.rate.reciprocal()

    @property
    def variance(self) -> torch.Tensor:
        """The variance."""
        return self.rate.pow(-2)

    def rsample(self, sample_shape: Any = NO_SHAPE) -> torch.Tensor:
        """Draw samples that gradients flow through."""
        shape = self._extended_shape(sample_shape)
        return self.rate.new_empty(shape).exponential_() / self.rate

    def log_prob(self, value: Any) -> torch.Tensor:
        """The logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        return self.rate.log() - self.rate * value

    def cdf(self, value: Any) -> torch.Tensor:
        """The probability of a sample at most this large."""
        if self._validate_args:
            self._validate_sample(value)
        return 1 - torch.exp(-self.rate * value)

    def icdf(self, value: Any) -> torch.Tensor:
        """The value below which a sample lies with this probability."""
        return -torch.log1p(-value) / self.rate

    def entropy(self) -> torch.Tensor:
        """The entropy."""
        return 1.0 - torch.log(self.rate)

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (-self.rate,)

    def _log_normalizer(self, x: Any) -> Any:  # type: ignore[override]
        return -torch.log(-x)


adopt(globals())

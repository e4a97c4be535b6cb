"""The uniform law."""

from __future__ import annotations

from math import nan
from typing import Any, ClassVar

import mindtorch as torch
from mindtorch._naming import adopt

from . import constraints
from .distribution import Distribution, batch_of
from .utils import NO_SHAPE, broadcast_all

__all__ = ["Uniform"]


class Uniform(Distribution):
    """All values in ``[low, high)`` are equally likely.

    >>> torch.distributions.Uniform(0.0, 2.0).mean
    tensor(1.)
    """

    has_rsample = True
    _expanded: ClassVar[dict[str, int]] = {"low": 0, "high": 0}

    @property
    def arg_constraints(self) -> dict[str, Any]:
        """Each bound limits the other."""
        return {"low": constraints.less_than(self.high), "high": constraints.greater_than(self.low)}

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self.low, self.high = broadcast_all(low, high)
        super().__init__(batch_of(self.low, given=(low, high)), validate_args=validate_args)

    @property
    def mean(self) -> torch.Tensor:
        """The mean."""
        return (self.high + self.low) / 2

    @property
    def mode(self) -> torch.Tensor:
        """There is none."""
        return nan * self.high

    @property
    def stddev(self) -> torch.Tensor:
        """The standard deviation."""
        return (self.high - self.low) / 12**0.5

    @property
    def variance(self) -> torch.Tensor:
        """The variance."""
        return (self.high - self.low).pow(2) / 12

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """The interval."""
        return constraints.interval(self.low, self.high)

    def rsample(self, sample_shape: Any = NO_SHAPE) -> torch.Tensor:
        """Draw samples that gradients flow through."""
        shape = self._extended_shape(sample_shape)
        rand = torch.rand(shape, dtype=self.low.dtype, device=self.low.device)
        return self.low + rand * (self.high - self.low)

    def log_prob(self, value: Any) -> torch.Tensor:
        """The logarithm of the density; minus infinity outside."""
        if self._validate_args:
            self._validate_sample(value)
        above = self.low.le(value).type_as(self.low)
        below = self.high.gt(value).type_as(self.low)
        return torch.log(above.mul(below)) - torch.log(self.high - self.low)

    def cdf(self, value: Any) -> torch.Tensor:
        """The probability of a sample at most this large."""
        if self._validate_args:
            self._validate_sample(value)
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Any) -> torch.Tensor:
        """The value below which a sample lies with this probability."""
        return value * (self.high - self.low) + self.low

    def entropy(self) -> torch.Tensor:
        """The entropy."""
        return torch.log(self.high - self.low)


adopt(globals())

"""The inverse gamma law."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import mindtorch as torch
from mindtorch._naming import adopt

from . import constraints
from .gamma import Gamma
from .transformed_distribution import TransformedDistribution
from .transforms import PowerTransform

__all__ = ["InverseGamma"]


class InverseGamma(TransformedDistribution):
    """One over a gamma value.

    >>> torch.distributions.InverseGamma(3.0, 2.0).mean
    tensor(1.)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        "concentration": constraints.positive,
        "rate": constraints.positive,
    }
    support = constraints.positive
    has_rsample = True
    base_dist: Any

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        super().__init__(base, PowerTransform(-base.rate.new_ones(())), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same law over a larger batch."""
        return super().expand(batch_shape, _instance=self._get_checked_instance(InverseGamma, _instance))

    @property
    def concentration(self) -> Any:
        """The shape parameter."""
        return self.base_dist.concentration

    @property
    def rate(self) -> Any:
        """The rate of the gamma value."""
        return self.base_dist.rate

    @property
    def mean(self) -> torch.Tensor:
        """The mean; infinite for heavy tails."""
        result = self.rate / (self.concentration - 1)
        return torch.where(self.concentration > 1, result, math.inf)

    @property
    def mode(self) -> torch.Tensor:
        """The most likely value."""
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> torch.Tensor:
        """The variance; infinite for heavy tails."""
        result = self.rate.square() / ((self.concentration - 1).square() * (self.concentration - 2))
        return torch.where(self.concentration > 2, result, math.inf)

    def entropy(self) -> torch.Tensor:
        """The entropy."""
        return (
            self.concentration
            + self.rate.log()
            + self.concentration.lgamma()
            - (1 + self.concentration) * self.concentration.digamma()
        )


adopt(globals())

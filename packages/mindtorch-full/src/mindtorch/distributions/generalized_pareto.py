"""The generalized Pareto law."""

from __future__ import annotations

import math
from math import inf
from numbers import Number
from typing import Any, ClassVar

import mindtorch as torch
from mindtorch._naming import adopt

from . import constraints
from .distribution import Distribution
from .utils import NO_SHAPE, broadcast_all

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Distribution):
    """What exceeds a high threshold; ``concentration`` bends the tail, at zero it is exponential.

    >>> torch.distributions.GeneralizedPareto(0.0, 1.0, 0.0).mean
    tensor(1.)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {  # type: ignore[assignment]
        "loc": constraints.real,
        "scale": constraints.positive,
        "concentration": constraints.real,
    }
    has_rsample = True
    _expanded: ClassVar[dict[str, int]] = {"loc": 0, "scale": 0, "concentration": 0}

    def __init__(self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        numbers = isinstance(loc, Number) and isinstance(scale, Number) and isinstance(concentration, Number)
        super().__init__(torch.Size() if numbers else self.loc.size(), validate_args=validate_args)

    def rsample(self, sample_shape: Any = NO_SHAPE) -> torch.Tensor:
        """Draw samples that gradients flow through."""
        shape = self._extended_shape(sample_shape)
        return self.icdf(torch.rand(shape, dtype=self.loc.dtype, device=self.loc.device))

    @property
    def _near_zero(self) -> Any:
        return torch.isclose(self.concentration, torch.zeros_like(self.concentration))

    def _safe_concentration(self) -> Any:
        """The concentration, with ones where it is zero and another formula holds."""
        return torch.where(self._near_zero, torch.ones_like(self.concentration), self.concentration)

    def log_prob(self, value: Any) -> torch.Tensor:
        """The logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        z = self._z(value)
        concentration = self._safe_concentration()
        bent = (1 / concentration + torch.ones_like(z)) * torch.log1p(concentration * z)
        return -self.scale.log() - torch.where(self._near_zero, z, bent)

    def log_survival_function(self, value: Any) -> Any:
        """The logarithm of the probability of a larger sample."""
        if self._validate_args:
            self._validate_sample(value)
        z = self._z(value)
        concentration = self._safe_concentration()
        return torch.where(self._near_zero, -z, -torch.log1p(concentration * z) / concentration)

    def log_cdf(self, value: Any) -> Any:
        """The logarithm of the probability of a sample at most this large."""
        return torch.log1p(-torch.exp(self.log_survival_function(value)))

    def cdf(self, value: Any) -> torch.Tensor:
        """The probability of a sample at most this large."""
        return torch.exp(self.log_cdf(value))

    def icdf(self, value: Any) -> torch.Tensor:
        """The value below which a sample lies with this probability."""
        concentration = self._safe_concentration()
        logu = torch.log1p(-value)
        bent = self.loc + self.scale * torch.expm1(-concentration * logu) / concentration
        return torch.where(self._near_zero, self.loc - self.scale * logu, bent)

    def _z(self, x: Any) -> Any:
        return (x - self.loc) / self.scale

    @property
    def mean(self) -> torch.Tensor:
        """The mean, where it is finite."""
        concentration = self.concentration
        valid = concentration < 1
        safe = torch.where(valid, concentration, 0.5)
        return torch.where(valid, self.loc + self.scale / (1 - safe), torch.full_like(concentration, inf))

    @property
    def variance(self) -> torch.Tensor:
        """The variance, where it is finite."""
        concentration = self.concentration
        valid = concentration < 0.5
        safe = torch.where(valid, concentration, 0.25)
        result = self.scale**2 / ((1 - safe) ** 2 * (1 - 2 * safe))
        return torch.where(valid, result, torch.full_like(concentration, inf))

    def entropy(self) -> torch.Tensor:
        """The entropy."""
        return (torch.log(self.scale) + self.concentration + 1).expand(self._batch_shape)

    @property
    def mode(self) -> torch.Tensor:
        """The threshold."""
        return self.loc

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """From the threshold upwards, or an interval for bounded tails."""
        lower = self.loc
        upper = torch.where(self.concentration < 0, lower - self.scale / self.concentration, math.inf)
        return constraints.interval(lower, upper)


adopt(globals())

"""Laws of the magnitude of a value around zero."""

from __future__ import annotations

import math
from math import inf
from typing import Any, ClassVar

import mindtorch as torch

from . import constraints
from .transformed_distribution import TransformedDistribution


class Folded(TransformedDistribution):
    """The magnitude of a value of ``base_dist``, which is symmetric around zero and has a ``scale``."""

    arg_constraints: ClassVar[dict[str, Any]] = {"scale": constraints.positive}  # type: ignore[misc]
    support = constraints.nonnegative
    has_rsample = True
    base_dist: Any

    @property
    def scale(self) -> Any:
        """The scale."""
        return self.base_dist.scale

    @property
    def mode(self) -> torch.Tensor:
        """Zero."""
        return torch.zeros_like(self.scale)

    def log_prob(self, value: Any) -> torch.Tensor:
        """The logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        log_prob = self.base_dist.log_prob(value) + math.log(2)
        return torch.where(value >= 0, log_prob, -inf)

    def cdf(self, value: Any) -> torch.Tensor:
        """The probability of a sample at most this large."""
        if self._validate_args:
            self._validate_sample(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, prob: Any) -> torch.Tensor:
        """The value below which a sample lies with this probability."""
        return self.base_dist.icdf((prob + 1) / 2)

    def entropy(self) -> torch.Tensor:
        """The entropy."""
        return self.base_dist.entropy() - math.log(2)

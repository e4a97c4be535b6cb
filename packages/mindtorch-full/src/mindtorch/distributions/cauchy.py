"""The Cauchy law."""

from __future__ import annotations

import math
from math import inf, nan
from typing import Any, ClassVar

import mindtorch as torch
from mindtorch._naming import adopt

from . import constraints
from .distribution import Distribution, batch_of
from .utils import NO_SHAPE, broadcast_all

__all__ = ["Cauchy"]


class Cauchy(Distribution):
    """The ratio of two normal values; it has no mean.

    >>> torch.distributions.Cauchy(0.0, 1.0).mode
    tensor(0.)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {"loc": constraints.real, "scale": constraints.positive}  # type: ignore[assignment]
    support = constraints.real
    has_rsample = True
    _expanded: ClassVar[dict[str, int]] = {"loc": 0, "scale": 0}

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(batch_of(self.loc, given=(loc, scale)), validate_args=validate_args)

    @property
    def mean(self) -> torch.Tensor:
        """There is none."""
        return torch.full(self._extended_shape(), nan, dtype=self.loc.dtype, device=self.loc.device)

    @property
    def mode(self) -> torch.Tensor:
        """The most likely value."""
        return self.loc

    @property
    def variance(self) -> torch.Tensor:
        """It is infinite."""
        return torch.full(self._extended_shape(), inf, dtype=self.loc.dtype, device=self.loc.device)

    def rsample(self, sample_shape: Any = NO_SHAPE) -> torch.Tensor:
        """Draw samples that gradients flow through."""
        shape = self._extended_shape(sample_shape)
        return self.loc + self.loc.new_empty(shape).cauchy_() * self.scale

    def log_prob(self, value: Any) -> torch.Tensor:
        """The logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        return -math.log(math.pi) - self.scale.log() - (((value - self.loc) / self.scale) ** 2).log1p()

    def cdf(self, value: Any) -> torch.Tensor:
        """The probability of a sample at most this large."""
        if self._validate_args:
            self._validate_sample(value)
        return torch.atan((value - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value: Any) -> torch.Tensor:
        """The value below which a sample lies with this probability."""
        return torch.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self) -> torch.Tensor:
        """The entropy."""
        return math.log(4 * math.pi) + self.scale.log()


adopt(globals())

"""The Laplace law."""

from __future__ import annotations

from typing import Any, ClassVar

import mindtorch as torch
from mindtorch._naming import adopt

from . import constraints
from ._located import Located
from .distribution import Distribution, batch_of
from .utils import NO_SHAPE, broadcast_all

__all__ = ["Laplace"]


class Laplace(Located, Distribution):
    """The law of two exponential tails.

    >>> torch.distributions.Laplace(0.0, 1.0).variance
    tensor(2.)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {"loc": constraints.real, "scale": constraints.positive}  # type: ignore[assignment]
    support = constraints.real
    has_rsample = True
    _expanded: ClassVar[dict[str, int]] = {"loc": 0, "scale": 0}

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(batch_of(self.loc, given=(loc, scale)), validate_args=validate_args)

    @property
    def variance(self) -> torch.Tensor:
        """The variance."""
        return 2 * self.scale.pow(2)

    @property
    def stddev(self) -> torch.Tensor:
        """The standard deviation."""
        return (2**0.5) * self.scale

    def rsample(self, sample_shape: Any = NO_SHAPE) -> torch.Tensor:
        """Draw samples that gradients flow through."""
        shape = self._extended_shape(sample_shape)
        u = self.loc.new_empty(shape).uniform_(torch.finfo(self.loc.dtype).eps - 1, 1)
        return self.loc - self.scale * u.sign() * torch.log1p(-u.abs())

    def log_prob(self, value: Any) -> torch.Tensor:
        """The logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        return -torch.log(2 * self.scale) - torch.abs(value - self.loc) / self.scale

    def cdf(self, value: Any) -> torch.Tensor:
        """The probability of a sample at most this large."""
        if self._validate_args:
            self._validate_sample(value)
        offset = value - self.loc
        return 0.5 - 0.5 * offset.sign() * torch.expm1(-offset.abs() / self.scale)

    def icdf(self, value: Any) -> torch.Tensor:
        """The value below which a sample lies with this probability."""
        term = value - 0.5
        return self.loc - self.scale * term.sign() * torch.log1p(-2 * term.abs())

    def entropy(self) -> torch.Tensor:
        """The entropy."""
        return 1 + torch.log(2 * self.scale)


adopt(globals())

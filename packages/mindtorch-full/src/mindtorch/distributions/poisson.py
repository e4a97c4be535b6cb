"""The Poisson law."""

from __future__ import annotations

from typing import Any, ClassVar

import mindtorch as torch
from mindtorch._naming import adopt

from . import constraints
from .distribution import batch_of
from .exp_family import ExponentialFamily
from .utils import NO_SHAPE, broadcast_all

__all__ = ["Poisson"]


class Poisson(ExponentialFamily):
    """How many events come in a unit of time.

    >>> torch.distributions.Poisson(2.0).mean
    tensor(2.)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {"rate": constraints.nonnegative}  # type: ignore[assignment]
    support = constraints.nonnegative_integer
    _expanded: ClassVar[dict[str, int]] = {"rate": 0}

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        (self.rate,) = broadcast_all(rate)
        super().__init__(batch_of(self.rate, given=(rate,)), validate_args=validate_args)

    @property
    def mean(self) -> torch.Tensor:
        """The mean."""
        return self.rate

    @property
    def mode(self) -> torch.Tensor:
        """The most likely value."""
        return self.rate.floor()

    @property
    def variance(self) -> torch.Tensor:
        """The variance."""
        return self.rate

    def sample(self, sample_shape: Any = NO_SHAPE) -> torch.Tensor:
        """Draw samples."""
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            return torch.poisson(self.rate.expand(shape))

    def log_prob(self, value: Any) -> torch.Tensor:
        """The logarithm of the probability."""
        if self._validate_args:
            self._validate_sample(value)
        rate, value = broadcast_all(self.rate, value)
        return value.xlogy(rate) - rate - (value + 1).lgamma()

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (torch.log(self.rate),)

    def _log_normalizer(self, x: Any) -> Any:  # type: ignore[override]
        return torch.exp(x)


adopt(globals())

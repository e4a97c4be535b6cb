"""The half-Cauchy law."""

from __future__ import annotations

import math
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt

from ._folded import Folded
from .cauchy import Cauchy
from .transforms import AbsTransform

__all__ = ["HalfCauchy"]


class HalfCauchy(Folded):
    """The magnitude of a Cauchy value around zero.

    >>> torch.distributions.HalfCauchy(1.0).mode
    tensor(0.)
    """

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Cauchy(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same law over a larger batch."""
        return super().expand(batch_shape, _instance=self._get_checked_instance(HalfCauchy, _instance))

    @property
    def mean(self) -> torch.Tensor:
        """It is infinite."""
        return torch.full(self._extended_shape(), math.inf, dtype=self.scale.dtype, device=self.scale.device)

    @property
    def variance(self) -> torch.Tensor:
        """It is infinite."""
        return self.base_dist.variance

    def log_prob(self, value: Any) -> torch.Tensor:
        """The logarithm of the density."""
        if self._validate_args:
            self._validate_sample(value)
        return super().log_prob(torch.as_tensor(value, dtype=self.scale.dtype, device=self.scale.device))


adopt(globals())

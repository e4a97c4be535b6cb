"""The half-normal law."""

from __future__ import annotations

import math
from typing import Any

from mindtorch._naming import adopt

from ._folded import Folded
from .normal import Normal
from .transforms import AbsTransform

__all__ = ["HalfNormal"]


class HalfNormal(Folded):
    """The magnitude of a normal value around zero.

    >>> torch.distributions.HalfNormal(1.0).mode
    tensor(0.)
    """

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Normal(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same law over a larger batch."""
        return super().expand(batch_shape, _instance=self._get_checked_instance(HalfNormal, _instance))

    @property
    def mean(self) -> Any:
        """The mean."""
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Any:
        """The variance."""
        return self.scale.pow(2) * (1 - 2 / math.pi)


adopt(globals())

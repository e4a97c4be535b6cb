"""The Bernoulli law."""

from __future__ import annotations

from math import nan
from typing import Any, ClassVar

import mindtorch as torch
import mindtorch.nn.functional as F
from mindtorch._naming import adopt

from . import constraints
from ._probs_or_logits import ProbsOrLogits
from .exp_family import ExponentialFamily
from .utils import NO_SHAPE, broadcast_all

__all__ = ["Bernoulli"]


class Bernoulli(ProbsOrLogits, ExponentialFamily):
    """One with probability ``probs``, else zero.

    >>> torch.distributions.Bernoulli(0.5).mean
    tensor(0.5000)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {"probs": constraints.unit_interval, "logits": constraints.real}  # type: ignore[assignment]
    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0
    _expanded: ClassVar[dict[str, int]] = {"probs": 0, "logits": 0}
    _shared = ("_given_logits",)

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        ExponentialFamily.__init__(self, self._store(probs, logits), validate_args=validate_args)

    @property
    def mean(self) -> torch.Tensor:
        """The mean."""
        return self.probs

    @property
    def mode(self) -> torch.Tensor:
        """The more likely value; none if both are equally likely."""
        mode = (self.probs >= 0.5).to(self.probs)
        mode[self.probs == 0.5] = nan
        return mode

    @property
    def variance(self) -> torch.Tensor:
        """The variance."""
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = NO_SHAPE) -> torch.Tensor:
        """Draw samples."""
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            return torch.bernoulli(self.probs.expand(shape))

    def log_prob(self, value: Any) -> torch.Tensor:
        """The logarithm of the probability."""
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return F.binary_cross_entropy_with_logits(logits, value, reduction="none").neg()

    def entropy(self) -> torch.Tensor:
        """The entropy."""
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> torch.Tensor:
        """Zero and one."""
        values = torch.arange(2, dtype=self._param.dtype, device=self._param.device)
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (torch.logit(self.probs),)

    def _log_normalizer(self, x: Any) -> Any:  # type: ignore[override]
        return torch.log1p(torch.exp(x))


adopt(globals())

"""The categorical law with one-hot samples."""

from __future__ import annotations

from typing import Any, ClassVar

import mindtorch as torch
from mindtorch._naming import adopt

from . import constraints
from ._of_categorical import OfCategorical
from .categorical import Categorical
from .distribution import Distribution
from .utils import NO_SHAPE

__all__ = ["OneHotCategorical", "OneHotCategoricalStraightThrough"]


class OneHotCategorical(OfCategorical, Distribution):
    """One of ``K`` categories, as a vector with a single one.

    >>> torch.distributions.OneHotCategorical(torch.tensor([0.25, 0.75])).mode
    tensor([0., 1.])
    """

    arg_constraints: ClassVar[dict[str, Any]] = {"probs": constraints.simplex, "logits": constraints.real_vector}  # type: ignore[assignment]
    support = constraints.one_hot
    has_enumerate_support = True

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._categorical = Categorical(probs, logits)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same law over a larger batch."""
        new = self._get_checked_instance(OneHotCategorical, _instance)
        batch_shape = torch.Size(batch_shape)
        new._categorical = self._categorical.expand(batch_shape)
        Distribution.__init__(new, batch_shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @property
    def _param(self) -> Any:
        return self._categorical._param

    @property
    def mean(self) -> torch.Tensor:
        """The mean."""
        return self._categorical.probs

    @property
    def mode(self) -> torch.Tensor:
        """The most likely value."""
        mode = self._categorical.probs.argmax(dim=-1)
        return torch.nn.functional.one_hot(mode, num_classes=self._categorical.probs.shape[-1]).to(self.probs)

    @property
    def variance(self) -> torch.Tensor:
        """The variance of each entry."""
        return self._categorical.probs * (1 - self._categorical.probs)

    def sample(self, sample_shape: Any = NO_SHAPE) -> torch.Tensor:
        """Draw samples."""
        sample_shape = torch.Size(sample_shape)
        indices = self._categorical.sample(sample_shape)
        return torch.nn.functional.one_hot(indices, self._categorical._num_events).to(self._categorical.probs)

    def log_prob(self, value: Any) -> torch.Tensor:
        """The logarithm of the probability."""
        if self._validate_args:
            self._validate_sample(value)
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self) -> torch.Tensor:
        """The entropy."""
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> torch.Tensor:
        """All one-hot vectors."""
        n = self.event_shape[0]
        values = torch.eye(n, dtype=self._param.dtype, device=self._param.device)
        values = values.view((n,) + (1,) * len(self.batch_shape) + (n,))
        return values.expand((n, *self.batch_shape, n)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """The same; gradients pass samples by as if they were the probabilities.

    >>> torch.distributions.OneHotCategoricalStraightThrough(torch.tensor([0.25, 0.75])).mode
    tensor([0., 1.])
    """

    has_rsample = True

    def rsample(self, sample_shape: Any = NO_SHAPE) -> torch.Tensor:
        """Draw samples that gradients flow around."""
        samples = self.sample(sample_shape)
        probs = self._categorical.probs
        return samples + (probs - probs.detach())


adopt(globals())

"""The categorical law."""

from __future__ import annotations

from math import nan
from typing import Any, ClassVar

import mindtorch as torch
from mindtorch._naming import adopt

from . import constraints
from ._probs_or_logits import ProbsOrLogits
from .distribution import Distribution
from .utils import NO_SHAPE

__all__ = ["Categorical"]


class Categorical(ProbsOrLogits, Distribution):
    """One of ``K`` categories, by probabilities or by log-weights, which need not be normalized.

    >>> torch.distributions.Categorical(torch.tensor([0.25, 0.75])).probs
    tensor([0.2500, 0.7500])
    """

    arg_constraints: ClassVar[dict[str, Any]] = {"probs": constraints.simplex, "logits": constraints.real_vector}  # type: ignore[assignment]
    has_enumerate_support = True
    _is_binary = False
    _expanded: ClassVar[dict[str, int]] = {"probs": 1, "logits": 1}
    _shared = ("_num_events", "_given_logits")

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        if probs is not None:
            if probs.dim() < 1:
                raise ValueError("`probs` parameter must be at least one-dimensional.")
            self.probs = probs / probs.sum(-1, keepdim=True)
        else:
            if logits.dim() < 1:
                raise ValueError("`logits` parameter must be at least one-dimensional.")
            self.logits = logits - logits.logsumexp(dim=-1, keepdim=True)
        self._given_logits = probs is None
        self._num_events = self._param.size()[-1]
        batch_shape = self._param.size()[:-1] if self._param.ndimension() > 1 else torch.Size()
        Distribution.__init__(self, batch_shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        """The numbers of the categories."""
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def mean(self) -> torch.Tensor:
        """Categories have none."""
        return torch.full(self._extended_shape(), nan, dtype=self.probs.dtype, device=self.probs.device)

    @property
    def mode(self) -> torch.Tensor:
        """The most likely category."""
        return self.probs.argmax(dim=-1)

    @property
    def variance(self) -> torch.Tensor:
        """Categories have none."""
        return torch.full(self._extended_shape(), nan, dtype=self.probs.dtype, device=self.probs.device)

    def sample(self, sample_shape: Any = NO_SHAPE) -> torch.Tensor:
        """Draw samples."""
        if not isinstance(sample_shape, torch.Size):
            sample_shape = torch.Size(sample_shape)
        probs = self.probs.reshape(-1, self._num_events)
        samples = torch.multinomial(probs, sample_shape.numel(), True).T
        return samples.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value: Any) -> torch.Tensor:
        """The logarithm of the probability."""
        if self._validate_args:
            self._validate_sample(value)
        value = value.long().unsqueeze(-1)
        value, log_pmf = torch.broadcast_tensors(value, self.logits)
        return log_pmf.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self) -> torch.Tensor:
        """The entropy."""
        # A probability of zero counts nothing; clamped, its infinite logarithm does not spoil the product.
        logits = torch.clamp(self.logits, min=torch.finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> torch.Tensor:
        """The numbers of the categories."""
        values = torch.arange(self._num_events, dtype=torch.long, device=self._param.device)
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values


adopt(globals())

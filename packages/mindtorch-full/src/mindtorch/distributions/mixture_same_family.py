"""Mixtures."""

from __future__ import annotations

from typing import Any, ClassVar

import mindtorch as torch
from mindtorch._naming import adopt

from . import constraints
from .categorical import Categorical
from .distribution import Distribution
from .utils import NO_SHAPE

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """A component drawn first, a value of it then; the components are one law's rightmost batch dimension.

    >>> parts = torch.distributions.Normal(torch.tensor([0.0, 4.0]), 1.0)
    >>> torch.distributions.MixtureSameFamily(torch.distributions.Categorical(torch.ones(2)), parts).mean
    tensor(2.)
    """

    arg_constraints: ClassVar[dict[str, Any]] = {}  # type: ignore[assignment]

    def __init__(
        self, mixture_distribution: Any, component_distribution: Any, validate_args: bool | None = None
    ) -> None:
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        if not isinstance(self._mixture_distribution, Categorical):
            raise ValueError(" The Mixture distribution needs to be an  instance of torch.distributions.Categorical")
        if not isinstance(self._component_distribution, Distribution):
            raise ValueError("The Component distribution need to be an instance of torch.distributions.Distribution")
        component_batch = self._component_distribution.batch_shape[:-1]
        for size1, size2 in zip(
            reversed(self._mixture_distribution.batch_shape), reversed(component_batch), strict=False
        ):
            if size1 != 1 and size2 != 1 and size1 != size2:
                raise ValueError(
                    f"`mixture_distribution.batch_shape` ({self._mixture_distribution.batch_shape}) is not "
                    "compatible with `component_distribution."
                    f"batch_shape`({component_batch})"
                )
        in_mixture = self._mixture_distribution.logits.shape[-1]
        in_component = self._component_distribution.batch_shape[-1]
        if in_mixture is not None and in_component is not None and in_mixture != in_component:
            raise ValueError(
                f"`mixture_distribution component` ({in_mixture}) does not equal "
                f"`component_distribution.batch_shape[-1]` ({in_component})"
            )
        self._num_component = in_mixture
        event_shape = self._component_distribution.event_shape
        self._event_ndims = len(event_shape)
        super().__init__(batch_shape=component_batch, event_shape=event_shape, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same law over a larger batch."""
        batch_shape = torch.Size(batch_shape)
        new = self._get_checked_instance(MixtureSameFamily, _instance)
        new._component_distribution = self._component_distribution.expand((*batch_shape, self._num_component))
        new._mixture_distribution = self._mixture_distribution.expand(batch_shape)
        new._num_component = self._num_component
        new._event_ndims = self._event_ndims
        Distribution.__init__(
            new,
            batch_shape=batch_shape,
            event_shape=new._component_distribution.event_shape,
            validate_args=False,
        )
        new._validate_args = self._validate_args
        return new

    @constraints.dependent_property
    def support(self) -> Any:
        """The components'."""
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self) -> Any:
        """The law of the component's number."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Any:
        """The components."""
        return self._component_distribution

    @property
    def mean(self) -> torch.Tensor:
        """The mean."""
        probs = self._pad_mixture_dimensions(self.mixture_distribution.probs)
        return torch.sum(probs * self.component_distribution.mean, dim=-1 - self._event_ndims)

    @property
    def variance(self) -> torch.Tensor:
        """The mean of the variances and the variance of the means."""
        dim = -1 - self._event_ndims
        probs = self._pad_mixture_dimensions(self.mixture_distribution.probs)
        mean_of_variances = torch.sum(probs * self.component_distribution.variance, dim=dim)
        variance_of_means = torch.sum(
            probs * (self.component_distribution.mean - self._pad(self.mean)).pow(2.0), dim=dim
        )
        return mean_of_variances + variance_of_means

    def cdf(self, x: Any) -> torch.Tensor:
        """The probability of a sample at most this large."""
        x = self._pad(x)
        return torch.sum(self.component_distribution.cdf(x) * self.mixture_distribution.probs, dim=-1)

    def log_prob(self, x: Any) -> torch.Tensor:
        """The logarithm of the density."""
        if self._validate_args:
            self._validate_sample(x)
        x = self._pad(x)
        log_mixture = torch.log_softmax(self.mixture_distribution.logits, dim=-1)
        return torch.logsumexp(self.component_distribution.log_prob(x) + log_mixture, dim=-1)

    def sample(self, sample_shape: Any = NO_SHAPE) -> torch.Tensor:
        """Draw samples."""
        with torch.no_grad():
            sample_len = len(sample_shape)
            batch_len = len(self.batch_shape)
            gather_dim = sample_len + batch_len
            event_shape = self.event_shape
            chosen = self.mixture_distribution.sample(sample_shape)
            samples = self.component_distribution.sample(sample_shape)
            index = chosen.reshape(chosen.shape + torch.Size([1] * (len(event_shape) + 1)))
            index = index.repeat(torch.Size([1] * len(chosen.shape)) + torch.Size([1]) + event_shape)
            return torch.gather(samples, gather_dim, index).squeeze(gather_dim)

    def _pad(self, x: Any) -> Any:
        return x.unsqueeze(-1 - self._event_ndims)

    def _pad_mixture_dimensions(self, x: Any) -> Any:
        pad = len(self.batch_shape) - len(self.mixture_distribution.batch_shape)
        xs = x.shape
        return x.reshape(xs[:-1] + torch.Size(pad * [1]) + xs[-1:] + torch.Size(self._event_ndims * [1]))

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self.mixture_distribution},\n  {self.component_distribution})"


adopt(globals())

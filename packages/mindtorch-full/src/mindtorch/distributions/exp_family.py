"""Laws of exponential families."""

from __future__ import annotations

from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt

from .distribution import Distribution

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """A law given by natural parameters and the logarithm of its normalizer.

    >>> isinstance(torch.distributions.Normal(0.0, 1.0), torch.distributions.ExponentialFamily)
    True
    """

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        raise NotImplementedError

    def _log_normalizer(self, *natural_params: Any) -> Any:
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self) -> Any:
        raise NotImplementedError

    def entropy(self) -> torch.Tensor:
        """The entropy, from the gradient of the log-normalizer."""
        result = -self._mean_carrier_measure
        params = [p.detach().requires_grad_() for p in self._natural_params]
        log_normalizer = self._log_normalizer(*params)
        gradients = torch.autograd.grad(log_normalizer.sum(), params, create_graph=True)
        result += log_normalizer
        for param, gradient in zip(params, gradients, strict=True):
            result -= (param * gradient).reshape((*self._batch_shape, -1)).sum(-1)
        return result


adopt(globals())

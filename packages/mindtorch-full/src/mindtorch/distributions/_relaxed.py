"""Laws of relaxed choices: continuous values that a low temperature pushes to the choices themselves."""

from __future__ import annotations

from typing import Any

from .transformed_distribution import TransformedDistribution


class Relaxed(TransformedDistribution):
    """Gives the temperature and the parameters of ``base_dist``, the law before the map to probabilities."""

    has_rsample = True
    base_dist: Any

    @property
    def temperature(self) -> Any:
        """How far from the choices the values are."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Any:
        """The parameter as log-odds, or as log-probabilities of several categories."""
        return self.base_dist.logits

    @property
    def probs(self) -> Any:
        """The parameter as probabilities."""
        return self.base_dist.probs

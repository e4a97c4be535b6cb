"""Laws of vectors over the categories of a categorical law, which they keep."""

from __future__ import annotations

from typing import Any


class OfCategorical:
    """Gives the parameters of ``_categorical``."""

    _categorical: Any

    def _new(self, *args: Any, **kwargs: Any) -> Any:
        return self._categorical._new(*args, **kwargs)

    @property
    def probs(self) -> Any:
        """The probabilities of the categories."""
        return self._categorical.probs

    @property
    def logits(self) -> Any:
        """The log-probabilities of the categories."""
        return self._categorical.logits

    @property
    def param_shape(self) -> Any:
        """The shape of the probabilities."""
        return self._categorical.param_shape

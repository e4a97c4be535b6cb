"""Laws whose parameter is given as probabilities or as logits; the other form follows when it is asked for."""

from __future__ import annotations

from typing import Any

import mindtorch as torch

from .utils import broadcast_all, lazy_property, logits_to_probs, probs_to_logits


class ProbsOrLogits:
    """Gives ``probs`` and ``logits``, one stored and one derived."""

    _is_binary = True

    @lazy_property
    def logits(self) -> Any:
        """The parameter as log-odds, or as log-probabilities of several categories."""
        return probs_to_logits(self.probs, is_binary=self._is_binary)

    @lazy_property
    def probs(self) -> Any:
        """The parameter as probabilities."""
        return logits_to_probs(self.logits, is_binary=self._is_binary)

    @property
    def _param(self) -> Any:
        """The form that was given, or what a law derived from this one stored as that."""
        if "_param" in self.__dict__:
            return self.__dict__["_param"]
        return self.probs if "probs" in self.__dict__ and not self._given_logits else self.logits

    @_param.setter
    def _param(self, value: Any) -> None:
        self.__dict__["_param"] = value

    _given_logits = False

    def _store(self, probs: Any, logits: Any) -> Any:
        """Keep a single probability; returns the batch shape."""
        name, given = self._choose(probs, logits)
        (tensor,) = broadcast_all(given)
        setattr(self, name, tensor)
        return tensor.size() if isinstance(given, torch.Tensor) else torch.Size()

    def _store_counted(self, total_count: Any, probs: Any, logits: Any) -> Any:
        """Keep a single probability and a number of trials of its dtype; returns the batch shape."""
        name, given = self._choose(probs, logits)
        count, tensor = broadcast_all(total_count, given)
        self.total_count = count.type_as(tensor)
        setattr(self, name, tensor)
        return tensor.size()

    def _choose(self, probs: Any, logits: Any) -> tuple[str, Any]:
        """Return the parameter that was given, with its name."""
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        self._given_logits = probs is None
        return ("logits", logits) if probs is None else ("probs", probs)

    def _new(self, *args: Any, **kwargs: Any) -> Any:
        return self._param.new_empty(*args, **kwargs)

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter."""
        return self._param.size()

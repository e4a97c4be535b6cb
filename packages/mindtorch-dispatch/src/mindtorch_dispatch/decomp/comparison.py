"""Comparisons composed of others."""

from __future__ import annotations

from ..call import aten
from ..typing import Tensor


def equal(self: Tensor, other: Tensor) -> bool:
    """Same shape and all elements equal."""
    own, given = self._sig.spec, other._sig.spec
    if own is not given and self.shape != other.shape:
        return False
    if own is not given and self.device != other.device:
        raise RuntimeError(
            "Cannot compare two tensors on different devices. Got: " + f"{self.device} and {other.device}"
        )
    return bool(aten.all(aten.eq(self, other)).item())

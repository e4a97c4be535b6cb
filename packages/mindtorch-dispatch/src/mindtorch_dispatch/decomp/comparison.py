"""Comparisons composed of others."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..call import aten


def alias_of(name: str) -> Callable[..., Any]:
    """Return a function that calls the op `name`."""
    return lambda self, other: getattr(aten, name)(self, other)


def equal(self: Any, other: Any) -> bool:
    """Same shape and all elements equal."""
    own, given = self._sig.spec, other._sig.spec
    if own is not given and self.shape != other.shape:
        return False
    if own is not given and self.device != other.device:
        raise RuntimeError(
            "Cannot compare two tensors on different devices. Got: " + f"{self.device} and {other.device}"
        )
    return bool(aten.all(aten.eq(self, other)).item())

"""Extremes composed of other ops."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..call import aten


def larger_or_smaller(name: str) -> Callable[..., Any]:
    """Return `max(self, other)` or `min(self, other)`."""
    target = "maximum" if name == "max" else "minimum"
    return lambda self, other: getattr(aten, target)(self, other)

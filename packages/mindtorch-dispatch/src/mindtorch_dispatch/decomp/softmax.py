"""Softmax with torch's `dtype` argument: convert, then one kernel."""

from __future__ import annotations

from typing import Any

from ..call import aten


def _converted(self: Any, dtype: Any) -> Any:
    return self if dtype is None or dtype is self.dtype else aten._to_copy(self, dtype=dtype)


def softmax(self: Any, dim: int, dtype: Any) -> Any:
    """`softmax.int`."""
    return aten._softmax(_converted(self, dtype), dim, False)


def log_softmax(self: Any, dim: int, dtype: Any) -> Any:
    """`log_softmax.int`."""
    return aten._log_softmax(_converted(self, dtype), dim, False)


def logsumexp(self: Any, dim: Any, keepdim: bool) -> Any:
    """`special_logsumexp`."""
    return aten.logsumexp(self, dim, keepdim)

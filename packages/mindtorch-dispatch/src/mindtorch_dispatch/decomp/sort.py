"""Sorting composed of others."""

from __future__ import annotations

from typing import Any

from ..call import aten
from ..typing import Tensor


def argsort(self: Tensor, dim: int, descending: bool) -> Any:
    """The order that sorts `self`."""
    return aten.sort(self, dim, descending)[1]


def argsort_stable(self: Tensor, stable: bool, dim: int, descending: bool) -> Any:
    """The order that sorts `self`, equal elements in their order."""
    return aten.sort.stable(self, stable=stable, dim=dim, descending=descending)[1]


def msort(self: Tensor) -> Any:
    """`self` sorted along its first dim."""
    return aten.sort(self, 0)[0]

"""What one upper layer gives and another takes, whichever of them is imported first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Handover(Generic[T]):
    """`take(function)` and `give(value)`, in any order, call `function(value)` once both are there."""

    __slots__ = ("_takers", "_values")

    def __init__(self) -> None:
        self._values: list[T] = []
        self._takers: list[Callable[[T], object]] = []

    def give(self, value: T) -> None:
        """Hand `value` to who takes it, now or later; a later value stands in its place."""
        self._values[:] = [value]
        for function in self._takers:
            function(value)

    def take(self, function: Callable[[T], object]) -> None:
        """Have `function` called with what is given."""
        self._takers.append(function)
        for value in self._values:
            function(value)

"""What a library registered, as the object that torch keeps under `Library.m`."""

from __future__ import annotations

from collections.abc import Callable


class Registrations:
    """The steps that take back what a library registered. The last one goes first."""

    def __init__(self) -> None:
        self.undo: list[Callable[[], None]] = []

    def reset(self) -> None:
        """Take everything back now."""
        while self.undo:
            self.undo.pop()()

"""``record_function``: names a stretch of the program for whoever is listening."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from mindtorch.utils._contextlib import _DecoratorContextManager

__all__ = ["Event", "listeners", "record_function"]


class Event:
    """One finished stretch: its name, when it began, and how long it took, in nanoseconds."""

    __slots__ = ("args", "duration", "name", "start")

    def __init__(self, name: str, args: str | None, start: int, duration: int) -> None:
        self.name = name
        self.args = args
        self.start = start
        self.duration = duration


#: Called with every finished event; empty unless a profiler runs.
listeners: list[Callable[[Event], None]] = []


class record_function(_DecoratorContextManager):
    """Label the code inside the ``with`` block. Costs nothing measurable when no profiler runs."""

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name
        self.args = args
        self._start: int | None = None

    def __enter__(self) -> record_function:
        if listeners:
            self._start = time.perf_counter_ns()
        return self

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        if self._start is None:
            return
        event = Event(self.name, self.args, self._start, time.perf_counter_ns() - self._start)
        self._start = None
        for listener in tuple(listeners):
            listener(event)

    def clone(self) -> record_function:
        """A fresh recorder of the same name, for decorated functions."""
        return self.__class__(self.name, self.args)


record_function.__module__ = "torch.autograd.profiler"

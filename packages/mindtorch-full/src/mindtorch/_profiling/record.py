"""``record_function``: names a stretch of the program for the profiler that runs."""

from __future__ import annotations

from typing import Any

from mindtorch.utils._contextlib import _DecoratorContextManager
from mindtorch_dispatch.execute.profiling import USER, Event, Recording
from mindtorch_dispatch.state import state

__all__ = ["record_function"]


class record_function(_DecoratorContextManager):
    """Label the code inside the ``with`` block. Costs nothing measurable when no profiler runs."""

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name
        self.args = args
        self.run_callbacks_on_exit = True
        self.record: Any = None
        self._opened: tuple[Recording, Event] | None = None

    def __enter__(self) -> record_function:
        recording = state.recording
        if recording is not None:
            self._opened = recording, recording.begin(self.name, USER)
        return self

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        if self._opened is None:
            return
        (recording, event), self._opened = self._opened, None
        recording.end(event)

    def clone(self) -> record_function:
        """A fresh recorder of the same name, for decorated functions."""
        return self.__class__(self.name, self.args)


record_function.__module__ = "torch.autograd.profiler"

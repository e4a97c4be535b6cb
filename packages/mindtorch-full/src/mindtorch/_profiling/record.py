"""``record_function``: names a stretch of the program for the profiler that runs."""

from __future__ import annotations

from typing import Any

from mindtorch.utils._contextlib import _DecoratorContextManager
from mindtorch_dispatch.execute.profiling import USER, Event, Recording
from mindtorch_dispatch.state import state

__all__ = ["record_function"]


class record_function(_DecoratorContextManager):
    """Label the code inside the ``with`` block. Costs nothing measurable when no profiler runs.

    >>> with torch.autograd.profiler.profile() as found:
    ...     with torch.autograd.profiler.record_function("my step"):
    ...         _ = torch.ones(2) + 1
    >>> [event.count for event in found.key_averages() if event.key == "my step"]
    [1]
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name
        self.args = args
        self.run_callbacks_on_exit = True
        self.record: Any = None
        self._opened: tuple[Recording, Event] | None = None

    def __enter__(self) -> record_function:
        recording = state.recording
        if recording is not None:
            self._opened = (
                recording,
                recording.begin(self.name, USER, arguments=() if self.args is None else (self.args,)),
            )
        return self

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> None:
        if self._opened is None:
            return
        (recording, event), self._opened = self._opened, None
        recording.end(event)

    def clone(self) -> record_function:
        """A fresh recorder of the same name, for decorated functions."""
        return self.__class__(self.name, self.args)


class _Handle:
    """A label that was begun by hand, until it is ended by hand."""

    __slots__ = ("label",)

    def __init__(self, label: tuple[Recording, Event] | None) -> None:
        self.label = label

    def __str__(self) -> str:
        return "ScriptObject <__torch__.torch.classes.profiler._RecordFunction>"


def _record_function_with_args_enter(name: str, /, *args: Any) -> _Handle:
    """Begin a label, with arguments of which shapes and numbers are recorded as those of an operator's are."""
    recording = state.recording
    if recording is None:
        return _Handle(None)
    # A tuple is one value; lists alone have elements of one type.
    return _Handle((recording, recording.begin(name, USER, arguments=[None if type(a) is tuple else a for a in args])))


def _record_function_with_args_exit(handle: _Handle, /) -> None:
    """End a label."""
    if not isinstance(handle, _Handle):
        raise RuntimeError(
            "Tried to cast object to type __torch__.torch.classes.profiler._RecordFunction (of Python compilation unit at: "
            "0) but object was missing attribute capsule"
        )
    label, handle.label = handle.label, None
    if label is not None:
        label[0].end(label[1])


_Handle.__name__ = _Handle.__qualname__ = "ScriptObject"
_Handle.__module__ = "torch"
record_function.__module__ = "torch.autograd.profiler"

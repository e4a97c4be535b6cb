"""What is left of a profiler that was switched off by hand, in the classes of `torch._C._autograd`."""

from __future__ import annotations

import sys
from typing import Any

from mindtorch._profiling.trace import time_of_day, write_trace
from mindtorch_dispatch.execute.profiling import USER, Event, Recording
from mindtorch_dispatch.state import state

__all__: list[str] = []


class _Result:
    """An object that only the profiler makes."""

    def __init__(self) -> None:
        raise TypeError(f"{type(self).__module__}.{type(self).__qualname__}: No constructor defined!")


class _KinetoEvent(_Result):
    """One stretch of time; times are nanoseconds."""

    _event: Event

    def name(self) -> str:
        """Return the operator's name, or the label."""
        return self._event.name

    def overload_name(self) -> str:
        """Return the operator's overload."""
        return self._event.overload

    def start_ns(self) -> int:
        """Return when it began, as time of day."""
        return time_of_day(self._event.start)

    def end_ns(self) -> int:
        """Return when it ended, as time of day."""
        return time_of_day(self._event.end)

    def duration_ns(self) -> int:
        """Return how long it took."""
        return self._event.end - self._event.start

    def scope(self) -> int:
        """Return 0 of an operator, 1 of a node of the graph, 7 of a label."""
        return self._event.scope

    def sequence_nr(self) -> int:
        """Return the number of the node that the call made, -1 where it made none."""
        return self._event.sequence

    def stack(self) -> list[str]:
        """Return the program's frames, where they were asked for."""
        return self._event.stack

    def shapes(self) -> list[Any]:
        """Return the shapes of the arguments, where they were asked for."""
        return [argument.shape for argument in self._event.arguments or []]

    def is_user_annotation(self) -> bool:
        """Return whether the program gave the name."""
        return self._event.scope == USER


class _ProfilerResult(_Result):
    """What a profiler recorded until it was switched off."""

    _recording: Recording

    def trace_start_ns(self) -> int:
        """Return when the recording began, as time of day in nanoseconds; 0 where there was none."""
        return time_of_day(self._recording.started) if self._recording.started else 0

    def events(self) -> list[_KinetoEvent]:
        """Return what was recorded, in the order it began."""
        found = []
        for event in self._recording.events:
            shown = _KinetoEvent.__new__(_KinetoEvent)
            shown._event = event
            found.append(shown)
        return found

    def save(self, path: str) -> None:
        """Write the recording for `chrome://tracing`."""
        write_trace(path, [self._recording], {})


for _shown in (_KinetoEvent, _ProfilerResult):
    _shown.__module__ = "torch._C._autograd"


def disable() -> _ProfilerResult:
    """Stop this thread's innermost recording and return it; without one say so on stderr and return an empty one."""
    result = _ProfilerResult.__new__(_ProfilerResult)
    result._recording = state.recording or Recording()
    if state.recording is None:
        sys.stderr.write("disableProfiler called but no active profiling session found.\n")
    else:
        state.recording.stop()
    return result

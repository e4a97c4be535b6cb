"""Marks of the profiler as operators, for graphs: a stretch of a program is opened by one and closed by another."""

from __future__ import annotations

import itertools
from typing import Any

from ..call import aten
from ..execute.profiling import USER, Event, Recording
from ..state import state
from ..typing import Tensor

_serial = itertools.count(1)
_open: dict[int, tuple[Recording, Event]] = {}


def enter(name: str, args: str | None = None) -> Any:
    """Open a stretch with a name; the result is its handle, 0 where nothing is recorded."""
    recording = state.recording
    if recording is None:
        return aten.full([], 0)
    number = next(_serial)
    _open[number] = recording, recording.begin(name, USER)
    return aten.full([], number)


def leave(handle: Tensor) -> None:
    """Close the stretch of a handle, once."""
    recording, event = _open.pop(int(handle.item()), (None, None))
    if recording is not None and event is not None:
        recording.end(event)

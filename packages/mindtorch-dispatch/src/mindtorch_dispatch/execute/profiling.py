"""Recording of calls: which op ran when, inside which other, on what.

While a `Recording` runs, `Mode.profiling` is set in its thread. A plan made under that mode is the ordinary plan inside a
second one that takes the time around it. Plans made without it do not know of recordings, so that they cost nothing.
"""

from __future__ import annotations

import itertools
import sys
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from mindtorch_storage.tensor_base import TensorBase, has_bytes

from ..arguments.bound import Bound
from ..frames import is_own
from ..interface.wiring import wired
from ..keys import DispatchKey
from ..plan import Plan
from ..state import state
from ..typing import Tensor
from . import executor

FUNCTION, BACKWARD, USER = 0, 1, 7
"""Scopes of events: an op, a node of the backward graph, a label of the program."""

_ids = itertools.count(1)
_ALLOCATING = (executor.run_kernel, executor.run_kernel_outputs, executor.run_dynamic)


class Event:
    """One stretch of time. `start` and `end` are nanoseconds of `time.perf_counter_ns`; `memory` counts bytes of tensors
    made less those freed; `arguments` are the call's arguments in schema order, None where they were not asked for."""

    __slots__ = (
        "arguments",
        "end",
        "id",
        "memory",
        "name",
        "native_thread",
        "overload",
        "parent",
        "scope",
        "sequence",
        "stack",
        "start",
        "thread",
    )

    def __init__(self, name: str, overload: str, scope: int, sequence: int) -> None:
        self.id = next(_ids)
        self.name = name
        self.overload = overload
        self.scope = scope
        self.sequence = sequence
        self.memory = 0
        self.start = self.end = 0
        self.parent: Event | None = None
        self.arguments: list[Argument] | None = None
        self.stack: list[str] = []
        self.thread = threading.get_ident()
        self.native_thread = threading.get_native_id()


class Argument:
    """What is kept of one argument: never the tensor, only its geometry."""

    __slots__ = ("shape", "stride", "type", "value")

    def __init__(self, value: Any) -> None:
        self.value: Any = None
        self.shape: Any = []
        self.stride: Any = []
        self.type = ""
        if isinstance(value, TensorBase):
            spec = value._sig.spec
            self.shape, self.stride, self.type = list(spec.shape), list(spec.stride), str(spec.dtype)
        elif isinstance(value, (list, tuple)) and value and all(isinstance(item, TensorBase) for item in value):
            parts = [Argument(item) for item in value]
            self.shape, self.stride = [part.shape for part in parts], [part.stride for part in parts]
            self.type = "TensorList"
        elif isinstance(value, (list, tuple)) and not any(isinstance(item, TensorBase) for item in value):
            self.value, self.type = list(value), "ScalarList"
        elif isinstance(value, (bool, int, float, complex)):
            self.value, self.type = value, "Scalar"


class Recording:
    """The events of one thread, in the order they began; `start` and `stop` switch it."""

    def __init__(self, *, shapes: bool = False, memory: bool = False, stacks: bool = False) -> None:
        self.shapes = shapes
        self.memory = memory
        self.stacks = stacks
        self.events: list[Event] = []
        self.open: list[Event] = []
        self.started = self.stopped = 0
        self._owners: dict[int, Any] = {}
        self._outer: Recording | None = None

    def start(self) -> None:
        """Record the calls of this thread from now on."""
        self.started = time.perf_counter_ns()
        self._outer = state.recording
        state.recording = self
        state.mode = state.mode.replace(profiling=True)

    def pause(self, paused: bool) -> None:
        """Leave out what follows, or go on."""
        state.mode = state.mode.replace(profiling=not paused)
        state.recording = None if paused else self

    def stop(self) -> None:
        """Record no more. Events that are still open end here; a recording that this one replaced goes on.

        One that was stopped already, by hand inside of its block, stays as it is.
        """
        if self.stopped:
            return
        state.mode = state.mode.replace(profiling=self._outer is not None)
        state.recording = self._outer
        self.stopped = time.perf_counter_ns()
        self.close(0)
        self._owners.clear()

    def begin(
        self, name: str, scope: int = FUNCTION, sequence: int = -1, arguments: Sequence[Any] = (), overload: str = ""
    ) -> Event:
        """Open an event inside the one that is open."""
        event = Event(name, overload, scope, sequence)
        if self.open:
            event.parent = self.open[-1]
        if self.shapes:
            event.arguments = [Argument(value) for value in arguments]
        if self.stacks:
            event.stack = _stack()
        self.events.append(event)
        self.open.append(event)
        event.start = time.perf_counter_ns()
        return event

    def end(self, event: Event) -> None:
        """Close an event, and what was left open inside of it."""
        now = time.perf_counter_ns()
        while self.open and event in self.open:
            last = self.open.pop()
            last.end = now
            if last.parent is not None:
                last.parent.memory += last.memory

    def close(self, depth: int) -> None:
        """Close all open events but the outer `depth`."""
        while len(self.open) > depth:
            self.end(self.open[-1])

    def note_memory(self, result: Tensor) -> None:
        """Count the bytes of new tensors, and count them off when they are freed."""
        for tensor in result if isinstance(result, (tuple, list)) else (result,):
            owner = tensor._array if isinstance(tensor, TensorBase) and has_bytes(tensor) else None
            while owner is not None and isinstance(owner.base, np.ndarray):
                owner = owner.base
            if owner is None or id(owner) in self._owners:
                continue
            self._count(owner.nbytes)
            self._owners[id(owner)] = weakref.ref(owner, self._freed(id(owner), owner.nbytes))

    def _freed(self, key: int, nbytes: int) -> Callable[[Any], None]:
        def freed(reference: object) -> None:
            if self._owners.pop(key, None) is not None and state.recording is self:
                self._count(-nbytes)

        return freed

    def _count(self, nbytes: int) -> None:
        if self.open:
            self.open[-1].memory += nbytes
            return
        event = Event("[memory]", "", FUNCTION, -1)
        event.start = event.end = time.perf_counter_ns()
        event.memory = nbytes
        self.events.append(event)


def _stack() -> list[str]:
    """Return the frames of the program that called us, the innermost first."""
    lines = []
    frame = sys._getframe(2)
    while frame is not None:
        if not is_own(frame):
            lines.append(f"{frame.f_code.co_filename}({frame.f_lineno}): {frame.f_code.co_name}")
        frame = frame.f_back  # type: ignore[assignment]
    return lines


def plan_recorded(bound: Bound, inner: Plan) -> Plan:
    """Return the plan that runs `inner` and records it; what opens and closes stretches is no event of its own."""
    if bound.row.name.startswith("profiler::"):
        return inner
    plan = Plan(bound.row, _run)
    plan.kernel = inner
    name, _, overload = bound.row.name.partition(".")
    plan.outputs = (name if "::" in name else f"aten::{name}", overload)
    plan.source = bound.sources
    plan.values = [None if source is not None else v for v, source in zip(bound.values, bound.sources, strict=True)]
    mode = state.mode
    tracked = mode.grad and not mode.exclude >> DispatchKey.Autograd & 1
    plan.follows = tracked and any(isinstance(value, TensorBase) for value in bound.values)
    return plan


def _run(plan: Plan, flat: tuple[Any, ...]) -> Any:
    inner, recording = plan.kernel, state.recording
    if recording is None:
        return inner.run(inner, flat)
    arguments: Sequence[Any] = ()
    if recording.shapes:
        arguments = [v if at is None else flat[at] for v, at in zip(plan.values, plan.source, strict=True)]
    name, overload = plan.outputs
    event = recording.begin(name, FUNCTION, wired.next_sequence() if plan.follows else -1, arguments, overload)
    try:
        result = inner.run(inner, flat)
        if recording.memory and inner.run in _ALLOCATING:
            recording.note_memory(result)
    finally:
        recording.end(event)
    return result

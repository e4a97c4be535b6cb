"""Streams that run their tasks in order on a thread of their own, and events that mark places in them."""

from __future__ import annotations

import itertools
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from mindtorch_npu.simulator.faults import DeviceFault

AICORE_EXCEPTION = 507015
NO_MEMORY_THERE = 100000
CAPTURED, DEPENDENCY = 107027, 107024
EXTERNAL = 0x20
"""The flag of events that tasks within recordings wait for."""
KERNEL_ERRORS = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    BufferError,
    LookupError,
    MemoryError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)
"""What a kernel that is written in Python may die of."""


class Mark:
    """One recording of an event: done when the stream has passed it."""

    __slots__ = ("clock", "done", "place", "recording", "stream", "time_us")

    def __init__(self, clock: dict[int, int] | None = None) -> None:
        self.clock = clock or {}
        self.done = threading.Event()
        self.time_us = 0
        self.recording: Recording | None = None
        self.stream: Stream | None = None
        self.place = 0  # how much the stream had been given

    def reach(self) -> None:
        """The stream is here."""
        self.time_us = time.monotonic_ns() // 1000
        self.done.set()


class TaskGroup:
    """Tasks of a recording that may be replaced by others when it has ended."""

    def __init__(self) -> None:
        self.tasks: list[tuple[Callable[[], None], Task | None]] = []
        self.anew: list[tuple[Callable[[], None], Task | None]] = []


class Recording:
    """What was enqueued to a stream, and to those that waited for it, while it was recorded."""

    def __init__(self, origin: Stream, mode: int, handle: int) -> None:
        self.origin = origin
        self.mode = mode
        self.handle = handle
        self.thread = threading.get_ident()
        self.streams = [origin]
        self.given: dict[Stream, int] = {}  # what each stream was given, waits included
        self.waited: dict[Stream, int] = {}  # how much of it another one waits for
        self.groups = [TaskGroup()]
        """What was enqueued, in order; every second one was marked by the program, to be replaced."""
        self.group: TaskGroup | None = None
        self.invalid = ""

    @property
    def active(self) -> bool:
        """True until the recording is ended."""
        return self.origin.recording is self

    @property
    def tasks(self) -> list[tuple[Callable[[], None], Task | None]]:
        """What is run, in order."""
        return [task for group in self.groups for task in group.tasks]

    def unjoined(self) -> list[Stream]:
        """Return the streams whose last task nothing in the recording waits for."""
        return [one for one in self.streams if one is not self.origin and self.waited.get(one, -1) < self.given[one]]

    def refuse(self, what: str) -> DeviceFault:
        """Return the refusal of what cannot be recorded, with which the recording is lost."""
        self.invalid = what
        return DeviceFault(CAPTURED, f"EE1001: {what} while the stream is recorded")


class Event:
    """A re-recordable event; waits refer to the recording that was current when they were issued."""

    def __init__(self, handle: int, flags: int, recordable_anew: bool, device: int = 0) -> None:
        self.handle = handle
        self.device = device
        self.flags = flags
        self.recordable_anew = recordable_anew
        self.mark: Mark | None = None
        self.signal = threading.Event() if flags & EXTERNAL and not recordable_anew else None
        """Of an event that tasks within recordings wait for: set and cleared by tasks, too."""

    @property
    def complete(self) -> bool:
        """True when the stream has passed the last recording, or there is none."""
        if self.signal is not None:
            return self.signal.is_set()
        return self.mark is None or self.mark.done.is_set()


class Task(NamedTuple):
    """What a task is called and the bytes it uses: start and end of each range."""

    name: str
    ranges: Sequence[tuple[int, int]]


class Stream:
    """A queue of tasks and the thread that runs them, which starts with the first task and ends when idle for long."""

    _numbers = itertools.count(1)

    def __init__(self, handle: int, context: int, device: int, delay: float = 0.0) -> None:
        self.handle = handle
        self.context = context
        self.device = device
        self.delay = delay
        self.number = next(self._numbers)
        self.error: DeviceFault | None = None
        self.stop_on_failure = False
        self.closed = False
        self.recording: Recording | None = None
        self.updating: TaskGroup | None = None
        self._tasks: deque[tuple[Callable[[], None], bool, Task | None]] = deque()
        self._running: Task | None = None
        self._changed = threading.Condition()
        self._busy = False
        self._thread: threading.Thread | None = None

    def enqueue(self, task: Callable[[], None], always: bool = False, uses: Task | None = None) -> None:
        """Run `task` after all that was enqueued before, `always` also after a failure; returns at once.

        `uses` says which bytes it reads and writes, which have to stay until then.
        """
        if self.updating is not None:
            self.updating.anew.append((task, uses))
            return
        if self.recording is not None:
            self.recording.groups[-1].tasks.append((task, uses))
            self.recording.given[self] = self.recording.given.get(self, 0) + 1
            return
        with self._changed:
            if self.closed:
                raise DeviceFault(107003, "EE1001: the stream has been destroyed")
            self._tasks.append((task, always, uses))
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name=f"npu-stream-{self.number}", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def _work(self) -> None:
        while True:
            with self._changed:
                while not self._tasks:
                    if (self.closed or not self._changed.wait(timeout=2.0)) and not self._tasks:
                        self._thread = None
                        return
                task, always, self._running = self._tasks.popleft()
                self._busy = True
            try:
                if self.delay:
                    time.sleep(self.delay)
                if self.error is None or not self.stop_on_failure or always:
                    task()
            except DeviceFault as fault:
                lost = fault.code == NO_MEMORY_THERE  # at the time of the task: a call would have refused it
                self.error = self.error or (DeviceFault(AICORE_EXCEPTION, fault.text) if lost else fault)
            except KERNEL_ERRORS as error:  # a kernel that dies is an exception of the device's cores
                self.error = self.error or DeviceFault(AICORE_EXCEPTION, f"EZ9999: {type(error).__name__}: {error}")
            with self._changed:
                self._busy, self._running = False, None
                self._changed.notify_all()

    def waiting_for(self, start: int, end: int) -> str | None:
        """Return the task that is still to use one of these bytes, None when there is none."""
        with self._changed:
            for uses in (self._running, *(task[2] for task in self._tasks)):
                if uses is not None and any(first < end and start < last for first, last in uses.ranges):
                    return uses.name
        return None

    @property
    def idle(self) -> bool:
        """True when every task has run."""
        with self._changed:
            return not self._tasks and not self._busy

    def wait(self, timeout_s: float | None = None) -> bool:
        """Wait until every task has run; False when the time is over first."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._tasks and not self._busy, timeout_s)

    def record(self, event: Event, clock: dict[int, int] | None = None) -> None:
        """Mark this place in the stream as the event's recording; `clock` is what that says of other streams."""
        if event.signal is not None:
            self.enqueue(event.signal.set, always=True)
            return
        mark = Mark(clock)
        event.mark = mark
        if self.recording is not None:  # nothing happens: it only says what comes after it
            mark.recording, mark.stream = self.recording, self
            mark.place = self.recording.given.get(self, 0)
            return
        self.enqueue(mark.reach, always=True)

    def wait_event(self, event: Event) -> None:
        """Let later tasks wait for the event's present recording."""
        if event.signal is not None:
            self.enqueue(partial(_passed, event.signal))
            return
        mark = event.mark
        if mark is not None and (mark.recording is not None or self.recording is not None):
            self._join(mark)
        elif mark is not None:
            self.enqueue(lambda: _wait(mark))

    def _join(self, mark: Mark) -> None:
        """Record what this stream is given from now on, as it comes after something that is recorded."""
        if mark.recording is None or self.recording not in (None, mark.recording):
            text = "EE1001: an event of another recording, or of none, cannot be waited for in a recording"
            raise DeviceFault(DEPENDENCY, text)
        if self.recording is None:
            self.recording = mark.recording
            mark.recording.streams.append(self)
        if mark.stream is not None and mark.stream is not self:
            mark.recording.waited[mark.stream] = max(mark.recording.waited.get(mark.stream, 0), mark.place)
        mark.recording.given[self] = mark.recording.given.get(self, 0) + 1

    def close(self, force: bool = False) -> None:
        """Refuse further tasks; run those that wait, unless `force` drops them."""
        with self._changed:
            self.closed = True
            if force:
                self._tasks.clear()
            self._changed.notify_all()
        self.wait()


def _wait(mark: Mark) -> None:
    mark.done.wait()


def _passed(signal: threading.Event) -> None:
    signal.wait()

"""The order of a group's collectives: a thread for those that nobody waits for, the caller's own for the others."""

from __future__ import annotations

import math
import queue
import threading
import time
from collections.abc import Callable

from mindtorch_distributed.engine import LOOK, Communicator, PeerEndedError, Request, wait_until

Start = Callable[[], Request]
_THREAD = threading.local()
"""In the thread of a lane: the lane."""
_IDLE = 0.001


class LateError(Exception):
    """An operation was not done in time."""


class Task:
    """An operation, and what is called when it is done."""

    def __init__(self, start: Start, after: Callable[[], None], peers: Communicator | None = None) -> None:
        self._start, self._after, self._peers = start, after, peers
        self._done = threading.Event()
        self._settling = threading.Lock()
        self._callbacks: list[Callable[[], None]] = []
        self.error: BaseException | None = None
        self.source = -1

    def when_done(self, callback: Callable[[], None]) -> None:
        """Call `callback` when the task is done: at once when it is."""
        with self._settling:
            if not self._done.is_set():
                self._callbacks.append(callback)
                return
        callback()

    def _settle(self) -> None:
        with self._settling:
            self._done.set()
            callbacks, self._callbacks = self._callbacks, []
        for callback in callbacks:
            callback()

    def run(self) -> None:
        """Carry the operation out, without Python's lock while it waits."""
        try:
            request = self._start()
            request.finish()
            self.source = request.source()
            self._after()
        except Exception as error:  # noqa: BLE001 - whoever waits for the task gets it
            self.error = error
        self._settle()

    def run_here(self, seconds: float) -> None:
        """Carry the operation out in this thread; LateError when it takes too long."""
        request = self._start()
        if not wait_until(request, seconds, self._peers):
            self.error = LateError(seconds)
            raise self.error
        self.source = request.source()
        self._after()
        self._settle()

    def done(self) -> bool:
        """Return whether it is done, well or not."""
        return self._done.is_set()

    def wait(self, seconds: float) -> bool:
        """Return whether it is done in time. PeerEndedError when a process that takes part has ended."""
        end = time.monotonic() + seconds
        lane: Lane | None = getattr(_THREAD, "lane", None)
        if lane is not None:
            lane.carry_on(self.done, end)
        while not self._done.wait(min(max(end - time.monotonic(), 0.0), LOOK)):
            if time.monotonic() >= end:
                return False
            ended = self._peers.ended() if self._peers is not None else []
            if ended and not self._done.wait(LOOK):
                raise PeerEndedError(ended)
        return True


class Lane:
    """Runs tasks one after another."""

    def __init__(self, name: str, prepare: Callable[[Lane], None] | None = None) -> None:
        self._name, self._prepare = name, prepare
        self._tasks: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._open = 0
        self._lock = threading.Lock()
        self.closed = False

    def run(self, task: Task, seconds: float) -> None:
        """Carry a task out and return; LateError when it takes too long."""
        if self._open == 0:
            task.run_here(seconds)
            return
        self.submit(task)
        if not task.wait(seconds):
            raise LateError(seconds)
        if task.error is not None:
            raise task.error

    def submit(self, task: Task) -> None:
        """Carry a task out behind those before it, and return at once."""
        with self._lock:
            self._open += 1
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
                self._thread.start()
        self._tasks.put(task)

    def _work(self) -> None:
        _THREAD.lane = self
        if self._prepare is not None:
            self._prepare(self)
        while (task := self._tasks.get()) is not None:
            self._run(task)

    def _run(self, task: Task) -> None:
        task.run()
        with self._lock:
            self._open -= 1

    def carry_on(self, done: Callable[[], bool], end: float = math.inf) -> None:
        """Carry tasks out in the lane's thread until `done` or a time: a callback there waits for one behind its own."""
        while not done() and time.monotonic() < end:
            try:
                task = self._tasks.get(timeout=_IDLE)
            except queue.Empty:  # what it waits for may be another thread's to do
                continue
            if task is None:
                self._tasks.put(None)
                return
            self._run(task)

    def close(self, seconds: float) -> bool:
        """End the thread after the tasks that wait; return whether it ended in time."""
        self.closed = True
        if self._thread is None:
            return True
        self._tasks.put(None)
        self._thread.join(seconds)
        return not self._thread.is_alive()

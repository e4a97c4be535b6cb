"""What timers are made of: a worker asks for one, a server watches them."""

from __future__ import annotations

import abc
import logging
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from inspect import getframeinfo, stack
from typing import Any

from mindtorch._naming import adopt

__all__ = ["RequestQueue", "TimerClient", "TimerRequest", "TimerServer", "configure", "expires"]

logger = logging.getLogger("torch.distributed.elastic.timer.api")


class TimerRequest:
    """A timer that a worker holds until a time; a negative time gives it back."""

    __slots__ = ["expiration_time", "scope_id", "worker_id"]

    def __init__(self, worker_id: Any, scope_id: str, expiration_time: float) -> None:
        self.worker_id = worker_id
        self.scope_id = scope_id
        self.expiration_time = expiration_time

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TimerRequest):
            return False
        return all(getattr(self, name) == getattr(other, name) for name in self.__slots__)

    __hash__ = None  # type: ignore[assignment] # as every class that compares by value


class TimerClient(abc.ABC):
    """A worker's side."""

    @abc.abstractmethod
    def acquire(self, scope_id: str, expiration_time: float) -> None:
        """Ask for a timer."""

    @abc.abstractmethod
    def release(self, scope_id: str) -> None:
        """Give it back."""


class RequestQueue(abc.ABC):
    """Where the requests of workers wait."""

    @abc.abstractmethod
    def size(self) -> int:
        """Return how many wait."""

    @abc.abstractmethod
    def get(self, size: int, timeout: float) -> list[TimerRequest]:
        """Return up to `size` of them, those that came within `timeout` seconds."""


class TimerServer(abc.ABC):
    """Watches timers, and ends the workers that hold one for too long."""

    def __init__(self, request_queue: RequestQueue, max_interval: float, daemon: bool = True) -> None:
        self._request_queue = request_queue
        self._max_interval = max_interval
        self._daemon = daemon
        self._watchdog_thread: threading.Thread | None = None
        self._stop_signaled = False

    @abc.abstractmethod
    def register_timers(self, timer_requests: list[TimerRequest]) -> None:
        """Take requests of workers."""

    @abc.abstractmethod
    def clear_timers(self, worker_ids: set[Any]) -> None:
        """Forget all timers of workers."""

    @abc.abstractmethod
    def get_expired_timers(self, deadline: float) -> dict[str, list[TimerRequest]]:
        """Return the timers whose time was before `deadline`, by worker."""

    @abc.abstractmethod
    def _reap_worker(self, worker_id: Any) -> bool:
        """End a worker; return whether it has ended."""

    def _reap_worker_no_throw(self, worker_id: Any) -> bool:
        """End a worker; what raises is told, and the worker counts as ended: others have to be watched."""
        try:
            return self._reap_worker(worker_id)
        except Exception as error:
            logger.error("The worker %s could not be ended", worker_id, exc_info=error)
            return True

    def _watchdog_loop(self) -> None:
        while not self._stop_signaled:
            try:
                self._run_watchdog()
            except Exception as error:
                logger.error("The watch over timers failed; it goes on", exc_info=error)

    def _run_watchdog(self) -> None:
        waiting = max(1, self._request_queue.size())
        self.register_timers(self._request_queue.get(waiting, self._max_interval))
        reaped = set()
        for worker_id, expired in self.get_expired_timers(time.time()).items():
            logger.info("The worker %s held timers for too long: %s", worker_id, self._get_scopes(expired))
            if self._reap_worker_no_throw(worker_id):
                reaped.add(worker_id)
        self.clear_timers(reaped)

    def _get_scopes(self, timer_requests: list[TimerRequest]) -> list[str]:
        return [request.scope_id for request in timer_requests]

    def start(self) -> None:
        """Begin to watch, in a thread."""
        self._stop_signaled = False
        self._watchdog_thread = threading.Thread(target=self._watchdog_loop, daemon=self._daemon)
        self._watchdog_thread.start()

    def stop(self) -> None:
        """Watch no more."""
        self._stop_signaled = True
        if self._watchdog_thread:
            self._watchdog_thread.join(self._max_interval)
            self._watchdog_thread = None


_timer_client: TimerClient | None = None


def configure(timer_client: TimerClient) -> None:
    """Let this process ask for timers by a client."""
    global _timer_client
    _timer_client = timer_client


@contextmanager
def expires(after: float, scope: str | None = None, client: TimerClient | None = None) -> Iterator[None]:
    """Hold a timer within the block: a process that is in it for longer than `after` seconds is ended."""
    client = client or _timer_client
    if client is None:
        raise RuntimeError("Configure timer client before using countdown timers.")
    if scope is None:
        caller = getframeinfo(stack()[2][0])  # the one above contextlib's
        scope = f"{caller.filename}#{caller.lineno}"
    client.acquire(scope, time.time() + after)
    try:
        yield
    finally:
        client.release(scope)


adopt(globals())

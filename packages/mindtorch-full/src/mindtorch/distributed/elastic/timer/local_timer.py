"""Timers of the processes of one host: requests go through a queue of `multiprocessing`."""

from __future__ import annotations

import logging
import os
import signal
import time
from queue import Empty
from typing import Any

from mindtorch._naming import adopt
from mindtorch.distributed.elastic.timer.api import RequestQueue, TimerClient, TimerRequest, TimerServer

__all__ = ["LocalTimerClient", "LocalTimerServer", "MultiprocessingRequestQueue"]

logger = logging.getLogger("torch.distributed.elastic.timer.local_timer")


class LocalTimerClient(TimerClient):
    """A worker is known by its process' number."""

    def __init__(self, mp_queue: Any) -> None:
        super().__init__()
        self._mp_queue = mp_queue

    def acquire(self, scope_id: str, expiration_time: float) -> None:
        """Ask for a timer."""
        self._mp_queue.put(TimerRequest(os.getpid(), scope_id, expiration_time))

    def release(self, scope_id: str) -> None:
        """Give it back."""
        self._mp_queue.put(TimerRequest(os.getpid(), scope_id, -1))


class MultiprocessingRequestQueue(RequestQueue):
    """Requests in a queue of `multiprocessing`."""

    def __init__(self, mp_queue: Any) -> None:
        super().__init__()
        self._mp_queue = mp_queue

    def size(self) -> int:
        """Return how many wait."""
        return int(self._mp_queue.qsize())

    def get(self, size: int, timeout: float) -> list[TimerRequest]:
        """Return up to `size` of them, those that came within `timeout` seconds."""
        requests: list[TimerRequest] = []
        until = time.time() + timeout
        wait = timeout
        while len(requests) < size and wait > 0:
            try:
                requests.append(self._mp_queue.get(block=True, timeout=wait))
            except Empty:  # nothing came in time
                break
            wait = until - time.time()
        return requests


class LocalTimerServer(TimerServer):
    """Ends processes of this host."""

    def __init__(self, mp_queue: Any, max_interval: float = 60, daemon: bool = True) -> None:
        super().__init__(MultiprocessingRequestQueue(mp_queue), max_interval, daemon)
        self._timers: dict[tuple[Any, str], TimerRequest] = {}

    def register_timers(self, timer_requests: list[TimerRequest]) -> None:
        """Hold the timers that workers asked for, and drop those that they gave back."""
        for request in timer_requests:
            key = (request.worker_id, request.scope_id)
            if request.expiration_time < 0:
                self._timers.pop(key, None)
            else:
                self._timers[key] = request

    def clear_timers(self, worker_ids: set[Any]) -> None:
        """Forget all timers of workers."""
        self._timers = {key: request for key, request in self._timers.items() if key[0] not in worker_ids}

    def get_expired_timers(self, deadline: float) -> dict[Any, list[TimerRequest]]:
        """Return the timers whose time was before `deadline`, by worker."""
        expired: dict[Any, list[TimerRequest]] = {}
        for request in self._timers.values():
            if request.expiration_time <= deadline:
                expired.setdefault(request.worker_id, []).append(request)
        return expired

    def _reap_worker(self, worker_id: int) -> bool:
        try:
            os.kill(worker_id, signal.SIGKILL)
        except ProcessLookupError:
            logger.info("The process %s had ended already", worker_id)
        except OSError:
            logger.exception("The process %s could not be ended", worker_id)
            return False
        return True


adopt(globals())

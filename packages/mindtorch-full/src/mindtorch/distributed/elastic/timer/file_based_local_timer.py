"""Timers of the processes of one host: requests go through a named pipe, which any program can write to."""

from __future__ import annotations

import json
import os
import signal as signals
import threading
import time
from collections.abc import Callable, Iterable

from mindtorch._naming import adopt
from mindtorch.distributed.elastic.timer.api import TimerClient, TimerRequest
from mindtorch.distributed.elastic.timer.debug_info_logging import log_debug_info_for_expired_timers
from mindtorch.distributed.elastic.utils.logging import get_logger

__all__ = ["FileTimerClient", "FileTimerRequest", "FileTimerServer"]

logger = get_logger(__name__)

_ATTEMPTS, _PAUSE = 10, 0.1
"""How often a client tries to open the pipe of a server that is about to start, and the seconds between."""
_MOST = 65536
_LogEvent = Callable[[str, "FileTimerRequest | None"], None]


class FileTimerRequest(TimerRequest):
    """A timer that a worker holds until a time, and the signal that ends the worker; a negative time gives it back."""

    __slots__ = ["signal", "version"]

    def __init__(self, worker_pid: int, scope_id: str, expiration_time: float, signal: int = 0) -> None:
        super().__init__(worker_pid, scope_id, expiration_time)
        self.version = 1
        self.signal = signal

    @property
    def worker_pid(self) -> int:
        """The number of the worker's process."""
        return int(self.worker_id)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FileTimerRequest) and self.to_json() == other.to_json()

    __hash__ = None  # type: ignore[assignment] # as every class that compares by value

    def to_json(self) -> str:
        """Return the line of text that goes through the pipe."""
        return json.dumps(
            {
                "version": self.version,
                "pid": self.worker_pid,
                "scope_id": self.scope_id,
                "expiration_time": self.expiration_time,
                "signal": self.signal,
            }
        )


class FileTimerClient(TimerClient):
    """A worker's side: it writes a line for every request."""

    def __init__(self, file_path: str, signal: int | None = signals.SIGKILL) -> None:
        super().__init__()
        self._file_path = file_path
        self.signal = signal

    def _opened(self) -> int:
        """Return the pipe, open for writing; a server that does not read it makes this fail."""
        for attempt in range(_ATTEMPTS):
            try:
                return os.open(self._file_path, os.O_WRONLY | os.O_NONBLOCK)
            except OSError as error:
                if attempt == _ATTEMPTS - 1:
                    raise BrokenPipeError(
                        "Could not send the FileTimerRequest because FileTimerServer is not available."
                    ) from error
                time.sleep(_PAUSE)
        raise AssertionError("unreachable")

    def _send_request(self, request: FileTimerRequest) -> None:
        pipe = self._opened()
        try:
            line = request.to_json().encode() + b"\n"
            # Only lines of this length are written in one piece, whatever other workers write.
            if len(line) > os.fpathconf(pipe, "PC_PIPE_BUF"):
                raise RuntimeError(f"The timer's scope is too long for a pipe: {len(line)} bytes")
            os.set_blocking(pipe, True)
            os.write(pipe, line)
        finally:
            os.close(pipe)

    def acquire(self, scope_id: str, expiration_time: float) -> None:
        """Ask for a timer. BrokenPipeError where no server reads the pipe."""
        signal = 0 if self.signal is None else int(self.signal)
        self._send_request(FileTimerRequest(os.getpid(), scope_id, expiration_time, signal))

    def release(self, scope_id: str) -> None:
        """Give it back."""
        self._send_request(FileTimerRequest(os.getpid(), scope_id, -1))


class FileTimerServer:
    """Makes the pipe, watches timers, and ends processes of this host that hold one for too long."""

    def __init__(
        self,
        file_path: str,
        run_id: str,
        max_interval: float = 10,
        daemon: bool = True,
        log_event: _LogEvent | None = None,
    ) -> None:
        self._file_path, self._run_id, self._max_interval, self._daemon = file_path, run_id, max_interval, daemon
        self._log_event: _LogEvent = log_event if log_event is not None else lambda name, request: None
        self._timers: dict[tuple[int, str], FileTimerRequest] = {}
        self._request_count = 0
        self._last_progress_time = int(time.time())
        self._stop_signaled = self._run_once = False
        self._watchdog_thread: threading.Thread | None = None
        self._rest = b""
        if os.path.exists(file_path):
            os.remove(file_path)
        os.mkfifo(file_path)
        # Reading it already, so that workers need not wait for the thread.
        self._pipe: int | None = os.open(file_path, os.O_RDONLY | os.O_NONBLOCK)

    def start(self) -> None:
        """Begin to watch, in a thread."""
        self._stop_signaled = False
        self._watchdog_thread = threading.Thread(target=self._watchdog_loop, daemon=self._daemon)
        self._watchdog_thread.start()
        self._log_event("watchdog started", None)

    def stop(self) -> None:
        """Watch no more, and remove the pipe."""
        self._stop_signaled = True
        self._join()
        if self._pipe is not None:
            os.close(self._pipe)
            self._pipe = None
        if os.path.exists(self._file_path):
            os.remove(self._file_path)
        self._log_event("watchdog stopped", None)

    def _join(self) -> None:
        if self._watchdog_thread is not None:
            self._watchdog_thread.join()
            self._watchdog_thread = None

    def run_once(self) -> None:
        """Carry out all requests that were sent, and watch no more."""
        self._run_once = True
        if self._watchdog_thread is not None:
            self._join()
        else:
            self._watchdog_loop()
        self._run_once = False

    @staticmethod
    def is_process_running(pid: int) -> bool:
        """Return whether a process of this number exists, and this one may signal it."""
        if pid <= 0:  # a number of a group of processes
            return False
        try:
            os.kill(pid, 0)
        except OSError:
            return False
        return True

    def _watchdog_loop(self) -> None:
        while not self._stop_signaled:
            last = self._run_once  # asked before: what was sent until then is carried out below
            try:
                self._run_watchdog()
            except Exception as error:
                logger.error("The watch over timers failed; it goes on", exc_info=error)
            if last:
                return

    def _run_watchdog(self) -> None:
        self.register_timers(self._get_requests(self._max_interval))
        expired = self.get_expired_timers(time.time())
        scopes = {pid: self._get_scopes(timers) for pid, timers in expired.items()}
        log_debug_info_for_expired_timers(self._run_id, scopes)
        reaped = set()
        for pid, timers in expired.items():
            named = [timer.signal for timer in timers if timer.signal > 0]
            self._log_event("timer expired", timers[0])
            if not named:  # a worker that named no signal is only reported
                reaped.add(pid)
            elif self._reap_worker(pid, named[0]):
                self._log_event("kill worker process", timers[0])
                reaped.add(pid)
        reaped |= {pid for pid, _ in self._timers if pid not in reaped and not self.is_process_running(pid)}
        self.clear_timers(reaped)
        self._last_progress_time = int(time.time())

    def _get_scopes(self, timer_requests: Iterable[FileTimerRequest]) -> list[str]:
        return [request.scope_id for request in timer_requests]

    def _read(self) -> bytes:
        try:
            return os.read(self._pipe, _MOST) if self._pipe is not None else b""
        except BlockingIOError:  # somebody has it open and writes nothing
            return b""

    def _get_requests(self, max_interval: float) -> list[FileTimerRequest]:
        """Return what was sent; where nothing was, wait a moment for the next look."""
        requests = []
        while piece := self._read():
            *lines, self._rest = (self._rest + piece).split(b"\n")
            requests += [_request(line) for line in lines]
        if not requests and not self._run_once:
            time.sleep(min(max_interval, 1))
        return requests

    def register_timers(self, timer_requests: list[FileTimerRequest]) -> None:
        """Hold the timers that workers asked for, and drop those that they gave back."""
        for request in timer_requests:
            key = (request.worker_pid, request.scope_id)
            self._request_count += 1
            if request.expiration_time >= 0:
                self._timers[key] = request
            else:
                self._timers.pop(key, None)

    def clear_timers(self, worker_pids: set[int]) -> None:
        """Forget all timers of workers."""
        self._timers = {key: request for key, request in self._timers.items() if key[0] not in worker_pids}

    def get_expired_timers(self, deadline: float) -> dict[int, list[FileTimerRequest]]:
        """Return the timers whose time was before `deadline`, by worker."""
        expired: dict[int, list[FileTimerRequest]] = {}
        for request in self._timers.values():
            if request.expiration_time <= deadline:
                expired.setdefault(request.worker_pid, []).append(request)
        return expired

    def _reap_worker(self, worker_pid: int, signal: int) -> bool:
        """End a process; return whether it has ended."""
        try:
            os.kill(worker_pid, signal)
        except ProcessLookupError:
            logger.info("The process %s had ended already", worker_pid)
        except OSError:
            logger.exception("The process %s could not be ended", worker_pid)
            return False
        return True

    def get_last_progress_time(self) -> int:
        """Return when the watch last went round, in seconds since 1970; now, where no worker holds a timer."""
        return self._last_progress_time if self._timers else int(time.time())


def _request(line: bytes) -> FileTimerRequest:
    held = json.loads(line)
    return FileTimerRequest(held["pid"], held["scope_id"], held["expiration_time"], held["signal"])


adopt(globals())

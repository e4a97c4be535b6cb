"""Workers as a group: started together, watched, and ended together when one fails."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, TextIO

from mindtorch import multiprocessing as mp
from mindtorch._naming import adopt
from mindtorch.distributed.elastic.multiprocessing.errors import ProcessFailure, record
from mindtorch.distributed.elastic.multiprocessing.logs import DefaultLogsSpecs, LogsDest, LogsSpecs, Std, to_map
from mindtorch.distributed.elastic.multiprocessing.redirects import redirect_stderr, redirect_stdout
from mindtorch.distributed.elastic.multiprocessing.tail_log import TailLog
from mindtorch.distributed.elastic.utils.logging import get_logger

__all__ = [
    "DefaultLogsSpecs",
    "LogsDest",
    "LogsSpecs",
    "MultiprocessContext",
    "PContext",
    "RunProcsResult",
    "SignalException",
    "Std",
    "SubprocessContext",
    "to_map",
]

_logger = get_logger(__name__)


class SignalException(Exception):
    """A signal asked the launcher to end."""

    def __init__(self, msg: str, sigval: signal.Signals) -> None:
        super().__init__(msg)
        self.sigval = sigval


def _terminate_process_handler(signum: int, frame: FrameType | None) -> None:
    sigval = signal.Signals(signum)
    raise SignalException(f"Process {os.getpid()} got signal: {sigval}", sigval=sigval)


def handle_signals(names: str) -> None:
    """Make `SignalException` of these signals, in the main thread; elsewhere Python does not allow it."""
    if threading.current_thread() is not threading.main_thread():
        _logger.warning("Failed to register signal handlers since torchelastic is running on a child thread.")
        return
    for name in filter(None, (part.strip() for part in names.split(","))):
        known = getattr(signal, name, None)
        if known is None:
            _logger.warning("Signal %s is not supported on the current platform, skipping", name)
        else:
            signal.signal(known, _terminate_process_handler)


@dataclass
class RunProcsResult:
    """How all workers ended."""

    return_values: dict[int, Any] = field(default_factory=dict)
    failures: dict[int, ProcessFailure] = field(default_factory=dict)
    stdouts: dict[int, str] = field(default_factory=dict)
    stderrs: dict[int, str] = field(default_factory=dict)

    def is_failed(self) -> bool:
        """Return whether a worker failed."""
        return bool(self.failures)


class PContext(ABC):
    """The workers of one attempt, and the threads that show their files on the console."""

    def __init__(
        self,
        name: str,
        entrypoint: Any,
        args: dict[int, tuple[Any, ...]],
        envs: dict[int, dict[str, str]],
        logs_specs: LogsSpecs,
        log_line_prefixes: dict[int, str] | None = None,
        duplicate_stdout_filters: list[str] | None = None,
        duplicate_stderr_filters: list[str] | None = None,
    ) -> None:
        if set(args) != set(envs) or set(args) != set(range(len(args))):
            raise RuntimeError(f"args and envs must hold local ranks 0 to {len(args) - 1}")
        logs = logs_specs.reify(envs)
        self.name, self.entrypoint, self.args, self.envs = name, entrypoint, args, envs
        self.stdouts, self.stderrs, self.error_files = logs.stdouts, logs.stderrs, logs.error_files
        self.nprocs = len(envs)
        self._failures: dict[int, ProcessFailure] = {}
        self._tails = [
            TailLog(name, logs.tee_stdouts, sys.stdout, log_line_prefixes),
            TailLog(name, logs.tee_stderrs, sys.stderr, log_line_prefixes),
        ]
        for filters, files, target in (
            (duplicate_stdout_filters, logs.tee_stdouts, logs.filtered_stdout),
            (duplicate_stderr_filters, logs.tee_stderrs, logs.filtered_stderr),
        ):
            if filters and files:
                self._tails.append(TailLog(name, files, target, log_line_prefixes, log_line_filter=_any_of(filters)))

    def start(self) -> None:
        """Start the workers."""
        handle_signals(os.environ.get("TORCHELASTIC_SIGNALS_TO_HANDLE", "SIGTERM,SIGINT,SIGHUP,SIGQUIT"))
        self._start()
        for tail in self._tails:
            tail.start()

    def wait(self, timeout: float = -1, period: float = 1) -> RunProcsResult | None:
        """Wait until all have ended or one failed; None after `timeout` seconds (0 looks once)."""
        if timeout == 0:
            return self._poll()
        until = sys.maxsize if timeout < 0 else time.monotonic() + timeout
        while time.monotonic() < until:
            result = self._poll()
            if result:
                return result
            time.sleep(period)
        return None

    def close(self, death_sig: signal.Signals | None = None, timeout: int = 30) -> None:
        """End all workers and show the rest of their output."""
        self._close(death_sig or signal.SIGTERM, timeout)
        for tail in self._tails:
            tail.stop()

    @abstractmethod
    def _start(self) -> None: ...

    @abstractmethod
    def _poll(self) -> RunProcsResult | None: ...

    @abstractmethod
    def pids(self) -> dict[int, int]:
        """Return the process ids by local rank."""

    @abstractmethod
    def _close(self, death_sig: signal.Signals, timeout: int) -> None: ...

    def _failed(self, rank: int, pid: int, exitcode: int) -> None:
        self._failures.setdefault(rank, ProcessFailure(rank, pid, exitcode, self.error_files[rank]))

    def _result(self) -> RunProcsResult:
        result = RunProcsResult(failures=self._failures, stdouts=self.stdouts, stderrs=self.stderrs)
        if result.is_failed():
            first = min(self._failures.values(), key=lambda failure: failure.timestamp)
            _logger.error(
                "failed (exitcode: %s) local_rank: %s (pid: %s) of binary: %s",
                first.exitcode,
                first.local_rank,
                first.pid,
                getattr(self.entrypoint, "__qualname__", self.entrypoint),
            )
        return result


def _any_of(filters: list[str]) -> Callable[[str], bool]:
    return lambda line: any(part in line for part in filters)


class SubprocessContext(PContext):
    """Workers that are programs."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._running: dict[int, subprocess.Popen[bytes]] = {}
        self._started: dict[int, subprocess.Popen[bytes]] = {}

    def _start(self) -> None:
        for rank in range(self.nprocs):
            with ExitStack() as files:
                streams: list[TextIO | None] = [
                    files.enter_context(open(name, "w")) if name else None
                    for name in (self.stdouts[rank], self.stderrs[rank])
                ]
                self._started[rank] = subprocess.Popen(
                    [self.entrypoint, *map(str, self.args[rank])],
                    env={**os.environ, **self.envs[rank]},
                    stdout=streams[0],
                    stderr=streams[1],
                    start_new_session=True,  # Ctrl-C reaches the launcher alone, which then ends the workers
                )
        self._running = dict(self._started)

    def _capture(self) -> None:
        for rank, process in list(self._running.items()):
            code = process.poll()
            if code is not None:
                del self._running[rank]
                if code != 0:
                    self._failed(rank, process.pid, code)

    def _poll(self) -> RunProcsResult | None:
        self._capture()
        if self._running and not self._failures:
            return None
        self.close()
        self._capture()
        result = self._result()
        if not result.is_failed():
            result.return_values = dict.fromkeys(range(self.nprocs))
        return result

    def pids(self) -> dict[int, int]:
        """Return the process ids by local rank."""
        return {rank: process.pid for rank, process in self._started.items()}

    def _close(self, death_sig: signal.Signals, timeout: int) -> None:
        alive = [process for process in self._started.values() if process.poll() is None]
        for process in alive:
            _logger.warning("Sending process %s closing signal %s", process.pid, death_sig.name)
            _signal_group(process, death_sig)
        deadline = time.monotonic() + timeout
        for process in alive:
            try:
                process.wait(max(0.0, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                _logger.warning(
                    "Unable to shutdown process %s via %s, forcefully exiting via %s",
                    process.pid,
                    death_sig.name,
                    signal.SIGKILL.name,
                )
                _signal_group(process, signal.SIGKILL)
                process.wait(timeout)


def _signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Signal a worker with the processes it started, of which it is the leader."""
    try:
        os.killpg(process.pid, number)
    except ProcessLookupError:  # it ended meanwhile
        process.poll()


class MultiprocessContext(PContext):
    """Workers that are functions."""

    def __init__(self, *args: Any, start_method: str = "spawn", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        context: Any = multiprocessing.get_context(start_method)
        self.start_method = start_method
        self._queues = {rank: context.SimpleQueue() for rank in range(self.nprocs)}
        self._values: dict[int, Any] = {}
        self._context: Any = None

    def _start(self) -> None:
        self._context = mp.start_processes(
            _call,
            (self.entrypoint, self.args, self.envs, self.stdouts, self.stderrs, self._queues),
            self.nprocs,
            join=False,
            daemon=False,
            start_method=self.start_method,
        )

    def _poll(self) -> RunProcsResult | None:
        for rank, queue in self._queues.items():  # a full pipe would keep its worker from ending
            if rank not in self._values and not queue.empty():
                self._values[rank] = queue.get()
        try:
            ended = self._context.join(-1) if self._context is not None else True
        except (mp.ProcessRaisedException, mp.ProcessExitedException) as error:
            process = self._context.processes[error.error_index]
            self._failed(error.error_index, process.pid, process.exitcode)
            self.close()
            return self._result()
        if not ended:
            return None
        for rank, queue in self._queues.items():
            if rank not in self._values and not queue.empty():
                self._values[rank] = queue.get()
        self.close()
        result = self._result()
        result.return_values = dict(self._values)
        return result

    def pids(self) -> dict[int, int]:
        """Return the process ids by local rank."""
        return dict(enumerate(self._context.pids()))

    def _close(self, death_sig: signal.Signals, timeout: int) -> None:
        alive = [process for process in (self._context.processes if self._context else ()) if process.is_alive()]
        for process in alive:
            _logger.warning("Closing process %s via signal %s", process.pid, death_sig.name)
            os.kill(process.pid, death_sig)
        deadline = time.monotonic() + timeout
        for process in alive:
            process.join(max(0.0, deadline - time.monotonic()))
            if process.is_alive():
                process.kill()
                process.join(timeout)


def _call(
    local_rank: int,
    entrypoint: Callable[..., Any],
    args: dict[int, tuple[Any, ...]],
    envs: dict[int, dict[str, str]],
    stdouts: dict[int, str],
    stderrs: dict[int, str],
    queues: dict[int, Any],
) -> None:
    """Run a function as a worker."""
    os.environ.update(envs[local_rank])
    with ExitStack() as streams:
        redirected: Iterable[Any] = ((redirect_stdout, stdouts), (redirect_stderr, stderrs))
        for redirected_to, files in redirected:
            if files[local_rank]:
                streams.enter_context(redirected_to(files[local_rank]))
        queues[local_rank].put(record(entrypoint)(*args[local_rank]))


adopt(globals())
_call.__module__ = __name__  # children find it by its real module

"""Starting a group of processes that live and fail together."""

from __future__ import annotations

import ctypes
import logging
import multiprocessing
import multiprocessing.connection
import os
import pickle
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from mindtorch._naming import adopt
from mindtorch.multiprocessing._parcel import Parcel

__all__ = [
    "ProcessContext",
    "ProcessException",
    "ProcessExitedException",
    "ProcessRaisedException",
    "SpawnContext",
    "spawn",
    "start_processes",
]

ENV_VAR_PARALLEL_START = "TORCH_MP_PARALLEL_START"
"""Where this variable is 1, a server that forks is asked for all processes at once."""

log = logging.getLogger(__name__)
_GRACE_SECONDS = 30


class ProcessException(Exception):
    """One process of a group ended badly."""

    __slots__ = ["error_index", "error_pid"]

    def __init__(self, msg: str, error_index: int, error_pid: int) -> None:
        super().__init__(msg)
        self.msg = msg
        self.error_index = error_index
        self.error_pid = error_pid

    @property
    def pid(self) -> int:
        """The id of the process."""
        return self.error_pid

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.msg, self.error_index, self.pid)


class ProcessRaisedException(ProcessException):
    """A process raised; the message holds its traceback.

    >>> from torch.multiprocessing import ProcessRaisedException
    >>> str(ProcessRaisedException("it raised", 0, 4321))
    'it raised'
    """

    def __init__(self, msg: str, error_index: int, error_pid: int) -> None:
        super().__init__(msg, error_index, error_pid)


class ProcessExitedException(ProcessException):
    """A process ended by a signal or with an exit code.

    >>> from torch.multiprocessing import ProcessExitedException
    >>> error = ProcessExitedException("it ended", 1, 4321, exit_code=3)
    >>> error.exit_code, error.error_pid
    (3, 4321)
    """

    __slots__ = ["exit_code"]

    def __init__(
        self, msg: str, error_index: int, error_pid: int, exit_code: int, signal_name: str | None = None
    ) -> None:
        super().__init__(msg, error_index, error_pid)
        self.exit_code = exit_code
        self.signal_name = signal_name

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.msg, self.error_index, self.pid, self.exit_code, self.signal_name)


def _child(job: Parcel, index: int, error_file: str, parent: int) -> None:
    """Run the function; what it raises goes to a file, which the parent reads."""
    _die_with_parent(parent)
    function, args = job.value
    try:
        function(index, *args)
    except KeyboardInterrupt:
        return  # the parent got it too and says so
    except Exception as error:  # noqa: BLE001 - reported in full by the parent
        with open(error_file, "wb") as stream:
            pickle.dump("".join(traceback.format_exception(error)), stream)
        sys.exit(1)


def _die_with_parent(parent: int) -> None:
    """Be interrupted when the parent dies, where the system offers that."""
    if not sys.platform.startswith("linux"):
        return
    ctypes.CDLL(None).prctl(1, signal.SIGINT)
    if os.getppid() != parent:  # it died before the request
        os.kill(os.getpid(), signal.SIGINT)


class ProcessContext:
    """A running group of processes.

    >>> torch.multiprocessing.ProcessContext([], []).join()
    True
    """

    def __init__(self, processes: list[Any], error_files: list[str]) -> None:
        self.error_files = error_files
        self.processes = processes
        self.sentinels = {process.sentinel: index for index, process in enumerate(processes)}

    def pids(self) -> list[int]:
        """The ids of the processes."""
        return [process.pid for process in self.processes]

    def _join_procs_with_timeout(self, timeout: float) -> None:
        deadline = time.monotonic() + timeout
        for process in self.processes:
            process.join(max(0, deadline - time.monotonic()))

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Wait for one more process to end; True when all have ended well.

        When one failed the others are terminated, killed after `grace_period`, and its error is raised.
        """
        if not self.sentinels:
            return True
        ready = multiprocessing.connection.wait(self.sentinels.keys(), timeout)
        failed = None
        for sentinel in ready:
            index = self.sentinels.pop(sentinel)  # type: ignore[call-overload]
            process = self.processes[index]
            process.join()
            if process.exitcode != 0:
                failed = index
                break
        if failed is None:
            return not self.sentinels
        self._stop_others(grace_period)
        raise self._error_of(failed)

    def _stop_others(self, grace_period: float | None) -> None:
        if grace_period is not None:
            self._join_procs_with_timeout(grace_period)
        for process in self.processes:
            if process.is_alive():
                log.warning("Terminating process %s via signal SIGTERM", process.pid)
                process.terminate()
        self._join_procs_with_timeout(_GRACE_SECONDS if grace_period is None else grace_period)
        for process in self.processes:
            if process.is_alive():
                log.warning("Unable to shutdown process %s via SIGTERM , forcefully exiting via SIGKILL", process.pid)
                process.kill()
            process.join()

    def _error_of(self, index: int) -> ProcessException:
        process, error_file = self.processes[index], self.error_files[index]
        if os.path.exists(error_file) and os.path.getsize(error_file):
            with open(error_file, "rb") as stream:
                text = pickle.load(stream)
            os.unlink(error_file)
            return ProcessRaisedException(
                f"\n\n-- Process {index} terminated with the following error:\n{text}", index, process.pid
            )
        code = process.exitcode
        if code >= 0:
            return ProcessExitedException(f"process {index} terminated with exit code {code}", index, process.pid, code)
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"<Unknown signal {-code}>"
        return ProcessExitedException(
            f"process {index} terminated with signal {name}", index, process.pid, code, signal_name=name
        )


class SpawnContext(ProcessContext):
    """A group of spawned processes.

    >>> torch.multiprocessing.SpawnContext([], []).pids()
    []
    """


def start_processes(
    fn: Callable[..., Any],
    args: Any = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """Call `fn(i, *args)` in `nprocs` new processes; with `join` wait for all, else return their context."""
    context: Any = multiprocessing.get_context(start_method)

    def started(index: int) -> tuple[Any, str]:
        descriptor, error_file = tempfile.mkstemp(prefix="pytorch-errorfile-", suffix=".pickle")
        os.close(descriptor)
        os.unlink(error_file)  # the name only: it exists again when there is an error to tell
        process = context.Process(
            target=_child, args=(Parcel((fn, args)), index, error_file, os.getpid()), daemon=daemon
        )
        process.start()
        return process, error_file

    at_once = start_method == "forkserver" and os.environ.get(ENV_VAR_PARALLEL_START, "0") == "1"
    with ThreadPoolExecutor(nprocs if at_once and nprocs else 1) as threads:
        made = list(threads.map(started, range(nprocs))) if at_once else [started(index) for index in range(nprocs)]
    group = ProcessContext([process for process, _ in made], [error_file for _, error_file in made])
    if not join:
        return group
    while not group.join():
        pass
    return None


def spawn(
    fn: Callable[..., Any],
    args: Any = (),
    nprocs: int = 1,
    join: bool = True,
    daemon: bool = False,
    start_method: str = "spawn",
) -> ProcessContext | None:
    """`start_processes` by spawning."""
    if start_method != "spawn":
        warnings.warn(
            "This method only supports start_method=spawn (got: "
            f"{start_method}).\nTo use a different start_method use:\n\t\t torch.multiprocessing.start_processes(...)",
            FutureWarning,
            stacklevel=2,
        )
    return start_processes(fn, args, nprocs, join, daemon, start_method="spawn")


adopt(globals())
# Children find their entry by its real module.
_child.__module__ = __name__

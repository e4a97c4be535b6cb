"""What MPI does inside of its library until all processes have come, with an end when one of them never does."""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from mindtorch_distributed.errors import DistBackendError
from mindtorch_distributed.peers import Peer

_SHARED = Path("/dev/shm")
_LOOK = 0.1
"""Seconds between two looks at the other processes."""


def attend(step: Callable[[], Any], peers: Sequence[Peer], timeout: timedelta, what: str,
           lost: Callable[[], bool] = lambda: False) -> Any:  # fmt: skip
    """Carry out a step that waits for `peers`, and return its result. DistBackendError when it cannot end or is late.

    MPI's library takes no time limit, and its thread stays inside when others are gone. It ends with the process.
    """
    results: list[Any] = []
    errors: list[BaseException] = []
    done = threading.Event()

    def run() -> None:
        try:
            results.append(step())
        except BaseException as error:  # noqa: BLE001 - the caller's thread raises it
            errors.append(error)
        done.set()

    started = time.time()
    end = time.monotonic() + timeout.total_seconds()
    threading.Thread(target=run, name="mpi-join", daemon=True).start()
    while not done.wait(min(_LOOK, max(end - time.monotonic(), 0.001))):
        ended = [rank for rank, peer in enumerate(peers) if peer.has_ended()]
        late = time.monotonic() >= end
        if (ended or late or lost()) and not done.wait(_LOOK):
            _clean(started)
            atexit.register(_clean, started)
            raise DistBackendError(_reason(ended, late, what, timeout))
    if errors:
        raise errors[0]
    return results[0]


def _reason(ended: list[int], late: bool, what: str, timeout: timedelta) -> str:
    if ended:
        return f"Connection closed by peer: rank {', '.join(map(str, ended))} of the group ended while others waited for {what}"
    if late:
        return f"Timed out waiting {int(timeout.total_seconds() * 1000)}ms for {what}"
    return f"Connection closed by peer: a rank of the group ended while others waited for {what}"


def _clean(since: float) -> None:
    """Remove the shared memory of a world that did not come to be: this process's, and what a process that ended left."""
    forget_shared_memory()
    made = [file for file in _SHARED.glob("mpich_shm_*") if _is_own(file, since)]
    used = _in_use() if made else set()
    for file in made:
        if str(file) not in used:
            file.unlink(missing_ok=True)


def _is_own(file: Path, since: float) -> bool:
    try:
        status = file.stat()
    except FileNotFoundError:
        return False
    return status.st_uid == os.getuid() and status.st_mtime >= since - 60


def _in_use() -> set[str]:
    """The shared memory that processes have open or mapped. A maker has it open until it is mapped, so look in this order."""
    used: set[str] = set()
    for process in Path("/proc").glob("[0-9]*"):
        try:
            used.update(os.readlink(link) for link in (process / "fd").iterdir())
            lines = (process / "maps").read_text().splitlines()
        except OSError:  # it has ended, or is another user's, who owns no file of this one's
            continue
        used.update(f"{_SHARED}/{line.rpartition('/')[2]}" for line in lines if "/mpich_shm_" in line)
    return used


def forget_shared_memory() -> None:
    """Remove the names of MPICH's shared memory: all have it mapped, and a killed process then leaves nothing behind."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        name = line.rpartition("/")[2]
        if name.startswith("mpich_shm_"):
            (_SHARED / name).unlink(missing_ok=True)

"""Processes of this host that others wait for: whether they have ended."""

from __future__ import annotations

import os
import socket
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any


def _started(pid: int) -> int | None:
    """When a process started, in ticks; None when it has ended, waited for by its parent or not."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:  # there is no such process, or no such file system
        return None
    return None if fields[0] in "ZX" else int(fields[19])


@dataclass(frozen=True)
class Peer:
    """One process."""

    host: str
    pid: int
    started: int | None

    def has_ended(self) -> bool:
        """Return whether it has ended, as far as this host can tell."""
        return self.started is not None and self.host == socket.gethostname() and _started(self.pid) != self.started


def own() -> dict[str, Any]:
    """What others need to know of this process."""
    return asdict(Peer(socket.gethostname(), os.getpid(), _started(os.getpid())))

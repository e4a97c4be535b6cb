"""What the nodes of a run share while they meet, and what one node knows of a rendezvous."""

from __future__ import annotations

import os
import socket
import threading
from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum
from typing import Any

from mindtorch._naming import adopt

__all__ = ["RendezvousBackend", "RendezvousSettings", "RendezvousTimeout", "Token"]

Token = Any
"""What a backend gives with a state, and wants back with the next: a state that somebody else changed is not replaced."""


class RendezvousBackend(ABC):
    """Where the state of a rendezvous lies."""

    @property
    @abstractmethod
    def name(self) -> str:
        """Return the backend's name."""

    @abstractmethod
    def get_state(self) -> tuple[bytes, Token] | None:
        """Return the state and its token; None where there is no state yet."""

    @abstractmethod
    def set_state(self, state: bytes, token: Token | None = None) -> tuple[bytes, Token, bool] | None:
        """Replace the state that the token belongs to; return what holds now, its token, and whether it was replaced."""


class RendezvousTimeout:
    """How long a node waits: for the others, for more of them, for the end of a run, for a sign of life."""

    _ZERO = timedelta(0)
    _DEFAULT_TIMEOUTS = {
        "join": timedelta(seconds=600),
        "last_call": timedelta(seconds=30),
        "close": timedelta(seconds=30),
        "heartbeat": timedelta(seconds=5),
    }

    def __init__(
        self,
        join: timedelta | None = None,
        last_call: timedelta | None = None,
        close: timedelta | None = None,
        heartbeat: timedelta | None = None,
    ) -> None:
        self._set_timeouts(join=join, last_call=last_call, close=close, heartbeat=heartbeat)

    def _set_timeouts(self, **timeouts: timedelta | None) -> None:
        for name, given in timeouts.items():
            timeout = self._DEFAULT_TIMEOUTS[name] if given is None else given
            if timeout <= self._ZERO:
                raise ValueError(f"The {name} timeout ({timeout}) must be positive.")
            setattr(self, f"_{name}", timeout)

    @property
    def join(self) -> timedelta:
        """Return how long a node waits for the others."""
        return self._join  # type: ignore[attr-defined, no-any-return] # set by name

    @property
    def last_call(self) -> timedelta:
        """Return how long it waits for more when the least number is there."""
        return self._last_call  # type: ignore[attr-defined, no-any-return] # set by name

    @property
    def close(self) -> timedelta:
        """Return how long ending a run may take."""
        return self._close  # type: ignore[attr-defined, no-any-return] # set by name

    @property
    def heartbeat(self) -> timedelta:
        """Return how long a sign of life may take."""
        return self._heartbeat  # type: ignore[attr-defined, no-any-return] # set by name


@dataclass(repr=False, eq=False, frozen=True)
class RendezvousSettings:
    """What all nodes of a run were told."""

    run_id: str
    min_nodes: int
    max_nodes: int
    timeout: RendezvousTimeout
    keep_alive_interval: timedelta
    keep_alive_max_attempt: int


@dataclass(eq=True, order=True, frozen=True)
class _NodeDesc:
    """Names a node: ranks follow the order of names."""

    addr: str
    pid: int
    local_id: int

    def __repr__(self) -> str:
        return f"{self.addr}_{self.pid}_{self.local_id}"


class _NodeDescGenerator:
    """Names the nodes of a process: each has another number."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._local_id = 0

    def generate(self, local_addr: str | None = None) -> _NodeDesc:
        """Return a name that no other node has."""
        with self._lock:
            local_id = self._local_id
            self._local_id += 1
        return _NodeDesc(local_addr or socket.getfqdn(), os.getpid(), local_id)


class _RendezvousState:
    """A round: who takes part in it and as which rank, who waits for the next, and when each was last heard of."""

    def __init__(self) -> None:
        self.round = 0
        self.complete = False
        self.deadline: datetime | None = None
        self.closed = False
        self.participants: dict[_NodeDesc, int] = {}
        self.wait_list: set[_NodeDesc] = set()
        self.redundancy_list: set[_NodeDesc] = set()
        self.last_heartbeats: dict[_NodeDesc, datetime] = {}


class _RendezvousStateHolder(ABC):
    """A node's copy of the state."""

    @property
    @abstractmethod
    def state(self) -> _RendezvousState:
        """Return the copy."""

    @abstractmethod
    def sync(self) -> bool | None:
        """Write the copy if it was changed, else read; return whether it was written, None when it was not to be."""

    @abstractmethod
    def mark_dirty(self) -> None:
        """Note that the copy was changed."""


class _Action(Enum):
    """What a node does next."""

    KEEP_ALIVE = 1
    ADD_TO_PARTICIPANTS = 2
    ADD_TO_WAIT_LIST = 3
    ADD_TO_REDUNDANCY_LIST = 4
    REMOVE_FROM_PARTICIPANTS = 5
    REMOVE_FROM_WAIT_LIST = 6
    REMOVE_FROM_REDUNDANCY_LIST = 7
    MARK_RENDEZVOUS_COMPLETE = 8
    MARK_RENDEZVOUS_CLOSED = 9
    SYNC = 10
    ERROR_CLOSED = 11
    ERROR_TIMEOUT = 12
    FINISH = 13


class _RendezvousContext:
    """What a node decides by."""

    def __init__(self, node: _NodeDesc, state: _RendezvousState, settings: RendezvousSettings) -> None:
        self.node = node
        self.state = state
        self.settings = settings


def _remove_participant_epilogue(state: _RendezvousState, settings: RendezvousSettings) -> None:
    """Begin the next round when all have left a complete one; call for no more nodes when too few are left."""
    if state.complete:
        if not state.participants:
            state.complete = False
            state.round += 1
    elif len(state.participants) < settings.min_nodes:
        state.deadline = None


adopt(globals(), "torch.distributed.elastic.rendezvous.dynamic_rendezvous")

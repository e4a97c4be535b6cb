"""Nodes that meet over a TCPStore, in rounds: some may come later, and every restart is a round.

Keys below `torch.rendezvous.<run id>`: `round` counts the rounds that are complete. In round `r` every node takes a place
by adding to `<r>/joined`; the first one declares the round complete when all that may come have come, or when the least
number is there and nobody came for a while, and writes `<r>/nodes`. A node that finds the round complete waits for the
next, and says so in `<r>/late`.
"""

from __future__ import annotations

import datetime
import time
from typing import Any

from mindtorch._naming import adopt
from mindtorch.distributed import DistError, PrefixStore, TCPStore
from mindtorch.distributed.elastic.rendezvous.api import (
    RendezvousClosedError,
    RendezvousConnectionError,
    RendezvousHandler,
    RendezvousInfo,
    RendezvousParameters,
    RendezvousStoreInfo,
    RendezvousTimeoutError,
)
from mindtorch.distributed.elastic.rendezvous.utils import is_local, parse_rendezvous_endpoint

__all__ = ["C10dRendezvousHandler", "create_handler"]

_DEFAULT_PORT = 29400
_LAST_CALL_SECONDS = 30.0
_JOIN_SECONDS = 600.0
_POLL_SECONDS = 0.05


class C10dRendezvousHandler(RendezvousHandler):
    """One node's side."""

    def __init__(self, store: TCPStore, address: str, params: RendezvousParameters) -> None:
        self._tcp = store
        self._address = address
        self._params = params
        self._keys = PrefixStore(f"torch.rendezvous.{params.run_id}", store)
        self._round: int | None = None
        self._size = 0
        self._join_seconds = float(params.get("join_timeout", params.get("timeout", _JOIN_SECONDS)))
        self._last_call = float(params.get("last_call_timeout", _LAST_CALL_SECONDS))

    def get_backend(self) -> str:
        """Return `c10d`."""
        return "c10d"

    @property
    def use_agent_store(self) -> bool:
        """Workers use the store over which the nodes met."""
        return True

    def next_rendezvous(self) -> RendezvousInfo:
        """Take a place in the next round and wait until it is complete."""
        deadline = time.monotonic() + self._join_seconds
        number = self._next_round()
        while True:
            if self.is_closed():
                raise RendezvousClosedError
            place = self._keys.add(f"{number}/joined", 1)
            size = self._complete(number, place, deadline)
            if place <= size:
                break
            self._keys.add(f"{number}/late", 1)
            number = self._wait_for_round_after(number, size, deadline)
        self._round, self._size = number, size
        return RendezvousInfo(
            PrefixStore(f"{number}", self._keys),
            place - 1,
            size,
            RendezvousStoreInfo(self._address, self._tcp.port),
        )

    def _next_round(self) -> int:
        return self._keys.add("round", 0) if self._round is None else self._round + 1

    def _complete(self, number: int, place: int, deadline: float) -> int:
        """Return the number of nodes of a round once it is known; the first node decides it."""
        seen, since = 0, time.monotonic()
        while time.monotonic() < deadline:
            if self._keys.check([f"{number}/nodes"]):
                return int(self._keys.get(f"{number}/nodes"))
            if place == 1:
                joined = min(self._keys.add(f"{number}/joined", 0), self._params.max_nodes)
                if joined != seen:
                    seen, since = joined, time.monotonic()
                waited = time.monotonic() - since >= self._last_call
                if joined == self._params.max_nodes or (joined >= self._params.min_nodes and waited):
                    self._keys.set(f"{number}/nodes", str(joined))
                    self._keys.add("round", 1)
                    return joined
            time.sleep(_POLL_SECONDS)
        raise RendezvousTimeoutError

    def _wait_for_round_after(self, number: int, size: int, deadline: float) -> int:
        """Return the next round once its nodes gather; where there is room they do so because this node waits."""
        while time.monotonic() < deadline:
            if self._keys.add(f"{number + 1}/joined", 0) > 0 or size < self._params.max_nodes:
                return number + 1
            time.sleep(_POLL_SECONDS)
        raise RendezvousTimeoutError

    def is_closed(self) -> bool:
        """Return whether a node ended the run."""
        return bool(self._keys.check(["closed"]))

    def set_closed(self) -> None:
        """End the run for all nodes."""
        self._keys.set("closed", "1")

    def num_nodes_waiting(self) -> int:
        """Return how many nodes are in the next round already, or wait for it."""
        if self._round is None:
            return 0
        restarting = self._keys.add(f"{self._round + 1}/joined", 0)
        late = self._keys.add(f"{self._round}/late", 0) if self._size < self._params.max_nodes else 0
        return max(restarting, late)

    def get_run_id(self) -> str:
        """Return the run's name."""
        return self._params.run_id

    def shutdown(self) -> bool:
        """End the run; False when the store is gone."""
        try:
            self.set_closed()
        except (DistError, OSError):  # the node that held the store ended first
            return False
        return True


def create_handler(params: RendezvousParameters) -> RendezvousHandler:
    """Make a handler: this node holds the store if the endpoint is its own and free, else it connects."""
    host, port = parse_rendezvous_endpoint(params.endpoint, _DEFAULT_PORT)
    asked = params.get_as_bool("is_host")
    local = is_local(host) if asked is None else asked
    timeout = datetime.timedelta(seconds=float(params.get("read_timeout", 60)))
    errors: list[Exception] = []
    for as_host in (True, False) if local and asked is None else (local,):
        try:
            store: Any = TCPStore(
                host, port, is_master=as_host, timeout=timeout, wait_for_workers=False, multi_tenant=True
            )
        except (OSError, RuntimeError, ValueError, TimeoutError) as error:  # another agent of this host has it already
            errors.append(error)
        else:
            return C10dRendezvousHandler(store, host, params)
    raise RendezvousConnectionError(
        "The connection to the C10d store has failed. See inner exception for details."
    ) from errors[-1]


adopt(globals())

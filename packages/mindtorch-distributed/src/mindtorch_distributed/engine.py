"""What an engine offers: collectives over flat arrays that are started and waited for.

Arrays are one-dimensional and contiguous. An engine moves bytes and reduces numbers; shapes are its callers' concern.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

Array = np.ndarray[Any, Any]

SUM, PRODUCT, MIN, MAX, BAND, BOR, BXOR = REDUCTIONS = ("sum", "product", "min", "max", "band", "bor", "bxor")

SPIN = 0.02
"""Seconds in which a wait only gives the processor to others; after it, it sleeps between two looks."""
NAP = 0.0001
LOOK = 0.5
"""Seconds between two looks at the processes that are waited for."""
PROCESSORS = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Request(Protocol):
    """An operation that was started."""

    def test(self) -> bool:
        """Return whether it is done, and bring it forward."""

    def finish(self) -> None:
        """Return when it is done, without holding Python's lock."""

    def source(self) -> int:
        """The rank that a message came from."""


class Done:
    """An operation that was done at once."""

    def __init__(self, source: int = -1) -> None:
        self._source = source

    def test(self) -> bool:
        """Return True."""
        return True

    def finish(self) -> None:
        """Return at once."""

    def source(self) -> int:
        """The rank that a message came from."""
        return self._source


class Communicator(Protocol):
    """A set of processes, each with a rank, and what they can do together."""

    rank: int
    size: int

    def all_reduce(self, array: Array, reduction: str) -> Request:
        """Reduce the arrays of all, in place."""

    def reduce(self, array: Array, reduction: str, root: int) -> Request:
        """Reduce the arrays of all into the root's."""

    def broadcast(self, array: Array, root: int) -> Request:
        """Copy the root's array to all."""

    def all_gather(self, output: Array, array: Array) -> Request:
        """Put the arrays of all behind one another, everywhere."""

    def gather(self, output: Array | None, array: Array, root: int) -> Request:
        """Put the arrays of all behind one another at the root."""

    def scatter(self, output: Array, array: Array | None, root: int) -> Request:
        """Give each rank its part of the root's array."""

    def reduce_scatter(self, output: Array, array: Array, reduction: str) -> Request:
        """Reduce the arrays of all, and give each rank its part."""

    def all_to_all(self, output: Array, received: Sequence[int], array: Array, sent: Sequence[int]) -> Request:
        """Send a part of the array to each rank; `received` and `sent` count elements."""

    def barrier(self) -> Request:
        """Done when all are here."""

    def send(self, array: Array, rank: int, tag: int) -> Request:
        """Send to a rank."""

    def receive(self, array: Array, rank: int | None, tag: int) -> Request:
        """Receive from a rank, or from any."""

    def ended(self) -> list[int]:
        """The ranks whose processes have ended, as far as is known."""

    def free(self) -> None:
        """Give back what the engine keeps for it."""


class PeerEndedError(Exception):
    """A process that is waited for has ended."""

    def __init__(self, ranks: list[int]) -> None:
        super().__init__(ranks)
        self.ranks = ranks


def wait_until(request: Request, seconds: float, peers: Communicator | None = None) -> bool:
    """Look at a request until it is done; return whether it was in time. PeerEndedError when nobody can end it."""
    if request.test():
        return True
    start = time.monotonic()
    spin = SPIN if peers is None or peers.size <= PROCESSORS else 0.0
    look = start + LOOK
    while not request.test():
        now = time.monotonic()
        if now - start > seconds:
            return False
        if now - start < spin:
            os.sched_yield()
            continue
        time.sleep(NAP)
        if peers is not None and now > look:
            look = now + LOOK
            check_peers(request, peers)
    return True


def check_peers(request: Request, peers: Communicator) -> None:
    """Raise PeerEndedError when a process has ended and what it sent before does not end the request."""
    ranks = peers.ended()
    if not ranks:
        return
    end = time.monotonic() + LOOK
    while time.monotonic() < end:
        if request.test():
            return
        time.sleep(NAP)
    raise PeerEndedError(ranks)

"""Accesses of the same bytes from two streams that nothing puts in order.

Order comes from a stream itself, from events that one records and another waits for, and from the host waiting for a
stream before it enqueues more. Every stream has a clock: how far it knows each stream to have come, counted in tasks.
Everything is judged when it is enqueued, so that the answer does not depend on who happens to be faster.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass

Clock = dict[int, int]
HOST = 0
"""The host as a stream: its synchronous copies."""


@dataclass(frozen=True)
class Access:
    """Bytes that a task reads or writes, and which task of which stream it is."""

    start: int
    end: int
    stream: int
    tick: int
    writes: bool
    name: str

    def meets(self, start: int, end: int, writes: bool) -> bool:
        """Return whether these bytes are among them and the order matters."""
        return self.start < end and start < self.end and (self.writes or writes)


def merge(clock: Clock, other: Clock) -> None:
    """Let a clock know what another knows."""
    for stream, tick in other.items():
        if clock.get(stream, 0) < tick:
            clock[stream] = tick


class Races:
    """What has been enqueued, and what of it met without order."""

    def __init__(self) -> None:
        self.found: list[str] = []
        self.host: Clock = {}
        self._clocks: dict[int, Clock] = {}
        self._accesses: list[Access] = []
        self._lock = threading.Lock()

    def enqueue(self, stream: int, name: str, ranges: Iterable[tuple[int, int, bool]]) -> str | None:
        """Note a task of a stream with the bytes it reads and writes; return the race that it makes, if it makes one."""
        with self._lock:
            clock = self._clocks.setdefault(stream, {}) if stream != HOST else self.host
            merge(clock, self.host)
            clock[stream] = clock.get(stream, 0) + 1
            raced = None
            for start, end, writes in ranges:
                raced = self._meets(clock, stream, start, end, writes, name) or raced
                self._note(Access(start, end, stream, clock[stream], writes, name))
            if raced is not None:
                self.found.append(raced)
            return raced

    def _meets(self, clock: Clock, stream: int, start: int, end: int, writes: bool, name: str) -> str | None:
        for other in self._accesses:
            if other.meets(start, end, writes) and clock.get(other.stream, 0) < other.tick:
                verb, before = ("writes" if writes else "reads"), ("writes" if other.writes else "reads")
                where = f"{max(start, other.start):#x}, {min(end, other.end) - max(start, other.start)} bytes"
                ours, theirs = (f"stream {s}" if s != HOST else "the host" for s in (stream, other.stream))
                return (
                    f"race: {name} on {ours} {verb} what {other.name} on {theirs} {before} ({where}), and no event "
                    "puts them in order"
                )
        return None

    def _note(self, made: Access) -> None:
        # What is written over entirely by a later task need not be looked at again: who comes after that one, comes after.
        self._accesses = [
            one
            for one in self._accesses
            if not (
                made.start <= one.start
                and one.end <= made.end
                and (made.writes or (one.stream == made.stream and not one.writes))
            )
        ]
        self._accesses.append(made)

    def recorded(self, stream: int) -> Clock:
        """Return what an event that a stream records now will tell those who wait for it."""
        with self._lock:
            clock = self._clocks.setdefault(stream, {})
            merge(clock, self.host)
            return dict(clock)

    def waits(self, stream: int, recording: Clock) -> None:
        """A stream waits for an event's recording."""
        with self._lock:
            merge(self._clocks.setdefault(stream, {}), recording)

    def host_waits(self, recording: Clock) -> None:
        """The host has waited for an event, or seen that it is passed."""
        with self._lock:
            merge(self.host, recording)

    def host_waited_for(self, stream: int) -> None:
        """The host has waited for all that a stream has to do, or seen that it is done."""
        with self._lock:
            merge(self.host, self._clocks.get(stream, {}))

    def forget(self, start: int, end: int) -> None:
        """These bytes went back to the device."""
        with self._lock:
            self._accesses = [one for one in self._accesses if one.end <= start or end <= one.start]

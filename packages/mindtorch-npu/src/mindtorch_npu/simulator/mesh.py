"""Ranks of a simulated communicator, each a process: how they meet, and messages between every two of them.

The root listens at a port; who has come with all others is told where each of them listens. Everything that arrives is
read at once by a thread, so that a sender never waits for a receiver.
"""

from __future__ import annotations

import json
import os
import queue
import socket
import struct
import threading
import time
from collections import defaultdict
from typing import Any

PARAMETER, TIMEOUT, REMOTE = 1, 9, 21
HEADER = struct.Struct("!qq")
LOOPBACK = "127.0.0.1"


class MeetingError(Exception):
    """The ranks did not become a communicator; `code` is the library's."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code


def patience() -> float:
    """Seconds in which all ranks have to come."""
    return float(os.environ.get("HCCL_CONNECT_TIMEOUT", "120"))


def open_meeting() -> str:
    """Listen in a thread for the ranks of one communicator, and return where."""
    listener = socket.create_server((LOOPBACK, 0))
    listener.settimeout(patience())
    threading.Thread(target=_host, args=(listener,), name="hccl-root", daemon=True).start()
    return json.dumps(listener.getsockname()[:2])


def _host(listener: socket.socket) -> None:
    lines: dict[int, Any] = {}
    members: dict[int, dict[str, Any]] = {}
    with listener:
        try:
            while not members or len(members) < next(iter(members.values()))["size"]:
                connection, _ = listener.accept()
                line = connection.makefile("rw", newline="\n")
                member = json.loads(line.readline())
                members[member["rank"]], lines[member["rank"]] = member, line
            answer = {"members": [members[rank] for rank in sorted(members)], "problem": _problem(members)}
        except (OSError, ValueError) as error:  # who waits for the answer sees the end of the connection
            answer = {"problem": f"not all ranks came: {error}"}
        for line in lines.values():
            line.write(json.dumps(answer) + "\n")
            line.close()


def _problem(members: dict[int, dict[str, Any]]) -> str:
    """What the ranks do not agree on, or a device that two of them use."""
    if len({member["size"] for member in members.values()}) > 1 or sorted(members) != list(range(len(members))):
        return "the ranks do not agree how many they are"
    devices: dict[int, int] = {}
    for rank, member in sorted(members.items()):
        other = devices.setdefault(member["device"], rank)
        if other != rank:
            return f"ranks {other} and {rank} use device {member['device']} both"
    return ""


class Mesh:
    """A connection from this rank to every other."""

    def __init__(self, place: str, rank: int, size: int, device: int) -> None:
        self.rank, self.size = rank, size
        self._boxes: dict[tuple[int, int], queue.SimpleQueue[bytes | None]] = defaultdict(queue.SimpleQueue)
        self._ended: set[int] = set()
        self._lock = threading.Lock()
        listener = socket.create_server((LOOPBACK, 0), backlog=size)
        end = time.monotonic() + patience()
        with listener:
            addresses = self._meet(place, listener.getsockname()[1], device)
            self._connections = self._connect(listener, addresses, end)
        for peer, connection in self._connections.items():
            threading.Thread(target=self._read, args=(peer, connection), name=f"hccl-{peer}", daemon=True).start()

    def _meet(self, place: str, port: int, device: int) -> list[int]:
        host, root = json.loads(place)
        me = {"rank": self.rank, "size": self.size, "port": port, "device": device}
        try:
            connection = socket.create_connection((host, root), patience())
            with connection, connection.makefile("rw", newline="\n") as line:
                line.write(json.dumps(me) + "\n")
                line.flush()
                answer = json.loads(line.readline())
        except (OSError, ValueError) as error:
            raise MeetingError(TIMEOUT, f"the ranks did not meet: {error}") from error
        if answer["problem"]:
            raise MeetingError(PARAMETER, answer["problem"])
        return [member["port"] for member in answer["members"]]

    def _connect(self, listener: socket.socket, ports: list[int], end: float) -> dict[int, socket.socket]:
        """Connect to the ranks below this one, and let those above connect."""
        found: dict[int, socket.socket] = {}
        for peer in range(self.rank):
            found[peer] = socket.create_connection((LOOPBACK, ports[peer]), max(end - time.monotonic(), 0.1))
            found[peer].sendall(HEADER.pack(self.rank, 0))
        listener.settimeout(max(end - time.monotonic(), 0.1))
        while len(found) < self.size - 1:
            connection, _ = listener.accept()
            found[HEADER.unpack(_exactly(connection, HEADER.size))[0]] = connection
        for connection in found.values():
            connection.settimeout(None)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return found

    def _read(self, peer: int, connection: socket.socket) -> None:
        try:
            while True:
                channel, count = HEADER.unpack(_exactly(connection, HEADER.size))
                data = _exactly(connection, count)
                with self._lock:  # a box that is empty may be taken away
                    self._boxes[peer, channel].put(data)
        except OSError:  # the rank has ended, or this one closes: whoever waits for it is told
            with self._lock:
                self._ended.add(peer)
                for (other, _), box in list(self._boxes.items()):
                    if other == peer:
                        box.put(None)

    def send(self, peer: int, channel: int, data: Any) -> None:
        """Send bytes. MeetingError when the rank has ended."""
        view = memoryview(data).cast("B")
        try:
            self._connections[peer].sendall(HEADER.pack(channel, len(view)))
            self._connections[peer].sendall(view)
        except OSError as error:
            raise MeetingError(REMOTE, f"rank {peer} has ended") from error

    def receive(self, peer: int, channel: int) -> bytes:
        """Return the next bytes of a channel. MeetingError when the rank has ended."""
        with self._lock:
            box = self._boxes[peer, channel]
            if peer in self._ended:
                box.put(None)
        found = box.get()
        if found is None:
            raise MeetingError(REMOTE, f"rank {peer} has ended")
        with self._lock:
            if box.empty():
                self._boxes.pop((peer, channel), None)
        return found

    def close(self) -> None:
        """End all connections."""
        for connection in self._connections.values():
            connection.close()


def _exactly(connection: socket.socket, count: int) -> bytes:
    parts = []
    while count:
        part = connection.recv(min(count, 1 << 20))
        if not part:
            raise ConnectionError("the connection has ended")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)

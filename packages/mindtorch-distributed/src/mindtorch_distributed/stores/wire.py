"""How a request and its answer travel: a length, then JSON, in which bytes are written as text of one byte a letter."""

from __future__ import annotations

import json
import socket
import struct
from typing import Any

_LENGTH = struct.Struct("!Q")


def send(connection: socket.socket, message: Any) -> None:
    """Send a message."""
    payload = json.dumps(message).encode()
    connection.sendall(_LENGTH.pack(len(payload)) + payload)


def receive(connection: socket.socket) -> Any:
    """Receive a message; ConnectionError when the other side is gone."""
    (length,) = _LENGTH.unpack(_exactly(connection, _LENGTH.size))
    return json.loads(_exactly(connection, length))


def _exactly(connection: socket.socket, count: int) -> bytes:
    parts = bytearray()
    while len(parts) < count:
        part = connection.recv(min(count - len(parts), 1 << 20))
        if not part:
            raise ConnectionError("the other side closed the connection")
        parts += part
    return bytes(parts)


def encode(value: Any) -> Any:
    """Make a value fit for JSON: bytes become a pair."""
    return {"bytes": value.decode("latin-1")} if isinstance(value, bytes) else value


def decode(value: Any) -> Any:
    """The value that `encode` had."""
    return value["bytes"].encode("latin-1") if isinstance(value, dict) else value

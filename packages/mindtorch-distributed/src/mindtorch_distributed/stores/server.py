"""The process-wide side of the TCP store: one server a port, a thread for every connection."""

from __future__ import annotations

import errno
import os
import socket
import threading
from typing import Any

from mindtorch_distributed.errors import DistNetworkError, DistStoreError
from mindtorch_distributed.stores import wire
from mindtorch_distributed.stores.actions import Contents

_servers: dict[int, StoreServer] = {}
_lock = threading.Lock()
BACKLOG = 2048


class StoreServer:
    """Holds the data and answers requests."""

    def __init__(self, listener: socket.socket) -> None:
        self.port: int = listener.getsockname()[1]
        self._listener = listener
        self._contents, self._changed = Contents(), threading.Condition()
        self.users = 0
        threading.Thread(target=self._accept, name=f"store-{self.port}", daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:  # the listener was closed
                return
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            threading.Thread(target=self._serve, args=(connection,), name="store-client", daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            while True:
                try:
                    request = wire.receive(connection)
                    wire.send(connection, self._answer(request))
                except OSError:  # the client is gone
                    return

    def _answer(self, request: list[Any]) -> list[Any]:
        key, action, *values = request
        if action == "wait":
            return ["value", self._wait(key, values[0])]
        try:
            with self._changed:
                result = self._contents.carry_out(key, action, *map(wire.decode, values))
                self._changed.notify_all()
        except (KeyError, ValueError) as error:
            return [type(error).__name__, str(error.args[0])]
        return ["value", wire.encode(result)]

    def _wait(self, keys: list[str], seconds: float) -> bool:
        with self._changed:
            return self._changed.wait_for(lambda: all(key in self._contents.values for key in keys), seconds)

    def close(self) -> None:
        """Take no further connections."""
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


def listen(host: str, port: int, descriptor: int | None = None) -> socket.socket:
    """A listening socket, that of a descriptor if one is given; OSError when the port is taken."""
    if descriptor is not None:
        return _taken_over(descriptor, port)
    family = socket.AF_INET6 if socket.has_ipv6 and socket.has_dualstack_ipv6() else socket.AF_INET
    return socket.create_server(("", port), family=family, dualstack_ipv6=family == socket.AF_INET6, backlog=BACKLOG)


def _taken_over(descriptor: int, port: int) -> socket.socket:
    try:
        given = socket.socket(fileno=descriptor)
        bound = int(given.getsockname()[1])
    except OSError as error:
        name = errno.errorcode.get(error.errno or 0, "")
        raise DistNetworkError(
            f"Failed to open existing socket. socket: {descriptor}, code: -{error.errno}, name: {name}, "
            f"message: {os.strerror(error.errno or 0).lower()}"
        ) from None
    if bound != port:
        given.detach()  # it stays the caller's
        raise DistStoreError(f"listen fd {descriptor} is bound to port {bound}, expected to be bound to port {port}")
    given.listen(BACKLOG)
    return given


def join(host: str, port: int, shared: bool, descriptor: int | None) -> StoreServer:
    """The server of a port: that of this process when it may be shared, a new one otherwise."""
    with _lock:
        server = _servers.get(port) if shared and port else None
        if server is None:
            server = StoreServer(listen(host, port, descriptor))
            if shared:
                _servers[server.port] = server
        server.users += 1
        return server


def leave(server: StoreServer) -> None:
    """Close a server that nobody in this process uses any more."""
    with _lock:
        server.users -= 1
        if server.users == 0:
            _servers.pop(server.port, None)
            server.close()

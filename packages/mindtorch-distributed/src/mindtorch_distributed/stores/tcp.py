"""The TCP store: a client, and in one of the processes the server."""

from __future__ import annotations

import os
import socket
import threading
import time
import weakref
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from mindtorch_distributed.errors import DistNetworkError, DistStoreError
from mindtorch_distributed.stores import server as servers
from mindtorch_distributed.stores import wire
from mindtorch_distributed.stores.arguments import checks_arguments
from mindtorch_distributed.stores.base import DEFAULT_TIMEOUT, Store

ERRORS = {"KeyError": KeyError, "ValueError": ValueError}


@checks_arguments
class TCPStore(Store):
    """Keys in the process that is the master, reached by all others through a socket."""

    def __init__(
        self,
        host_name: str,
        port: int,
        world_size: int | None = None,
        is_master: bool = False,
        timeout: timedelta = DEFAULT_TIMEOUT,
        wait_for_workers: bool = True,
        multi_tenant: bool = False,
        master_listen_fd: int | None = None,
        use_libuv: bool = True,
    ) -> None:
        super().__init__()
        if world_size == 0:
            raise ValueError("TCPStore world size cannot be 0")
        self._timeout, self._host, self._port, self._libuv = timeout, host_name, port, use_libuv
        self._lock, self._pid = threading.Lock(), os.getpid()
        self._server: servers.StoreServer | None = None
        if is_master:
            self._server = self._serve(host_name, port, multi_tenant, master_listen_fd)
            self._port = self._server.port
            weakref.finalize(self, servers.leave, self._server)
        self._connection = self._connect()
        if wait_for_workers and world_size:
            self._wait_for(world_size, is_master)

    @staticmethod
    def _serve(host: str, port: int, shared: bool, descriptor: int | None) -> servers.StoreServer:
        try:
            return servers.join(host, port, shared, descriptor)
        except OSError as error:
            code = os.strerror(error.errno) if error.errno else str(error)
            raise DistNetworkError(
                f"The server socket has failed to listen on any local network address. port: {port}, "
                f"useIpv6: false, code: -{error.errno}, name: EADDRINUSE, message: {code.lower()}"
            ) from None

    @property
    def host(self) -> str:
        """The name of the master's host."""
        return self._host

    @property
    def port(self) -> int:
        """The port of the master."""
        return self._port

    @property
    def libuvBackend(self) -> bool:
        """What was asked for; there is one implementation."""
        return self._libuv

    def __repr__(self) -> str:
        own, other = (
            "[{}]:{}".format(*socket.getnameinfo(address, socket.NI_NUMERICSERV))
            for address in (self._connection.getsockname(), self._connection.getpeername())
        )
        server = "<nullptr>" if self._server is None else f"TCPServer(port={self._server.port})"
        client = f"SocketImpl(fd={self._connection.fileno()}, addr={own}, remote={other})"
        return f"TCPStore(client=TCPClient({client}), server={server})"

    def _connect(self) -> socket.socket:
        end = time.monotonic() + self._timeout.total_seconds()
        pause = 0.01
        while True:
            try:
                connection = socket.create_connection((self._host, self._port), max(end - time.monotonic(), 0.001))
            except OSError as error:
                if time.monotonic() + pause > end:
                    raise DistNetworkError(self._unreachable(error)) from None
                time.sleep(pause)
                pause = min(pause * 1.5, 0.5)
            else:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                connection.settimeout(None)
                return connection

    def _unreachable(self, error: OSError) -> str:
        milliseconds = int(self._timeout.total_seconds() * 1000)
        return (
            f"The client socket has timed out after {milliseconds}ms while trying to connect to "
            f"({self._host}, {self._port})."
        )

    def _ask(self, *request: Any) -> Any:
        with self._lock:
            if os.getpid() != self._pid:  # a child by fork has a connection of its own
                self._pid, self._connection = os.getpid(), self._connect()
            try:
                wire.send(self._connection, request)
                kind, result = wire.receive(self._connection)
            except OSError as error:
                raise DistNetworkError(
                    f"failed to recv, got 0 bytes: the store at ({self._host}, {self._port}) is gone ({error})"
                ) from None
        if kind != "value":
            raise ERRORS[kind](result)
        return wire.decode(result)

    def change(self, key: str, action: str, *values: bytes) -> Any:
        """See `Store.change`."""
        return self._ask(key, action, *map(wire.encode, values))

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """Return when all keys are set; DistStoreError when they are not in time."""
        seconds = (self._timeout if timeout is None else timeout).total_seconds()
        if not self._waits(list(keys), seconds):
            raise DistStoreError(self._late(keys, seconds))

    def _waits(self, keys: list[str], seconds: float) -> bool:
        """Wait by a connection of its own, so that other threads can use this one."""
        if self.check(keys):
            return True
        with self._connect() as connection:
            wire.send(connection, [keys, "wait", seconds])
            try:
                return bool(wire.receive(connection)[1])
            except OSError as error:
                raise DistNetworkError(f"failed to recv, got 0 bytes: the store is gone ({error})") from None

    def _late(self, keys: Sequence[str], seconds: float) -> str:
        return f"wait timeout after {int(seconds * 1000)}ms, keys: {', '.join('/' + key for key in keys)}"

    def multi_set(self, keys: Sequence[str], values: Sequence[str | bytes]) -> None:
        """Set keys; DistStoreError when there are more or fewer values."""
        if len(keys) != len(values):
            raise DistStoreError("multiSet keys and values vectors must be of same size")
        super().multi_set(keys, values)

    def num_keys(self) -> int:
        """The number of keys, the store's own included."""
        return len(self.list_keys())

    def _wait_for(self, world_size: int, is_master: bool) -> None:
        joined = self.add("init/", 1)
        if not is_master:
            return
        end = time.monotonic() + self._timeout.total_seconds()
        while joined < world_size:
            if time.monotonic() > end:
                raise DistStoreError(
                    f"Timed out after {int(self._timeout.total_seconds()) + 1} seconds waiting for clients. "
                    f"{joined}/{world_size} clients joined."
                )
            time.sleep(0.01)
            joined = self.add("init/", 0)

    def clone(self) -> Store:
        """Another connection to the same data."""
        return TCPStore(self._host, self._port, timeout=self._timeout, wait_for_workers=False, use_libuv=self._libuv)

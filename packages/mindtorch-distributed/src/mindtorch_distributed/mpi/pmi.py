"""A server of the process management interface that MPICH asks at its start (PMI-1), for processes nobody launched.

MPICH reads where its server is from the environment: PMI_FD, a connected socket, PMI_RANK and PMI_SIZE. The server keeps
keys and values and lets everybody wait for everybody.
"""

from __future__ import annotations

import os
import socket
import threading
from io import BufferedRWPair
from typing import Any

_MAXIMA = "cmd=maxes rc=0 kvsname_max=256 keylen_max=64 vallen_max=1024"


class PmiServer:
    """Serves one world of `size` processes."""

    def __init__(self, name: str, size: int, host: str) -> None:
        self._name, self._size = name, size
        self._values: dict[str, str] = {}
        self._gathered = threading.Barrier(size)
        self._listener = socket.create_server((host, 0), backlog=size)
        self.address: tuple[str, int] = self._listener.getsockname()[:2]
        threading.Thread(target=self._accept, name="pmi", daemon=True).start()

    def _accept(self) -> None:
        with self._listener:
            for _ in range(self._size):
                connection, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(connection,), name="pmi-client", daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            with connection, connection.makefile("rw", newline="\n") as lines:
                for line in lines:
                    lines.write(self._answer(dict(part.split("=", 1) for part in line.split())) + "\n")
                    lines.flush()
        except (OSError, threading.BrokenBarrierError):
            pass  # the process has ended, or another one has
        finally:  # the others must not wait for it
            self._gathered.abort()

    def _answer(self, request: dict[str, str]) -> str:
        answer: Any = getattr(self, f"_on_{request['cmd']}", None)
        return answer(request) if answer else f"cmd={request['cmd']}_result rc=-1 msg=unknown"

    def _on_init(self, request: dict[str, str]) -> str:
        return "cmd=response_to_init rc=0 pmi_version=1 pmi_subversion=1"

    def _on_get_maxes(self, request: dict[str, str]) -> str:
        return _MAXIMA

    def _on_get_appnum(self, request: dict[str, str]) -> str:
        return "cmd=appnum rc=0 appnum=0"

    def _on_get_my_kvsname(self, request: dict[str, str]) -> str:
        return f"cmd=my_kvsname rc=0 kvsname={self._name}"

    def _on_put(self, request: dict[str, str]) -> str:
        self._values[request["key"]] = request["value"]
        return "cmd=put_result rc=0 msg=success"

    def _on_get(self, request: dict[str, str]) -> str:
        value = self._values.get(request["key"])
        if value is None:
            return "cmd=get_result rc=-1 msg=key_not_found value=unknown"
        return f"cmd=get_result rc=0 msg=success value={value}"

    def _on_barrier_in(self, request: dict[str, str]) -> str:
        self._gathered.wait()
        return "cmd=barrier_out rc=0"

    def _on_finalize(self, request: dict[str, str]) -> str:
        return "cmd=finalize_ack rc=0"


class PmiRelay:
    """Carries the questions of this process's MPICH to the server.

    MPICH ends the process when its server is gone. The relay leaves it without an answer instead, so that whoever waits for
    MPICH can raise an error.
    """

    def __init__(self, server: socket.socket) -> None:
        server.settimeout(None)
        self.lost = threading.Event()
        self._server = server
        self._mine, self._given = socket.socketpair()
        self.descriptor = self._given.fileno()
        os.set_inheritable(self.descriptor, True)
        threading.Thread(target=self._carry, name="pmi-relay", daemon=True).start()

    def _carry(self) -> None:
        with self._mine.makefile("rwb") as near, self._server.makefile("rwb") as far:
            for line in near:
                answer = self._ask(line, far)
                if not answer:
                    self.lost.set()
                    return
                near.write(answer)
                near.flush()

    def _ask(self, line: bytes, server: BufferedRWPair) -> bytes:
        """The server's answer; nothing when it is gone."""
        try:
            server.write(line)
            server.flush()
            return server.readline()
        except OSError:  # as good as an end
            return b""

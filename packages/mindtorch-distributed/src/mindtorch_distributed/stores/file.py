"""The store in a file: a log of what was done, which every process reads to its end."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import weakref
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from mindtorch_distributed.stores.actions import Contents
from mindtorch_distributed.stores.arguments import checks_arguments
from mindtorch_distributed.stores.base import Store, until

READING = frozenset({"get", "check", "keys", "queue_len"})
USERS = "refcount/"  # a key among the others, which counts as one of them
LEFT = "left/"


def _leave(path: str, world_size: int, process: int) -> None:
    """Take note that a store is gone; the last of a world whose processes all came takes the file away."""
    if os.getpid() != process or not os.path.exists(path):  # not in a child by fork, which made none
        return
    store = object.__new__(FileStore)
    store._open(path)
    store.add(LEFT, 1)
    if store.add(USERS, -1) == 0 and 0 <= world_size <= store.add(LEFT, 0):  # those before counted themselves first
        with contextlib.suppress(FileNotFoundError):  # a program may have taken it away itself
            os.remove(path)


@checks_arguments
class FileStore(Store):
    """Keys in a file that processes of a host, or of hosts with a common file system, share."""

    def __init__(self, file_name: str, world_size: int = -1) -> None:
        self._open(file_name)
        self._world_size = world_size
        self.add(USERS, 1)
        weakref.finalize(self, _leave, file_name, world_size, os.getpid())

    def _open(self, path: str) -> None:
        Store.__init__(self)
        self._path, self._contents, self._read = path, Contents(), 0
        self._origin: FileStore | None = None

    @property
    def path(self) -> str:
        """The file."""
        return self._path

    def change(self, key: str, action: str, *values: bytes) -> Any:
        """See `Store.change`."""
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        with os.fdopen(descriptor, "r+b", buffering=0) as file:
            fcntl.flock(file, fcntl.LOCK_EX)  # closing the file gives it back
            self._catch_up(file)
            result = self._contents.carry_out(key, action, *values)
            if action not in READING:
                line = json.dumps([key, action, *(value.hex() for value in values)]).encode() + b"\n"
                file.seek(self._read)
                file.write(line)
                self._read += len(line)
            return result

    def get(self, key: str) -> bytes:
        """The value of a key, which is waited for."""
        if not until(lambda: self.check([key]), self._timeout.total_seconds()):
            raise RuntimeError(f"Timeout waiting for key: {key} after {int(self._timeout.total_seconds() * 1000)} ms")
        found: bytes = self.change(key, "get")
        return found

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """Return when all keys are set; RuntimeError when they are not in time."""
        seconds = (self._timeout if timeout is None else timeout).total_seconds()
        if not until(lambda: self.check(keys), seconds):
            raise RuntimeError("Wait timeout")

    def has_extended_api(self) -> bool:
        """As torch's store in a file: there are no queues."""
        return False

    def queue_push(self, key: str, value: str | bytes) -> None:
        """Not offered, as in torch."""
        raise NotImplementedError("queue support is not implemented.")

    def queue_pop(self, key: str, block: bool = True) -> bytes:
        """Not offered, as in torch."""
        raise NotImplementedError("queue support is not implemented.")

    def queue_len(self, key: str) -> int:
        """Not offered, as in torch."""
        raise NotImplementedError("queue support is not implemented.")

    def _catch_up(self, file: Any) -> None:
        file.seek(self._read)
        seen = file.readall()
        for line in seen.splitlines():
            key, action, *values = json.loads(line)
            self._contents.carry_out(key, action, *map(bytes.fromhex, values))
        self._read += len(seen)

    def clone(self) -> Store:
        """Another reader of the file, which stays while this one is in use."""
        other = object.__new__(FileStore)
        other._open(self._path)
        other._world_size, other._origin = self._world_size, self
        return other

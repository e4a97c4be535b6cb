"""The store in a file: a log of what was done, which every process reads to its end."""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from mindtorch_distributed.stores.actions import Contents
from mindtorch_distributed.stores.arguments import checks_arguments
from mindtorch_distributed.stores.base import Store, until

READING = frozenset({"get", "check", "keys", "queue_len"})


@checks_arguments
class FileStore(Store):
    """Keys in a file that processes of a host, or of hosts with a common file system, share."""

    def __init__(self, file_name: str, world_size: int = -1) -> None:
        super().__init__()
        self._path, self._world_size = file_name, world_size
        self._contents, self._read = Contents(), 0

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
        """Another reader of the file."""
        return FileStore(self._path, self._world_size)

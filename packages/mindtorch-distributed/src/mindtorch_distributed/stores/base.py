"""What every store has: keys with values of bytes that processes set, read and wait for."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from mindtorch_distributed.errors import DistStoreError, QueueEmptyError
from mindtorch_distributed.stores.arguments import checks_arguments

DEFAULT_TIMEOUT = timedelta(seconds=300)
POLL = 0.002
"""Seconds between two looks at a store that cannot tell when a key is set."""


def as_bytes(value: str | bytes) -> bytes:
    """The bytes of a key's value; TypeError for anything but str and bytes."""
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bytes):
        return value
    raise TypeError(f"a store keeps str or bytes, not {type(value).__name__}")


def until(ready: Callable[[], bool], seconds: float) -> bool:
    """Look until `ready()`; return whether it was in time."""
    end = time.monotonic() + seconds
    while not ready():
        if time.monotonic() >= end:
            return False
        time.sleep(POLL)
    return True


_NAMES = {"delete": "deleteKey", "num_keys": "getNumKeys"}


def _absent(action: str) -> Exception:
    """What is raised by a program's own store that does not define something."""
    if action in ("set", "get", "compare_set"):
        return RuntimeError("Not implemented.")
    if action == "keys" or action.startswith("queue"):
        return NotImplementedError(f"{'listKeys' if action == 'keys' else 'queue'} support is not implemented.")
    return RuntimeError(f'Tried to call pure virtual function "::c10d::Store::{_NAMES.get(action, action)}"')


@checks_arguments
class Store:
    """A map from keys to bytes that processes share. A subclass has `change`, the one way to its data.

    >>> import torch.distributed as dist
    >>> store = dist.HashStore()
    >>> store.set("key", "value")
    >>> store.get("key")
    b'value'
    >>> store.add("count", 2)
    2
    """

    def __init__(self) -> None:
        self._timeout = DEFAULT_TIMEOUT

    def change(self, key: str, action: str, *values: bytes) -> Any:
        """Carry out one action of `actions.py` on `key`, alone among all processes."""
        raise _absent(action)

    @property
    def _is_bare(self) -> bool:
        """Whether this is a program's own store, which has what it defines itself and nothing else."""
        return type(self).change is Store.change

    @property
    def timeout(self) -> timedelta:
        """How long `get` and `wait` wait for a key."""
        return self._timeout

    def set_timeout(self, timeout: timedelta) -> None:
        """Set how long `get` and `wait` wait for a key."""
        self._timeout = timeout

    def set(self, key: str, value: str | bytes) -> None:
        """Set a key."""
        self.change(key, "set", as_bytes(value))

    def get(self, key: str) -> bytes:
        """The value of a key, which is waited for."""
        if self._is_bare:
            raise _absent("get")
        self.wait([key])
        found: bytes = self.change(key, "get")
        return found

    def add(self, key: str, amount: int) -> int:
        """Add to a counter, which starts at 0; return its value."""
        total: int = self.change(key, "add", str(int(amount)).encode())
        return total

    def compare_set(self, key: str, expected_value: str | bytes, desired_value: str | bytes) -> bytes:
        """Set a key that has the value expected (or, with an empty one, no value); return what it is then."""
        now: bytes = self.change(key, "compare_set", as_bytes(expected_value), as_bytes(desired_value))
        return now

    def check(self, keys: Sequence[str]) -> bool:
        """Return whether all keys are set."""
        return all(self.change(key, "check") for key in keys)

    def delete_key(self, key: str) -> bool:
        """Remove a key; return whether it was there."""
        return bool(self.change(key, "delete"))

    def num_keys(self) -> int:
        """The number of keys."""
        if self._is_bare:
            raise _absent("num_keys")
        return len(self.list_keys())

    def list_keys(self) -> list[str]:
        """All keys."""
        keys: list[str] = self.change("", "keys")
        return keys

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """Return when all keys are set; DistStoreError when they are not in time."""
        if self._is_bare:
            raise _absent("wait")
        seconds = (self._timeout if timeout is None else timeout).total_seconds()
        if not until(lambda: self.check(keys), seconds):
            raise DistStoreError(self._late(keys, seconds))

    def _late(self, keys: Sequence[str], seconds: float) -> str:
        return "Wait timeout"

    def append(self, key: str, value: str | bytes) -> None:
        """Set a key to its value with this one behind."""
        if self._is_bare:
            old, added = b"", as_bytes(value)
            while (now := self.compare_set(key, old, old + added)) != old + added:
                old = now
            return
        self.change(key, "append", as_bytes(value))

    def multi_get(self, keys: Sequence[str]) -> list[bytes]:
        """The values of keys, which are waited for."""
        return [self.get(key) for key in keys]

    def multi_set(self, keys: Sequence[str], values: Sequence[str | bytes]) -> None:
        """Set keys; a store of one process leaves out those without a value, as torch's."""
        for key, value in zip(keys, values, strict=False):
            self.set(key, as_bytes(value))

    def queue_push(self, key: str, value: str | bytes) -> None:
        """Put a value at the end of a queue."""
        self.change(key, "queue_push", as_bytes(value))

    def queue_pop(self, key: str, block: bool = True) -> bytes:
        """Take the first value of a queue, which is waited for when `block`; QueueEmptyError otherwise."""
        if self._is_bare:
            raise _absent("queue_pop")
        end = time.monotonic() + self._timeout.total_seconds()
        while True:
            found: bytes | None = self.change(key, "queue_pop")
            if found is not None:
                return found
            if not block:
                raise QueueEmptyError("queue is empty")
            if time.monotonic() >= end:
                raise DistStoreError(self._late([key], self._timeout.total_seconds()))
            time.sleep(POLL)

    def queue_len(self, key: str) -> int:
        """The number of values in a queue."""
        return int(self.change(key, "queue_len"))

    def barrier(self, key: str, world_size: int, timeout: timedelta | None = None) -> None:
        """Return when this many callers are here."""
        if self.add(f"{key}/arrived", 1) >= world_size:
            self.set(f"{key}/all", b"1")
        self.wait([f"{key}/all"], timeout)

    def has_extended_api(self) -> bool:
        """Return whether `append`, `multi_get`, `multi_set` and queues are offered."""
        return not self._is_bare

    def clone(self) -> Store:
        """Another handle of the same data."""
        if self._is_bare:
            raise _absent("clone")
        return self

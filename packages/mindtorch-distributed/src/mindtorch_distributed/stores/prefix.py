"""A store within a store: every key gets a prefix."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from mindtorch_distributed.stores.arguments import checks_arguments
from mindtorch_distributed.stores.base import Store, as_bytes


@checks_arguments
class PrefixStore(Store):
    """The keys of a store that begin with `prefix/`.

    >>> import torch.distributed as dist
    >>> store = dist.PrefixStore("first", dist.HashStore())
    >>> store.set("key", "value")
    >>> store.get("key")
    b'value'
    >>> store.underlying_store.check(["first/key"])
    True
    """

    def __init__(self, prefix: str, store: Any) -> None:
        super().__init__()
        if store is None:
            raise ValueError("store argument cannot be None")
        self._prefix, self._store = prefix, store

    @property
    def underlying_store(self) -> Any:
        """The store whose keys these are."""
        return self._store

    @property
    def _underlying_non_prefix_store(self) -> Any:
        store = self._store
        while isinstance(store, PrefixStore):
            store = store._store
        return store

    @property
    def timeout(self) -> timedelta:
        """That of the store below."""
        below: timedelta = self._store.timeout
        return below

    def set_timeout(self, timeout: timedelta) -> None:
        """Set that of the store below."""
        self._store.set_timeout(timeout)

    def _full(self, key: str) -> str:
        return f"{self._prefix}/{key}"

    def set(self, key: str, value: str | bytes) -> None:
        """See `Store.set`."""
        self._store.set(self._full(key), as_bytes(value))

    def get(self, key: str) -> bytes:
        """See `Store.get`."""
        found: bytes = self._store.get(self._full(key))
        return found

    def add(self, key: str, amount: int) -> int:
        """See `Store.add`."""
        return int(self._store.add(self._full(key), amount))

    def compare_set(self, key: str, expected_value: str | bytes, desired_value: str | bytes) -> bytes:
        """See `Store.compare_set`."""
        now: bytes = self._store.compare_set(self._full(key), as_bytes(expected_value), as_bytes(desired_value))
        return now

    def check(self, keys: Sequence[str]) -> bool:
        """See `Store.check`."""
        return bool(self._store.check([self._full(key) for key in keys]))

    def delete_key(self, key: str) -> bool:
        """See `Store.delete_key`."""
        return bool(self._store.delete_key(self._full(key)))

    def num_keys(self) -> int:
        """The number of keys of the store below, those of others included."""
        return int(self._store.num_keys())

    def list_keys(self) -> list[str]:
        """The keys with this prefix, without it."""
        start = self._full("")
        return [key[len(start) :] for key in self._store.list_keys() if key.startswith(start)]

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """See `Store.wait`."""
        full = [self._full(key) for key in keys]
        self._store.wait(full) if timeout is None else self._store.wait(full, timeout)

    def append(self, key: str, value: str | bytes) -> None:
        """See `Store.append`."""
        self._store.append(self._full(key), as_bytes(value))

    def multi_get(self, keys: Sequence[str]) -> list[bytes]:
        """See `Store.multi_get`."""
        found: list[bytes] = self._store.multi_get([self._full(key) for key in keys])
        return found

    def multi_set(self, keys: Sequence[str], values: Sequence[str | bytes]) -> None:
        """See `Store.multi_set`."""
        self._store.multi_set([self._full(key) for key in keys], list(map(as_bytes, values)))

    def queue_push(self, key: str, value: str | bytes) -> None:
        """See `Store.queue_push`."""
        self._store.queue_push(self._full(key), value)

    def queue_pop(self, key: str, block: bool = True) -> bytes:
        """See `Store.queue_pop`."""
        found: bytes = self._store.queue_pop(self._full(key), block)
        return found

    def queue_len(self, key: str) -> int:
        """See `Store.queue_len`."""
        return int(self._store.queue_len(self._full(key)))

    def has_extended_api(self) -> bool:
        """As the store below."""
        return bool(self._store.has_extended_api())

    def clone(self) -> Store:
        """The same prefix of a clone."""
        return PrefixStore(self._prefix, self._store.clone())

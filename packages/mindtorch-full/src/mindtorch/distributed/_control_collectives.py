"""Collectives of a few bytes over a store, for processes that have no group: `_StoreCollectives`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import NoReturn

from mindtorch._naming import torch_name
from mindtorch_distributed import DistStoreError, Store

DEFAULT = timedelta(seconds=300)


class _ControlCollectives:
    """What is written against any such collectives; its kinds have objects."""

    def __new__(cls, *args: object, **kwargs: object) -> NoReturn:
        raise TypeError(f"{cls.__module__}.{cls.__qualname__}: No constructor defined!")


class _StoreCollectives(_ControlCollectives):
    """Collectives that use keys of a store; each key serves once."""

    def __new__(cls, *args: object, **kwargs: object) -> _StoreCollectives:  # type: ignore[misc]
        return object.__new__(cls)

    def __init__(self, store: Store, rank: int, world_size: int) -> None:
        self._store, self._rank, self._size = store, rank, world_size
        self._used: set[str] = set()

    def _use(self, key: str) -> None:
        if key in self._used:
            raise RuntimeError(f"Key {key} has already been used.")
        self._used.add(key)

    def _of(self, key: str, rank: int) -> str:
        return f"{key}/{rank}"

    def _waiting(self, what: str, key: str, wait: Callable[[], object], ranks: Sequence[int]) -> None:
        try:
            wait()
        except DistStoreError as error:
            missing = [str(rank) for rank in ranks if not self._store.check([self._of(key, rank)])]
            raise RuntimeError(f"{what} failed -- missing ranks: {', '.join(missing)}, {error}") from None

    def barrier(self, key: str, timeout: timedelta = DEFAULT, block: bool = True) -> None:
        """Come to a barrier, and wait there for all others if it blocks."""
        self._use(key)
        self._arrive(key, timeout, block)

    def _arrive(self, key: str, timeout: timedelta, block: bool) -> None:
        self._store.set(self._of(key, self._rank), "arrived")
        if self._store.add(f"{key}/arrived", 1) == self._size:
            self._store.set(f"{key}/all", "")
        if block:
            self._waiting("barrier", key, lambda: self._store.wait([f"{key}/all"], timeout), range(self._size))

    def broadcast_send(self, key: str, data: str | bytes, timeout: timedelta = DEFAULT) -> None:
        """Give all others bytes."""
        self._use(key)
        self._store.set(f"{key}/data", data)

    def broadcast_recv(self, key: str, timeout: timedelta = DEFAULT) -> bytes:
        """Return the bytes that one gives to all."""
        self._use(key)
        self._store.wait([f"{key}/data"], timeout)
        return self._store.get(f"{key}/data")

    def gather_send(self, key: str, data: str | bytes, timeout: timedelta = DEFAULT) -> None:
        """Give one other bytes."""
        self._use(key)
        self._store.set(self._of(key, self._rank), data)

    def gather_recv(self, key: str, data: str | bytes, timeout: timedelta = DEFAULT) -> list[bytes]:
        """Return the bytes of all, by rank."""
        self._use(key)
        return self._gathered("gather", key, data, timeout)

    def _gathered(self, what: str, key: str, data: str | bytes, timeout: timedelta) -> list[bytes]:
        self._store.set(self._of(key, self._rank), data)
        keys = [self._of(key, rank) for rank in range(self._size)]
        self._waiting(what, key, lambda: self._store.wait(keys, timeout), range(self._size))
        return self._store.multi_get(keys)

    def scatter_send(self, key: str, data: Sequence[str | bytes], timeout: timedelta = DEFAULT) -> bytes:
        """Give each rank its own bytes; return those of this rank."""
        self._use(key)
        if len(data) != self._size:
            raise RuntimeError("data vector must be equal to world size")
        own = data[self._rank]
        for rank, value in enumerate(data):
            if rank != self._rank:
                self._store.set(self._of(key, rank), value)
        return own.encode() if isinstance(own, str) else own

    def scatter_recv(self, key: str, timeout: timedelta = DEFAULT) -> bytes:
        """Return the bytes that one gives to this rank."""
        self._use(key)
        self._store.wait([self._of(key, self._rank)], timeout)
        return self._store.get(self._of(key, self._rank))

    def all_gather(self, key: str, data: str | bytes, timeout: timedelta = DEFAULT) -> list[bytes]:
        """Return the bytes of all, by rank, to all."""
        self._use(key)
        return self._gathered("all_gather", key, data, timeout)

    def all_sum(self, key: str, data: int, timeout: timedelta = DEFAULT) -> int:
        """Return the sum over all, to all."""
        self._use(key)
        self._store.add(f"{key}/sum", data)
        self._arrive(key, timeout, block=True)
        return self._store.add(f"{key}/sum", 0)


for _own in (_ControlCollectives, _StoreCollectives):
    _own.__module__ = torch_name("mindtorch._C._distributed_c10d")

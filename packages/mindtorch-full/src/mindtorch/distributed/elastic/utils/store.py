"""What agents tell one another by the keys of a store."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from mindtorch._naming import adopt
from mindtorch_distributed import DistStoreError

__all__ = ["barrier", "get_all", "store_timeout", "synchronize"]

_NUM_MEMBERS, _LAST_MEMBER_CHECKIN = "/num_members", "/last_member"
_TRACE, _TRACING_GATE = "/TRACE", "/TRACING_GATE"
_MAX_TRACE_MISSING_RANKS = 16
_ANYTHING = "<val_ignored>"


@contextmanager
def store_timeout(store: Any, timeout: float) -> Iterator[None]:
    """Let a store wait this many seconds within the block."""
    before = store.timeout
    store.set_timeout(timedelta(seconds=timeout))
    yield
    store.set_timeout(before)


def get_all(store: Any, rank: int, prefix: str, world_size: int) -> list[bytes]:
    """Return what all ranks have set under a prefix; rank 0, which may have the store, returns when all have read it."""
    found: list[bytes] = store.multi_get([f"{prefix}{one}" for one in range(world_size)])
    last = _arrive(store, world_size, f"{prefix}/finished")
    if rank == 0:
        store.wait([last])
    return found


def synchronize(
    store: Any, data: bytes, rank: int, world_size: int, key_prefix: str, timeout: float = 300
) -> list[bytes]:
    """Return the bytes of all ranks, to all."""
    with store_timeout(store, timeout):
        store.set(f"{key_prefix}{rank}", data)
        return get_all(store, rank, key_prefix, world_size)


def _arrive(store: Any, world_size: int, key_prefix: str) -> str:
    """Count this rank; return the key that the last one sets."""
    last = f"{key_prefix}{_LAST_MEMBER_CHECKIN}"
    if store.add(f"{key_prefix}{_NUM_MEMBERS}", 1) == world_size:
        store.set(last, _ANYTHING)
    return last


def _in_time(store: Any, key: str, seconds: float) -> bool:
    try:
        store.wait([key], timedelta(seconds=seconds))
    except DistStoreError:  # what is asked is whether it comes
        return False
    return True


def _missing(
    store: Any, world_size: int, key_prefix: str, rank: int, decoder: Callable[[int], str], seconds: float
) -> Sequence[str] | None:
    """Name the ranks that did not come: rank 0 asks each for its trace, the others name rank 0."""
    store.set(f"{key_prefix}{rank}{_TRACE}", _ANYTHING)
    if rank:
        asked = _in_time(store, f"{key_prefix}{_TRACING_GATE}", seconds)
        return [f"[<check rank 0 ({decoder(0)}) for missing rank info>]"] if asked else None
    missing: list[str] = []
    for other in range(1, world_size):
        if len(missing) >= _MAX_TRACE_MISSING_RANKS:
            break
        if not _in_time(store, f"{key_prefix}{other}{_TRACE}", seconds):
            missing.append(decoder(other))
    store.set(f"{key_prefix}{_TRACING_GATE}", _ANYTHING)
    return missing


def barrier(
    store: Any,
    world_size: int,
    key_prefix: str,
    barrier_timeout: float = 300,
    rank: int | None = None,
    rank_tracing_decoder: Callable[[int], str] | None = None,
    trace_timeout: float = 10,
) -> None:
    """Return when all are here; DistStoreError otherwise, which names those that did not come where ranks are given."""
    with store_timeout(store, barrier_timeout):
        last = _arrive(store, world_size, key_prefix)
        try:
            store.wait([last])
        except DistStoreError:
            if rank is None:
                raise
            missing = _missing(store, world_size, key_prefix, rank, rank_tracing_decoder or str, trace_timeout)
            if missing is None:
                raise
            raise DistStoreError(
                f"Timed out waiting on barrier on rank {rank}, for key prefix: {key_prefix} "
                f"(world_size={world_size}, missing_ranks=[{', '.join(missing)}], timeout={barrier_timeout})"
            ) from None


adopt(globals())

"""The allocator's counters, under the names of `torch.cuda.memory_stats`."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any

POOLS = ("all", "small_pool", "large_pool")
BY_POOL = (
    "allocation",
    "segment",
    "active",
    "inactive_split",
    "allocated_bytes",
    "reserved_bytes",
    "active_bytes",
    "inactive_split_bytes",
    "requested_bytes",
)
SINGLE = ("oversize_allocations", "oversize_segments")
COUNTERS = (
    "num_alloc_retries",
    "num_ooms",
    "num_sync_all_streams",
    "num_device_alloc",
    "num_device_free",
    "num_oom_rejections",
)


COLUMNS = ("current", "peak", "allocated", "freed")


class Stat:
    """A quantity: what it is, what it was at most, and the sums of its rises and falls."""

    __slots__ = ("allocated", "current", "freed", "peak")

    def __init__(self) -> None:
        self.current = self.peak = self.allocated = self.freed = 0

    def rise(self, amount: int) -> None:
        """Add `amount`."""
        self.current += amount
        self.allocated += amount
        if self.current > self.peak:
            self.peak = self.current

    def fall(self, amount: int) -> None:
        """Take `amount` away."""
        self.current -= amount
        self.freed += amount

    def as_dict(self) -> dict[str, int]:
        """Return the four numbers by name."""
        return {"current": self.current, "peak": self.peak, "allocated": self.allocated, "freed": self.freed}


class Statistics:
    """All counters of one allocator."""

    def __init__(self) -> None:
        self.by_pool = {name: {pool: Stat() for pool in POOLS} for name in BY_POOL}
        self.single = {name: Stat() for name in SINGLE}
        self.counters = dict.fromkeys(COUNTERS, 0)

    def rise(self, name: str, small: bool, amount: int) -> None:
        """Add to a counter that is kept by pool."""
        stats = self.by_pool[name]
        stats["all"].rise(amount)
        stats["small_pool" if small else "large_pool"].rise(amount)

    def fall(self, name: str, small: bool, amount: int) -> None:
        """Take from a counter that is kept by pool."""
        stats = self.by_pool[name]
        stats["all"].fall(amount)
        stats["small_pool" if small else "large_pool"].fall(amount)

    def every(self) -> list[Stat]:
        """Return every `Stat`."""
        return [stat for stats in self.by_pool.values() for stat in stats.values()] + list(self.single.values())

    def reset_peak(self) -> None:
        """Let the peaks be the present values."""
        for stat in self.every():
            stat.peak = stat.current

    def reset_accumulated(self) -> None:
        """Let the sums and the counters begin anew."""
        for stat in self.every():
            stat.allocated = stat.freed = 0
        self.counters = dict.fromkeys(COUNTERS, 0)

    def nested(self, max_split_size: int) -> dict[str, Any]:
        """Return everything as `torch.cuda.memory_stats_as_nested_dict` does."""
        answer: dict[str, Any] = {
            name: {pool: stat.as_dict() for pool, stat in stats.items()} for name, stats in self.by_pool.items()
        }
        answer.update({name: stat.as_dict() for name, stat in self.single.items()})
        answer.update(self.counters)
        answer["max_split_size"] = max_split_size
        return answer


class FlatStatistics(MutableMapping[str, int]):
    """The same counters under dotted names, such as `reserved_bytes.all.current`; assigning changes them."""

    def __init__(self, stats: Statistics) -> None:
        self._of = stats

    def _stat(self, name: str) -> tuple[Stat, str]:
        found, _, column = name.rpartition(".")
        quantity, _, pool = found.partition(".")
        stat = self._of.by_pool.get(quantity, {}).get(pool) if pool else self._of.single.get(quantity)
        if stat is None or column not in COLUMNS:
            raise KeyError(name)
        return stat, column

    def __getitem__(self, name: str) -> int:
        if name in self._of.counters:
            return self._of.counters[name]
        stat, column = self._stat(name)
        value: int = getattr(stat, column)
        return value

    def __setitem__(self, name: str, value: int) -> None:
        if name in self._of.counters:
            self._of.counters[name] = value
        else:
            stat, column = self._stat(name)
            setattr(stat, column, value)

    def __delitem__(self, name: str) -> None:
        raise TypeError("counters cannot be taken away")

    def __iter__(self) -> Iterator[str]:
        for quantity, pools in self._of.by_pool.items():
            yield from (f"{quantity}.{pool}.{column}" for pool in pools for column in COLUMNS)
        yield from (f"{quantity}.{column}" for quantity in self._of.single for column in COLUMNS)
        yield from self._of.counters

    def __len__(self) -> int:
        return len(COLUMNS) * len(self._of.every()) + len(self._of.counters)

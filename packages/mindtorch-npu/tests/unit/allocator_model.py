"""A device for the allocator that is only arithmetic, and the invariants of the allocator over it.

`python allocator_model.py 1000000` checks that many random operations.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from typing import Any

from mindtorch_npu.allocator import NpuAllocator, OutOfMemoryError, parse

MIB = 2**20


class Model:
    """A driver whose events are passed when the test says so."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.live: dict[int, int] = {}
        self.next = 1 << 40
        self.clock: Counter[int] = Counter()
        self.reached: Counter[int] = Counter()

    def malloc(self, size: int) -> int | None:
        """Give memory while it lasts."""
        if sum(self.live.values()) + size > self.capacity:
            return None
        address, self.next = self.next, self.next + size + 512
        self.live[address] = size
        return address

    def free(self, address: int) -> None:
        """Take it back; KeyError for what was not given."""
        del self.live[address]

    def mem_get_info(self) -> tuple[int, int]:
        """Free and total."""
        return self.capacity - sum(self.live.values()), self.capacity

    def record(self, stream: int) -> Any:
        """A place in a stream."""
        self.clock[stream] += 1
        return stream, self.clock[stream]

    def complete(self, event: Any) -> bool:
        """Has the stream come so far?"""
        return self.reached[event[0]] >= event[1]

    def wait(self, event: Any) -> None:
        """Let the stream come so far."""
        self.reached[event[0]] = max(self.reached[event[0]], event[1])

    def forget(self, event: Any) -> None:
        """Nothing is kept of it."""

    def synchronize(self) -> None:
        """Let all streams finish."""
        self.reached.update({stream: 0 for stream in self.clock})
        for stream, count in self.clock.items():
            self.reached[stream] = count


def check_invariants(allocator: NpuAllocator, model: Model) -> None:
    """What must hold between any two operations."""
    stats = allocator.memory_stats()
    segments = allocator.snapshot()
    current = {name: stats[name]["all"]["current"] for name in ("allocated_bytes", "active_bytes", "reserved_bytes")}
    assert current["allocated_bytes"] <= current["active_bytes"] <= current["reserved_bytes"]
    assert current["reserved_bytes"] == sum(model.live.values()) == sum(s["total_size"] for s in segments)
    assert {s["address"]: s["total_size"] for s in segments} == model.live
    split = split_bytes = active = 0
    for segment in segments:
        place, previous = segment["address"], "active"
        for block in segment["blocks"]:
            assert block["address"] == place
            place += block["size"]
            if block["state"] == "inactive":
                assert previous != "inactive", "free neighbours must have been merged"
                if len(segment["blocks"]) > 1:
                    split, split_bytes = split + 1, split_bytes + block["size"]
            else:
                active += block["size"]
                assert block["requested_size"] + 32 <= block["size"]
            previous = block["state"]
        assert place == segment["address"] + segment["total_size"]
    assert active == current["active_bytes"]
    assert stats["inactive_split"]["all"]["current"] == split
    assert stats["inactive_split_bytes"]["all"]["current"] == split_bytes
    for name in ("allocation", "segment", "active", "inactive_split", "allocated_bytes", "reserved_bytes"):
        by_pool = stats[name]
        for column in ("current", "allocated", "freed"):
            assert by_pool["all"][column] == by_pool["small_pool"][column] + by_pool["large_pool"][column]
        assert by_pool["all"]["current"] == by_pool["all"]["allocated"] - by_pool["all"]["freed"]
        assert by_pool["all"]["peak"] >= by_pool["all"]["current"]


class Run:
    """Random operations on one allocator, with a list of what is in use beside it."""

    def __init__(self, seed: int, conf: str = "", capacity: int = 256 * MIB) -> None:
        self.random = random.Random(seed)
        self.model = Model(capacity)
        self.allocator = NpuAllocator(0, self.model, parse(conf))
        self.live: dict[int, tuple[int, int, set[int]]] = {}
        self.pending: list[tuple[int, int, dict[int, int]]] = []
        self.ooms = 0

    def step(self) -> None:
        """One random operation."""
        choice = self.random.random()
        if choice < 0.46:
            self.malloc()
        elif choice < 0.86 and self.live:
            self.free(self.random.choice(list(self.live)) if len(self.live) < 50 else next(iter(self.live)))
        elif choice < 0.93 and self.live:
            address, stream = next(reversed(self.live)), self.random.randrange(4)
            self.allocator.record_stream(address, stream)
            self.live[address][2].add(stream)
        elif choice < 0.9995:
            stream = self.random.randrange(4)
            self.model.reached[stream] = self.random.randint(self.model.reached[stream], self.model.clock[stream])
        else:
            self.allocator.empty_cache()

    def malloc(self) -> None:
        """Allocate; what comes must overlap nothing that is in use or still being used by a stream."""
        size = int(2 ** self.random.uniform(0, 24.5))
        stream = self.random.randrange(3)
        try:
            address = self.allocator.malloc(size, stream)
        except OutOfMemoryError:
            self.ooms += 1
            for _ in range(len(self.live) // 2):
                self.free(next(iter(self.live)))
            return
        self.pending = [entry for entry in self.pending if any(self.model.reached[s] < n for s, n in entry[2].items())]
        busy = [(a, s) for a, (s, _, _) in self.live.items()] + [(a, s) for a, s, _ in self.pending]
        assert all(address + size <= a or a + s <= address for a, s in busy)
        self.live[address] = (size, stream, set())

    def free(self, address: int) -> None:
        """Release; streams that used the block must come so far before it is given out again."""
        size, _, uses = self.live.pop(address)
        self.allocator.free(address)
        if uses:
            self.pending.append((address, size, {stream: self.model.clock[stream] for stream in uses}))

    def finish(self) -> None:
        """Release everything: nothing may be left on the device."""
        for address in list(self.live):
            self.free(address)
        self.allocator.empty_cache()
        check_invariants(self.allocator, self.model)
        stats = self.allocator.memory_stats()
        assert not self.model.live
        assert stats["allocation"]["all"]["current"] == stats["active_bytes"]["all"]["current"] == 0


CONFIGS = (
    "",
    "max_split_size_mb:20",
    "roundup_power2_divisions:8",
    "garbage_collection_threshold:0.5,per_process_memory_fraction:0.6",
)


def main(count: int) -> None:
    """Run `count` operations over the configurations."""
    for number, conf in enumerate(CONFIGS):
        run = Run(number, conf)
        for step in range(count // len(CONFIGS)):
            run.step()
            if step % 97 == 0:
                check_invariants(run.allocator, run.model)
        run.finish()
        print(f"{conf or 'default'}: {count // len(CONFIGS)} operations, {run.ooms} out of memory: invariants hold")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)

"""Expandable segments: a range of addresses grows, gives chunks back, and is one segment to the counters."""

from __future__ import annotations

import random

import pytest

from mindtorch_npu import memory, runtime
from mindtorch_npu.allocator import NpuAllocator, OutOfMemoryError, parse
from mindtorch_npu.allocator.expandable import LARGE_CHUNK, SMALL_CHUNK

from .allocator_model import MIB, Model


class Virtual(Model):
    """A device whose addresses and memory are had apart."""

    expandable = True

    def __init__(self, capacity: int) -> None:
        super().__init__(capacity)
        self.ranges: dict[int, int] = {}

    def reserve(self, size: int) -> int:
        address, self.next = self.next, self.next + size + (64 << 20)
        self.ranges[address] = size
        return address

    def unreserve(self, address: int) -> None:
        size = self.ranges.pop(address)
        assert not any(address <= one < address + size for one in self.live)

    def map(self, address: int, size: int) -> bool:
        assert address not in self.live
        if sum(self.live.values()) + size > self.capacity:
            return False
        self.live[address] = size
        return True

    def unmap(self, address: int, size: int) -> None:
        assert self.live.pop(address) == size


def make(capacity: int = 256 * MIB, conf: str = "expandable_segments:True") -> tuple[NpuAllocator, Virtual]:
    device = Virtual(capacity)
    return NpuAllocator(0, device, parse(conf)), device


def reserved(allocator):
    return allocator.memory_stats()["reserved_bytes"]["all"]["current"]


def test_a_range_grows_by_chunks_and_stays_one_segment():
    allocator, device = make()
    first = allocator.malloc(30 * MIB)
    assert reserved(allocator) == 2 * LARGE_CHUNK
    second = allocator.malloc(30 * MIB)
    assert second == first + 30 * MIB + 512
    assert reserved(allocator) == 4 * LARGE_CHUNK
    assert allocator.memory_stats()["segment"]["all"]["current"] == 1
    assert len(device.ranges) == 1
    (segment,) = allocator.snapshot()
    assert segment["is_expandable"]
    assert segment["total_size"] == 4 * LARGE_CHUNK


def test_small_and_large_and_streams_have_ranges_of_their_own():
    allocator, device = make()
    for size, stream in ((100, 0), (100, 1), (5 * MIB, 0), (5 * MIB, 1)):
        allocator.malloc(size, stream)
    assert len(device.ranges) == 4
    assert reserved(allocator) == 2 * SMALL_CHUNK + 2 * LARGE_CHUNK


def test_what_fragments_segments_does_not_fragment_a_range():
    """Freed small pieces of separate segments cannot serve a large request; neighbours in a range can."""
    for conf, fits in (("", False), ("expandable_segments:True", True)):
        allocator, _ = make(120 * MIB, conf)
        kept = [allocator.malloc(38 * MIB) for _ in range(3)]
        for address in kept[:2]:
            allocator.free(address)
        if fits:
            assert allocator.malloc(76 * MIB)
            assert allocator.memory_stats()["num_ooms"] == 0
        allocator.free(kept[2])


def test_empty_chunks_are_unmapped_and_used_blocks_stay():
    allocator, device = make()
    kept = [allocator.malloc(40 * MIB - 512) for _ in range(3)]
    allocator.free(kept[1])
    allocator.empty_cache()
    assert reserved(allocator) == sum(device.live.values()) < 6 * LARGE_CHUNK + LARGE_CHUNK
    assert len(allocator.snapshot()) == 2
    again = allocator.malloc(40 * MIB - 512)
    assert again == kept[1]
    for address in (kept[0], again, kept[2]):
        allocator.free(address)
    allocator.empty_cache()
    assert not device.live
    assert not device.ranges
    assert allocator.memory_stats()["segment"]["all"]["current"] == 0


def test_a_full_device_takes_nothing_half():
    allocator, device = make(100 * MIB)
    allocator.malloc(30 * MIB)
    before = dict(device.live)
    with pytest.raises(OutOfMemoryError):
        allocator.malloc(90 * MIB)
    assert device.live == before
    assert allocator.malloc(20 * MIB)


def test_the_limit_counts_what_is_mapped():
    allocator, _ = make(200 * MIB, "expandable_segments:True,per_process_memory_fraction:0.3")
    allocator.malloc(50 * MIB)
    with pytest.raises(OutOfMemoryError):
        allocator.malloc(20 * MIB)


def test_history_says_map_and_unmap():
    allocator, _ = make()
    allocator.history.configure(True, "all", 100, True, frozenset())
    allocator.free(allocator.malloc(100))
    allocator.empty_cache()
    actions = [entry["action"] for entry in allocator.history.entries]
    assert actions == ["segment_map", "alloc", "free_requested", "free_completed", "segment_unmap"]


def test_a_device_without_virtual_memory_goes_on_with_segments():
    allocator, device = make()
    device.expandable = False
    allocator.malloc(100)
    assert not device.ranges
    assert not allocator.snapshot()[0]["is_expandable"]


@pytest.mark.parametrize("seed", range(4))
def test_random_requests_keep_every_invariant(seed):
    source = random.Random(seed)
    allocator, device = make(256 * MIB)
    live: dict[int, int] = {}
    for step in range(4000):
        choice = source.random()
        if choice < 0.5:
            size, stream = int(2 ** source.uniform(0, 25)), source.randrange(2)
            try:
                address = allocator.malloc(size, stream)
            except OutOfMemoryError:
                for one in list(live)[: len(live) // 2]:
                    allocator.free(one)
                    del live[one]
                continue
            assert all(address + size <= a or a + s <= address for a, s in live.items())
            live[address] = size
        elif choice < 0.99 and live:
            address = source.choice(list(live))
            allocator.free(address)
            del live[address]
        elif choice >= 0.99:
            allocator.empty_cache()
        if step % 50 == 0:
            check(allocator, device, live)
    for address in live:
        allocator.free(address)
    allocator.empty_cache()
    assert not device.live
    assert not device.ranges


def check(allocator, device, live):
    segments = allocator.snapshot()
    assert reserved(allocator) == sum(device.live.values()) == sum(s["total_size"] for s in segments)
    for segment in segments:
        place, previous = segment["address"], ""
        for block in segment["blocks"]:
            assert block["address"] == place
            assert not (block["state"] == previous == "inactive")
            place, previous = place + block["size"], block["state"]
        assert place == segment["address"] + segment["total_size"]
        assert all(
            any(a <= p < a + s for a, s in device.live.items()) for p in range(segment["address"], place, SMALL_CHUNK)
        )
    stats = allocator.memory_stats()
    assert stats["allocation"]["all"]["current"] == len(live)
    assert stats["inactive_split"]["all"]["current"] == 0


def test_on_the_simulated_device(npu, monkeypatch):
    monkeypatch.setenv("PYTORCH_NPU_ALLOC_CONF", "expandable_segments:True")
    torch = pytest.importorskip("mindtorch", reason="the assembled library")
    runtime.init()
    x = torch.arange(6_000_000.0).to("npu")
    y = torch.arange(6_000_000.0).to("npu") + x
    assert float(y.double().sum()) == 2 * sum(range(6_000_000))
    found = memory.memory_snapshot()
    assert all(segment["is_expandable"] for segment in found)
    assert npu.memories[0].used == memory.memory_reserved() == sum(segment["total_size"] for segment in found)
    del x, y
    torch.npu.empty_cache()
    assert npu.memories[0].used == memory.memory_reserved() == 0


def test_addresses_without_memory_are_refused(npu):
    acl = runtime.on(0)
    address, code = acl.rt.reserve_mem_address(8 << 20, 0, 0, 1)
    assert code == 0
    kind = {"location": {"id": 0, "type": 1}}
    assert acl.rt.memset(address, 16, 0, 16) != 0
    handle, code = acl.rt.malloc_physical(2 << 20, kind, 0)
    assert (code, acl.rt.map_mem(address, 2 << 20, 0, handle, 0)) == (0, 0)
    assert acl.rt.memset(address, 16, 0, 16) == 0
    assert acl.rt.memset(address + (2 << 20) - 8, 16, 0, 16) != 0
    assert acl.rt.free_physical(handle) != 0
    assert acl.rt.release_mem_address(address) != 0
    assert acl.rt.unmap_mem(address) == 0
    assert acl.rt.memset(address, 16, 0, 16) != 0
    assert acl.rt.free_physical(handle) == 0
    assert acl.rt.release_mem_address(address) == 0
    assert acl.rt.malloc_physical(1 << 30, kind, 0)[1] == 207001 or npu.memories[0].used

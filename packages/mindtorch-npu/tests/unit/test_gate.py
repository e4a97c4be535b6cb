"""Memory that the garbage collector gives back in the midst of another request."""

from __future__ import annotations

import gc
import threading

import pytest

from mindtorch_npu.allocator import NpuAllocator, parse

from .allocator_model import MIB, Model, check_invariants


class Reentrant(Model):
    """A device that runs what finalizers would in the midst of each of its own calls."""

    def __init__(self, capacity: int) -> None:
        super().__init__(capacity)
        self.allocator: NpuAllocator | None = None
        self.dropped: list[int] = []

    def malloc(self, size: int) -> int | None:
        while self.dropped and self.allocator is not None:
            self.allocator.drop(self.dropped.pop())
        return super().malloc(size)


def test_what_is_dropped_within_a_request_is_taken_back_before_the_next():
    device = Reentrant(1024 * MIB)
    allocator = device.allocator = NpuAllocator(0, device, parse(""))
    kept = [allocator.malloc(4096) for _ in range(8)]
    device.dropped = kept[::2]
    big = allocator.malloc(32 * MIB)
    assert all(address in allocator._active for address in kept)  # the request was under way
    assert allocator.memory_stats()["allocation"]["all"]["current"] == 5
    assert not any(address in allocator._active for address in kept[::2])
    for address in (*kept[1::2], big):
        allocator.free(address)
    check_invariants(allocator, device)
    assert allocator.memory_stats()["active_bytes"]["all"]["current"] == 0


def test_dropping_never_waits_for_a_request_of_another_thread():
    device = Model(1024 * MIB)
    allocator = NpuAllocator(0, device, parse(""))
    address = allocator.malloc(4096)
    dropped = threading.Event()
    with allocator._gate:
        thread = threading.Thread(target=lambda: (allocator.drop(address), dropped.set()))
        thread.start()
        assert dropped.wait(10)
        assert address in allocator._active
    thread.join()
    allocator.free(allocator.malloc(512))
    assert address not in allocator._active


def test_a_drop_outside_of_any_request_is_done_at_once():
    allocator = NpuAllocator(0, Model(1024 * MIB), parse(""))
    address = allocator.malloc(4096)
    allocator.drop(address)
    assert address not in allocator._active
    with pytest.raises(RuntimeError, match="invalid device pointer"):
        allocator.drop(address)


def test_collections_at_every_allocation_leave_the_allocator_whole():
    class Held:
        def __init__(self, allocator: NpuAllocator, size: int) -> None:
            self.allocator, self.me = allocator, self  # a cycle: only the collector ends it
            self.address = allocator.malloc(size)

        def __del__(self) -> None:
            self.allocator.drop(self.address)

    device = Model(1024 * MIB)
    allocator = NpuAllocator(0, device, parse(""))
    before = gc.get_threshold()
    gc.set_threshold(1)
    try:
        for number in range(2000):
            Held(allocator, 512 * (1 + number * 7 % 40))
    finally:
        gc.set_threshold(*before)
    gc.collect()
    assert allocator.memory_stats()["active_bytes"]["all"]["current"] == 0
    check_invariants(allocator, device)

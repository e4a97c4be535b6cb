"""The caching allocator: device memory in segments, cut into blocks that are used again by the stream they came from.

A block that other streams used returns when the events recorded in them at its release have been passed. The rules,
sizes and counters are those of torch's allocator; 32 bytes are added to every request, as on Ascend devices kernels may
read past the end.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from typing import Any

from mindtorch_npu.allocator import oom
from mindtorch_npu.allocator.blocks import Block, BlockPool
from mindtorch_npu.allocator.config import UNLIMITED, Config, from_environment
from mindtorch_npu.allocator.driver import AclDriver, Driver
from mindtorch_npu.allocator.expandable import ExpandableSegment
from mindtorch_npu.allocator.gate import Gate
from mindtorch_npu.allocator.history import History
from mindtorch_npu.allocator.reclaiming import Reclaiming
from mindtorch_npu.allocator.sizes import MIN_BLOCK, SMALL, round_size, segment_size
from mindtorch_npu.allocator.snapshot import Snapshot, segments_of
from mindtorch_npu.allocator.statistics import FlatStatistics, Statistics

UNCACHED = "PYTORCH_NO_NPU_MEMORY_CACHING"
LARGEST = 1 << 60
"""Requests of so many bytes are refused unasked."""


class NpuAllocator(Reclaiming):
    """The caching allocator of one device. Thread safe."""

    def __init__(self, device_id: int = 0, driver: Driver | None = None, config: Config | None = None) -> None:
        self.device_id = device_id
        self.driver = driver if driver is not None else AclDriver(device_id)
        self.config = from_environment() if config is None else config
        self.stats = Statistics()
        self._stats = FlatStatistics(self.stats)
        self.history = History()
        self.observers: list[Callable[[int, int, int, int], None]] = []
        self._gate = Gate(self._free)
        self._pools: dict[tuple[int, int], tuple[BlockPool, BlockPool]] = {}
        self._pools[0, 0] = (BlockPool(True), BlockPool(False))
        self._routes: list[tuple[tuple[int, int], Callable[[int], bool]]] = []
        self._active: dict[int, Block] = {}
        self._ranges: dict[tuple[int, int], list[ExpandableSegment]] = {}
        self._segments: dict[int, tuple[Block, int]] = {}
        self._pending: dict[int, deque[tuple[Any, Block]]] = {}
        self._total = 0
        self.caching = not os.environ.get(UNCACHED)
        self._held: dict[tuple[int, int], int] = {}
        self._direct: dict[int, tuple[int, int]] = {}

    # -- requests -------------------------------------------------------------------------------------------------

    def malloc(self, size: int, stream: int = 0) -> int:
        """Return the address of `size` bytes for use on a stream, 0 for no bytes.

        Raises the out-of-memory error, or AclError when the device fails otherwise.
        """
        if size >= LARGEST:
            raise oom.too_large()
        if size <= 0:
            return 0
        frames = self.history.frames("alloc") if self.history.enabled else []
        with self._gate:
            owner = next((pool for pool, wanted in self._routes if wanted(stream)), (0, 0))
            if not self.caching and owner == (0, 0):  # a graph's pool keeps its addresses all the same
                return self._malloc_directly(size, stream)
            self._process_events()
            rounded = round_size(size, self.config)
            pool = self._pools[owner][0 if rounded <= SMALL else 1]
            block = self._find(pool, rounded, stream) or self._grow(pool, rounded, stream, frames)
            return self._take(block, rounded, size, frames).address

    def _malloc_directly(self, size: int, stream: int) -> int:
        address = self.driver.malloc(size) if self._within_fraction(size) else None
        if address is None:
            raise self._out_of_memory(size, size, stream, [])
        self._direct[address] = (size, stream)
        return int(address)

    def set_caching(self, value: bool) -> None:
        """Keep what is released for the next request, or not: then the device gives and takes every block itself."""
        with self._gate:
            self.caching = value

    def _find(self, pool: BlockPool, size: int, stream: int) -> Block | None:
        collecting = self.config.garbage_collection_threshold > 0 and self._allowed is not None
        if collecting:
            for block in pool:
                block.age += 1
        block = pool.at_least(stream, size)
        if block is None:
            return None
        limit = self.config.max_split_size
        if size < limit <= block.size:
            return None
        if size >= limit and block.size >= size + self.config.max_non_split_rounding:
            return None
        block.age = 0
        pool.remove(block)
        return block

    def _grow(self, pool: BlockPool, size: int, stream: int, frames: list[dict[str, Any]]) -> Block:
        expandable = self._expandable()
        wanted = size if expandable else segment_size(size, self.config)
        if self.config.garbage_collection_threshold > 0 and self._allowed is not None:
            self._collect_garbage()
        allocate = self._expand if expandable else self._allocate_segment
        block = allocate(pool, wanted, stream, frames)
        if block is None and self.config.max_split_size < UNLIMITED and self._release_oversize(pool, wanted, stream):
            block = allocate(pool, wanted, stream, frames)
        if block is None:
            self.stats.counters["num_alloc_retries"] += 1
            self.driver.synchronize()
            self._release_cached()
            block = allocate(pool, wanted, stream, frames)
        if block is None:
            raise self._out_of_memory(wanted, size, stream, frames)
        return block

    def _allocate_segment(self, pool: BlockPool, size: int, stream: int, frames: list[dict[str, Any]]) -> Block | None:
        if not self._within_fraction(size):
            return None
        if self.config.throw_on_npumalloc_oom and self._allowed is None:
            total = self._device_total()
            if self._reserved + size > total:
                self.stats.counters["num_oom_rejections"] += 1
                raise oom.rejected(self.device_id, size, self._reserved, total)
        address = self.driver.malloc(size)
        if address is None:
            return None
        block = Block(address, size, stream, pool)
        self._segments[address] = (block, size)
        self.stats.rise("segment", pool.small, 1)
        self.stats.rise("reserved_bytes", pool.small, size)
        self.stats.counters["num_device_alloc"] += 1
        if size >= self.config.max_split_size:
            self.stats.single["oversize_segments"].rise(1)
        self.history.add("segment_alloc", address, size, stream, frames, pool.owner)
        return block

    def _take(self, block: Block, size: int, requested: int, frames: list[dict[str, Any]]) -> Block:
        small = block.pool.small
        was_split = block.is_split
        remaining = block.size - size
        counted = block.segment is None
        fits = (
            remaining >= MIN_BLOCK if small or not counted else size < self.config.max_split_size and remaining > SMALL
        )
        if fits:
            rest = Block(block.address + size, remaining, block.stream, block.pool)
            rest.segment = block.segment
            rest.insert_after(block)
            block.size = size
            block.pool.insert(rest)
            if not counted:
                pass  # the split blocks of a range are not counted: it is one segment however much is mapped
            elif was_split:
                self.stats.fall("inactive_split_bytes", small, size)
            else:
                self.stats.rise("inactive_split_bytes", small, remaining)
                self.stats.rise("inactive_split", small, 1)
        elif was_split and counted:
            self.stats.fall("inactive_split_bytes", small, block.size)
            self.stats.fall("inactive_split", small, 1)
        block.allocated, block.requested, block.frames = True, requested, frames
        self._active[block.address] = block
        for name, amount in block.amounts():
            self.stats.rise(name, small, amount)
        if block.size >= self.config.max_split_size:
            self.stats.single["oversize_allocations"].rise(1)
        self.history.add("alloc", block.address, requested, block.stream, frames, block.pool.owner)
        return block

    # -- releases -------------------------------------------------------------------------------------------------

    def free(self, address: int) -> None:
        """Take a block back, when streams that used it have done so far what they were told. 0 is ignored.

        Raises RuntimeError for an address that was not given out.
        """
        if address == 0:
            return
        with self._gate:
            self._free(address)

    def drop(self, address: int) -> None:
        """As `free`, from a finalizer: done at once, or when the call that it interrupts is over. Never waits."""
        if address:
            self._gate.leave(address)

    def _free(self, address: int) -> None:
        frames = self.history.frames("free") if self.history.enabled else []
        if address in self._direct:
            del self._direct[address]
            self.driver.synchronize()  # the device takes it back at once, whoever is still using it
            self.driver.free(address)
            return
        block = self._active.get(address)
        if block is None or not block.allocated:
            raise RuntimeError(f"invalid device pointer: {address:#x}")
        block.allocated = False
        self.stats.fall("allocation", block.pool.small, 1)
        self.stats.fall("allocated_bytes", block.pool.small, block.size)
        if block.size >= self.config.max_split_size:
            self.stats.single["oversize_allocations"].fall(1)
        self.history.add("free_requested", address, block.requested, block.stream, frames, block.pool.owner)
        if block.uses:
            uses, block.uses = block.uses, set()
            for stream in sorted(uses):
                block.events += 1
                self._pending.setdefault(stream, deque()).append((self.driver.record(stream), block))
        else:
            self._release(block, frames)

    def record_stream(self, address: int, stream: int) -> None:
        """Remember that a stream uses the block in which `address` lies. Raises RuntimeError for a foreign address."""
        if address == 0 or address in self._direct:
            return
        with self._gate:
            self.block_of(address).uses.add(stream)

    def erase_stream(self, address: int, stream: int) -> None:
        """Forget that a stream uses a block. Raises RuntimeError for a foreign address."""
        if address and address not in self._direct:
            with self._gate:
                self.block_of(address).uses.discard(stream)

    def owns(self, address: int) -> bool:
        """Return whether a block in use begins at `address`."""
        return address in self._active or address in self._direct

    def block_of(self, address: int) -> Block:
        """Return the block in use in which `address` lies; RuntimeError when there is none."""
        block = self._active.get(address)
        if block is None:
            found = (b for b in self._active.values() if b.address <= address < b.address + b.size)
            block = next(found, None)
        if block is None or not block.allocated:
            raise RuntimeError(f"invalid device pointer: {address:#x}")
        return block

    def _release(self, block: Block, frames: list[dict[str, Any]]) -> None:
        small, pool = block.pool.small, block.pool
        self.history.add("free_completed", block.address, block.requested, block.stream, frames, pool.owner)
        self.stats.fall("active", small, 1)
        self.stats.fall("active_bytes", small, block.size)
        self.stats.fall("requested_bytes", small, block.requested)
        del self._active[block.address]
        block.requested = 0
        block.frames = []
        for other in (block.prev, block.next):
            if other is not None and other.free:
                if block.segment is None:
                    self.stats.fall("inactive_split", small, 1)
                    self.stats.fall("inactive_split_bytes", small, other.size)
                pool.remove(other)
                block = self._merge(block, other)
        pool.insert(block)
        if block.is_split and block.segment is None:
            self.stats.rise("inactive_split", small, 1)
            self.stats.rise("inactive_split_bytes", small, block.size)

    def _merge(self, block: Block, other: Block) -> Block:
        """Join a free neighbour to a block and return the block that stands for both."""
        front, back = (other, block) if other is block.prev else (block, other)
        front.size += back.size
        front.next = back.next
        if front.next is not None:
            front.next.prev = front
        return front

    def _process_events(self) -> None:
        for stream in list(self._pending):
            queue = self._pending[stream]
            while queue and self.driver.complete(queue[0][0]):
                self._event_passed(queue.popleft()[1])
            if not queue:
                del self._pending[stream]

    def _event_passed(self, block: Block) -> None:
        block.events -= 1
        if block.events == 0:
            self._release(block, [])

    def _synchronize_events(self) -> None:
        self.stats.counters["num_sync_all_streams"] += 1
        pending, self._pending = self._pending, {}
        for queue in pending.values():
            for event, block in queue:
                self.driver.wait(event)
                self._event_passed(block)

    def forget_events(self) -> None:
        """Give up the events that memory waits for, at the end of the process."""
        pending, self._pending = self._pending, {}
        for queue in pending.values():
            for event, _ in queue:
                self.driver.forget(event)

    # -- giving memory back to the device ---------------------------------------------------------------------------

    def empty_cache(self) -> None:
        """Give every segment back of which nothing is in use."""
        with self._gate:
            self._release_cached()

    def _release_cached(self) -> None:
        self._synchronize_events()
        for owner, pools in self._pools.items():
            for pool in pools if owner not in self._held else ():
                for block in pool:
                    if not block.is_split and block.segment is None:
                        self._free_segment(block)
        self._unmap()
        used = {route[0] for route in self._routes} | {block.pool.owner for block, _ in self._segments.values()}
        used |= {segment.pool.owner for ranges in self._ranges.values() for segment in ranges}
        for owner in [owner for owner in self._pools if owner != (0, 0) and owner not in used]:
            del self._pools[owner]

    def _free_segment(self, block: Block) -> None:
        block.pool.remove(block)
        del self._segments[block.address]
        self.driver.free(block.address)
        self.stats.fall("segment", block.pool.small, 1)
        self.stats.fall("reserved_bytes", block.pool.small, block.size)
        self.stats.counters["num_device_free"] += 1
        if block.size >= self.config.max_split_size:
            self.stats.single["oversize_segments"].fall(1)
        frames = self.history.frames("free") if self.history.enabled else []
        self.history.add("segment_free", block.address, block.size, block.stream, frames, block.pool.owner)

    # -- reports -----------------------------------------------------------------------------------------

    def memory_stats(self) -> dict[str, Any]:
        """Return the counters as a nested dictionary."""
        with self._gate:
            limit = self.config.max_split_size
            nested = self.stats.nested(-1 if limit >= UNLIMITED else limit)
            private = {key for key in self._pools if key != (0, 0)}
            if private:
                nested["reserved_bytes_by_private_pools"] = {
                    f"{a}_{b}": {"current": sum(s for k, s in self._segments.values() if k.pool.owner == (a, b))}
                    for a, b in sorted(private)
                }
            return nested

    def reset_accumulated_memory_stats(self) -> None:
        """Let the sums of the counters begin anew."""
        with self._gate:
            self.stats.reset_accumulated()

    def reset_peak_memory_stats(self) -> None:
        """Let the peaks be the present values."""
        with self._gate:
            self.stats.reset_peak()

    def snapshot(self) -> Snapshot:
        """Return the segments with their blocks, by address."""
        with self._gate:
            runs = [run for ranges in self._ranges.values() for segment in ranges for run in segment.runs()]
            return Snapshot(segments_of(self.device_id, self._segments, runs), self.device_id)

    # -- private pools ----------------------------------------------------------------------------------------------

    def begin_pool(self, pool: tuple[int, int], wanted: Callable[[int], bool]) -> None:
        """Serve requests for streams that `wanted` accepts from a pool of their own."""
        with self._gate:
            self._pools.setdefault(pool, (BlockPool(True, pool), BlockPool(False, pool)))
            self._routes.insert(0, (pool, wanted))

    def hold_pool(self, pool: tuple[int, int]) -> None:
        """Keep a pool's memory, used or not, until `drop_pool` was called as often."""
        with self._gate:
            self._held[pool] = self._held.get(pool, 0) + 1

    def drop_pool(self, pool: tuple[int, int]) -> None:
        """Let a pool's memory go when it is not used."""
        with self._gate:
            self._held[pool] -= 1
            if not self._held[pool]:
                del self._held[pool]

    def end_pool(self, pool: tuple[int, int]) -> None:
        """Serve no more requests from a pool; its blocks stay. Raises RuntimeError for a pool not begun."""
        with self._gate:
            for place, (owner, _) in enumerate(self._routes):
                if owner == pool:
                    del self._routes[place]
                    return
        raise RuntimeError(f"no pool {pool} is in use")

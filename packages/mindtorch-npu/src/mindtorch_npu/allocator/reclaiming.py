"""How an allocator gets memory by growing a range, and gives memory back before it is asked for all of it."""

from __future__ import annotations

from typing import Any

from mindtorch_npu.allocator.blocks import Block, BlockPool
from mindtorch_npu.allocator.expandable import ExpandableSegment, up
from mindtorch_npu.allocator.limiting import Limiting


class Reclaiming(Limiting):
    """The part of the caching allocator that maps and unmaps ranges and collects what is old or oversize."""

    driver: Any
    _ranges: dict[tuple[int, int], list[ExpandableSegment]]
    _pools: dict[tuple[int, int], tuple[BlockPool, BlockPool]]

    def _free_segment(self, block: Block) -> None:
        raise NotImplementedError

    def _expand(self, pool: BlockPool, size: int, stream: int, frames: list[dict[str, Any]]) -> Block | None:
        """Return a free block of `size` or more by mapping memory to a range of the stream and pool."""
        ranges = self._ranges.setdefault((id(pool), stream), [])
        found = next(((one, room) for one in ranges if (room := one.missing(size)) is not None), None)
        if found is None:
            made = ExpandableSegment(self.driver, self._device_total(), stream, pool)
            ranges.append(made)
            self.stats.rise("segment", pool.small, 1)
            found = (made, (made.first, up(size, made.chunk)))
        segment, (hole, wanted) = found
        if not self._within_fraction(wanted):
            return None
        address = hole.address
        block = segment.fill(hole, wanted)
        if block is None:
            return None
        self.stats.rise("reserved_bytes", pool.small, wanted)
        self.stats.counters["num_device_alloc"] += 1
        self.history.add("segment_map", address, wanted, stream, frames, pool.owner)
        return block

    def _unmap(self) -> None:
        """Unmap every chunk in which nothing is, and give up ranges without any left."""
        for key, ranges in list(self._ranges.items()):
            for segment in list(ranges):
                small = segment.pool.small
                for block in [block for block in segment.blocks() if block.free]:
                    begin, size = block.address, segment.empty(block)
                    if size:
                        self.stats.fall("reserved_bytes", small, size)
                        self.stats.counters["num_device_free"] += 1
                        self.history.add("segment_unmap", begin, size, segment.stream, [], segment.pool.owner)
                if not segment.mapped:
                    self.driver.unreserve(segment.base)
                    self.stats.fall("segment", small, 1)
                    ranges.remove(segment)
            if not ranges:
                del self._ranges[key]

    def _expandable(self) -> bool:
        return self.config.expandable_segments and bool(getattr(self.driver, "expandable", False))

    def _release_oversize(self, pool: BlockPool, wanted: int, stream: int) -> bool:
        wanted = max(wanted, self.config.max_split_size)
        own = [block for block in pool if block.stream == stream and not block.is_split and block.segment is None]
        enough = next((block for block in own if block.size >= wanted), None)
        if enough is not None:
            self._free_segment(enough)
            return True
        freed = 0
        for block in reversed(own):
            if block.size < self.config.max_split_size or freed >= wanted:
                break
            freed += block.size
            self._free_segment(block)
        return freed >= wanted

    def _collect_garbage(self) -> None:
        allowed = self._allowed or 0
        threshold = int(self.config.garbage_collection_threshold * allowed)
        if self._reserved <= threshold:
            return
        self.driver.synchronize()
        target, reclaimed, freed = self._reserved - threshold, 0, True
        large = self._pools[0, 0][1]
        while reclaimed < target and freed:
            candidates = [block for block in large if not block.is_split and block.segment is None]
            if not candidates:
                return
            limit = sum(block.age for block in candidates) / len(candidates)
            freed = False
            for block in candidates:
                if block.age >= limit and block.age > 0:
                    reclaimed += block.size
                    freed = True
                    self._free_segment(block)

"""Segments that grow: a range of addresses to which physical memory is mapped in chunks as it is needed.

A range belongs to one stream and pool. Blocks of it are chained over all its addresses; those without physical memory
are holes (`mapped` is False): the end that was not yet needed, and what was unmapped when nothing was in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mindtorch_npu.allocator.blocks import Block, BlockPool

SMALL_CHUNK, LARGE_CHUNK = 2 << 20, 20 << 20


def up(size: int, step: int) -> int:
    """Return the next multiple of `step`."""
    return -(-size // step) * step


class ExpandableSegment:
    """One range of addresses and the blocks on it."""

    def __init__(self, driver: Any, total: int, stream: int, pool: BlockPool) -> None:
        self.driver = driver
        self.chunk = SMALL_CHUNK if pool.small else LARGE_CHUNK
        self.size = up(total * 9 // 8, self.chunk)
        self.base = driver.reserve(self.size)
        self.stream, self.pool = stream, pool
        self.mapped = 0
        self.first = self._hole(self.base, self.size)

    def _hole(self, address: int, size: int) -> Block:
        made = Block(address, size, self.stream, self.pool)
        made.segment, made.mapped = self, False
        return made

    def blocks(self) -> Iterator[Block]:
        """Yield the blocks and holes in order."""
        block: Block | None = self.first
        while block is not None:
            yield block
            block = block.next

    def runs(self) -> Iterator[list[Block]]:
        """Yield the blocks between two holes, which is what a snapshot calls a segment."""
        run: list[Block] = []
        for block in self.blocks():
            if block.mapped:
                run.append(block)
            elif run:
                yield run
                run = []
        if run:
            yield run

    def missing(self, size: int) -> tuple[Block, int] | None:
        """Return the first hole that can be made a block of `size` with the free block before it, and how much to map."""
        for block in self.blocks():
            if block.mapped:
                continue
            before = block.prev.size if block.prev is not None and block.prev.free else 0
            wanted = up(size - before, self.chunk)
            if wanted <= block.size:
                return block, wanted
        return None

    def fill(self, hole: Block, size: int) -> Block | None:
        """Map memory to the front of a hole; return it joined with free neighbours, None when the device has none."""
        for place in range(0, size, self.chunk):
            if not self.driver.map(hole.address + place, self.chunk):
                for undone in range(0, place, self.chunk):
                    self.driver.unmap(hole.address + undone, self.chunk)
                return None
        self.mapped += size
        made = Block(hole.address, size, self.stream, self.pool)
        made.segment = self
        self._insert_before(made, hole)
        hole.address, hole.size = hole.address + size, hole.size - size
        if not hole.size:
            self._drop(hole)
        for other in (made.prev, made.next):
            if other is not None and other.free:
                self.pool.remove(other)
                made = self._joined(made, other)
        return made

    def _insert_before(self, made: Block, block: Block) -> None:
        made.prev, made.next = block.prev, block
        if made.prev is not None:
            made.prev.next = made
        else:
            self.first = made
        block.prev = made

    def _drop(self, block: Block) -> None:
        if block.prev is not None:
            block.prev.next = block.next
        elif block.next is not None:
            self.first = block.next
        if block.next is not None:
            block.next.prev = block.prev

    def _joined(self, one: Block, other: Block) -> Block:
        front, back = (other, one) if other is one.prev else (one, other)
        front.size += back.size
        self._drop(back)
        return front

    def empty(self, block: Block) -> int:
        """Unmap the chunks that lie entirely within a free block and return how many bytes that were."""
        begin = self.base + up(block.address - self.base, self.chunk)
        end = self.base + (block.address + block.size - self.base) // self.chunk * self.chunk
        if end <= begin:
            return 0
        for address in range(begin, end, self.chunk):
            self.driver.unmap(address, self.chunk)
        self.mapped -= end - begin
        self.pool.remove(block)
        rest = block.address + block.size - end
        hole = self._hole(begin, end - begin)
        block.size = begin - block.address
        hole.insert_after(block)
        if rest:
            back = Block(end, rest, self.stream, self.pool)
            back.segment = self
            back.insert_after(hole)
            self.pool.insert(back)
        if block.size:
            self.pool.insert(block)
        else:
            self._drop(block)
        for other in (hole.prev, hole.next):
            if other is not None and not other.mapped:
                hole = self._joined(hole, other)
        return int(end - begin)

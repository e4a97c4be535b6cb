"""Blocks of device memory, and pools of free ones in best-fit order."""

from __future__ import annotations

import bisect
from typing import Any


class Block:
    """A piece of a segment: in use, waiting for events, or free. `prev` and `next` are its neighbours there."""

    __slots__ = (
        "address",
        "age",
        "allocated",
        "events",
        "frames",
        "mapped",
        "next",
        "pool",
        "prev",
        "requested",
        "segment",
        "size",
        "stream",
        "uses",
    )

    def __init__(self, address: int, size: int, stream: int, pool: BlockPool) -> None:
        self.address = address
        self.size = size
        self.stream = stream
        self.pool = pool
        self.requested = 0
        self.allocated = False
        self.events = 0
        self.age = 0
        self.uses: set[int] = set()
        self.prev: Block | None = None
        self.next: Block | None = None
        self.frames: list[dict[str, Any]] = []
        self.mapped = True
        self.segment: Any = None

    @property
    def is_split(self) -> bool:
        """True when the segment holds other blocks too."""
        return self.prev is not None or self.next is not None

    @property
    def free(self) -> bool:
        """True when nobody uses the block or has still to finish with it."""
        return self.mapped and not (self.allocated or self.events or self.uses)

    @property
    def state(self) -> str:
        """The block's state in the words of snapshots."""
        return "active_allocated" if self.allocated else "inactive" if self.free else "active_pending_free"

    def amounts(self) -> list[tuple[str, int]]:
        """Return by how much giving the block out raises each counter."""
        return [
            ("allocation", 1),
            ("allocated_bytes", self.size),
            ("active", 1),
            ("active_bytes", self.size),
            ("requested_bytes", self.requested),
        ]

    def insert_after(self, block: Block) -> None:
        """Stand behind another block of the segment from now on."""
        self.prev, self.next = block, block.next
        if self.next is not None:
            self.next.prev = self
        block.next = self

    @property
    def first(self) -> Block:
        """The segment's first block."""
        block = self
        while block.prev is not None:
            block = block.prev
        return block


class BlockPool:
    """The free blocks of one kind, ordered by stream, size and address."""

    def __init__(self, small: bool, owner: tuple[int, int] = (0, 0)) -> None:
        self.small = small
        self.owner = owner
        self._keys: list[tuple[int, int, int]] = []
        self._blocks: dict[int, Block] = {}

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Any:
        return iter([self._blocks[key[2]] for key in self._keys])

    def __contains__(self, block: Block) -> bool:
        return self._blocks.get(block.address) is block

    def insert(self, block: Block) -> None:
        """Add a free block."""
        bisect.insort(self._keys, (block.stream, block.size, block.address))
        self._blocks[block.address] = block

    def remove(self, block: Block) -> None:
        """Take a block out."""
        place = bisect.bisect_left(self._keys, (block.stream, block.size, block.address))
        del self._keys[place]
        del self._blocks[block.address]

    def at_least(self, stream: int, size: int) -> Block | None:
        """Return the smallest block of a stream with `size` bytes or more, None when there is none."""
        place = bisect.bisect_left(self._keys, (stream, size, 0))
        if place == len(self._keys) or self._keys[place][0] != stream:
            return None
        return self._blocks[self._keys[place][2]]

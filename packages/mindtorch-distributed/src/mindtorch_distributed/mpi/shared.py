"""Reductions of large arrays among processes of one host, through memory that all of them map.

Every rank copies a block of its array into memory of its own, reduces its part of the blocks of all, and copies the
parts of the others back. Two blocks take turns, so that one is written while others still read the one before. The
memory has no name: it goes with the processes.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from mindtorch_distributed import engine
from mindtorch_distributed.engine import Array, Request

BLOCK = 1 << 23
"""Bytes of an array that are reduced at once."""
LEAST = 1 << 20
"""Bytes from which on this is faster than MPI's own."""

_COMBINE: dict[str, Callable[..., Any]] = {
    engine.SUM: np.add,
    engine.PRODUCT: np.multiply,
    engine.MIN: np.minimum,
    engine.MAX: np.maximum,
    engine.BAND: np.bitwise_and,
    engine.BOR: np.bitwise_or,
    engine.BXOR: np.bitwise_xor,
}


class Steps:
    """A request of several, each of which is started when the one before is done."""

    def __init__(self, requests: Iterator[Request]) -> None:
        self._requests, self._current = requests, next(requests, None)

    def test(self) -> bool:
        """Go on as far as possible; return whether all is done."""
        while self._current is not None:
            if not self._current.test():
                return False
            self._current = next(self._requests, None)
        return True

    def finish(self) -> None:
        """Return when all is done."""
        while self._current is not None:
            self._current.finish()
            self._current = next(self._requests, None)

    def source(self) -> int:
        """No message came."""
        return -1


class Board:
    """The memory of all ranks of a communicator."""

    def __init__(self, rank: int, places: list[tuple[int, int]], own: int, barrier: Callable[[], Request]) -> None:
        self._rank, self._size, self._barrier = rank, len(places), barrier
        self._turn = 0  # goes on from one operation to the next, whose first block others may not expect yet
        self._memory = [
            np.frombuffer(self._map(own if other == rank else None, *place), np.uint8)
            for other, place in enumerate(places)
        ]

    @staticmethod
    def _map(own: int | None, pid: int, descriptor: int) -> mmap.mmap:
        opened = os.open(f"/proc/{pid}/fd/{descriptor}", os.O_RDWR) if own is None else own
        try:
            return mmap.mmap(opened, 2 * BLOCK)
        finally:
            if own is None:
                os.close(opened)

    def _blocks(self, array: Array) -> Iterator[tuple[int, int, list[Array]]]:
        """The start and the length of every block of a rank's part, and the memory of all as (ranks, length)."""
        part, dtype = array.size // self._size, array.dtype
        step = max(BLOCK // self._size // dtype.itemsize, 1)
        for start in range(0, part, step):
            length = min(step, part - start)
            place, self._turn = self._turn * BLOCK, 1 - self._turn
            count = self._size * length * dtype.itemsize
            views = [memory[place : place + count].view(dtype).reshape(self._size, length) for memory in self._memory]
            yield start, length, views

    def _reduced(self, array: Array, reduction: str, done: Callable[[int, int, list[Array]], None]) -> Iterator[Any]:
        combine, parts, own = _COMBINE[reduction], array.reshape(self._size, -1), self._rank
        for start, length, views in self._blocks(array):
            views[own][...] = parts[:, start : start + length]
            yield self._barrier()
            target = views[own][own]
            for other, view in enumerate(views):
                if other != own:
                    combine(target, view[own], out=target)
            done(start, length, views)
            yield None

    def reduce_scatter(self, output: Array, array: Array, reduction: str) -> Request:
        """Reduce the arrays of all, and give each rank its part."""

        def done(start: int, length: int, views: list[Array]) -> None:
            output[start : start + length] = views[self._rank][self._rank]

        return Steps(request for request in self._reduced(array, reduction, done) if request is not None)

    def all_reduce(self, array: Array, reduction: str) -> Request:
        """Reduce the arrays of all, in place. The array divides into equal parts."""
        parts = array.reshape(self._size, -1)
        block: list[Any] = []

        def done(start: int, length: int, views: list[Array]) -> None:
            block[:] = [slice(start, start + length), views]

        def requests() -> Iterator[Request]:
            for request in self._reduced(array, reduction, done):
                if request is not None:
                    yield request
                    continue
                yield self._barrier()
                place, views = block
                for other, view in enumerate(views):
                    parts[other, place] = view[other]

        return Steps(requests())

"""Reductions of large arrays among processes of one host, each of which reads and writes the memory of the others.

A rank reduces its own part of the array with what it reads of the others, block by block, and writes each result to the
others at once. So everything that a block needs is still in the processor's cache: every array passes through it once. All
wait for each other twice, however long the array is, which is what counts where processors have more to do.

The kernel lets a process read and write another's memory that might also trace it. Where a security module allows that
to ancestors only, each process allows it to what its parent has started: the ranks of one launcher.
"""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from mindtorch_distributed import order
from mindtorch_distributed.engine import Array, PeerEndedError, Request

BLOCK = 1 << 18
"""Bytes that are read, reduced and written at once: several such blocks fit into the second cache of a core."""
_SET_TRACER = 0x59616D61


class _Bytes(ctypes.Structure):
    _fields_ = (("start", ctypes.c_void_p), ("count", ctypes.c_size_t))


class Steps:
    """A request of several, each of which is started when the one before is done.

    Others may read and write its arrays until it is done, also when nobody waits for it any more: it stays till then.
    """

    def __init__(self, requests: Iterator[Request], *kept: Array) -> None:
        self._requests, self._current, self._kept = requests, next(requests, None), kept
        _underway.add(self)

    def _go_on(self) -> None:
        self._current = next(self._requests, None)
        if self._current is None:
            _underway.discard(self)

    def test(self) -> bool:
        """Go on as far as possible; return whether all is done."""
        while self._current is not None:
            if not self._current.test():
                return False
            self._go_on()
        return True

    def finish(self) -> None:
        """Return when all is done."""
        while self._current is not None:
            self._current.finish()
            self._go_on()

    def source(self) -> int:
        """No message came."""
        return -1


_underway: set[Steps] = set()


def allow() -> bool:
    """Let processes with this one's parent use its memory; return whether this system knows such reads and writes."""
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "process_vm_readv") or not hasattr(libc, "process_vm_writev"):
        return False
    # Fails where no security module asks for it, and there it is not needed.
    libc.prctl(_SET_TRACER, ctypes.c_ulong(os.getppid()), 0, 0, 0)
    return True


class Direct:
    """Reductions of the ranks of a communicator, whose processes are `processes`.

    `tell` gives every rank's two numbers to all: a rank that knows all numbers knows that all have come so far.
    """

    def __init__(self, rank: int, processes: Sequence[int], tell: Callable[[Array, Array], Request],
                 barrier: Callable[[], Request]) -> None:  # fmt: skip
        self._rank, self._size, self._processes = rank, len(processes), processes
        self._tell, self._barrier = tell, barrier
        libc = ctypes.CDLL(None, use_errno=True)
        self._read, self._write = libc.process_vm_readv, libc.process_vm_writev
        self._read.restype = self._write.restype = ctypes.c_ssize_t
        self._rooms = np.empty((2, BLOCK), np.uint8)

    def read(self, target: Array, rank: int, address: int) -> None:
        """Copy a rank's bytes at `address` to an array. PeerEndedError when it has ended, OSError when it must not be read."""
        self._move(self._read, target, rank, address)

    def write(self, given: Array, rank: int, address: int) -> None:
        """Copy an array to a rank's bytes at `address`; errors as those of `read`."""
        self._move(self._write, given, rank, address)

    def _move(self, function: Any, array: Array, rank: int, address: int) -> None:
        here, there = _Bytes(array.ctypes.data, array.nbytes), _Bytes(address, array.nbytes)
        pid = self._processes[rank]
        count = function(pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0)
        if count == array.nbytes:
            return
        code = ctypes.get_errno() if count < 0 else errno.EFAULT
        if code == errno.ESRCH:
            raise PeerEndedError([rank])
        raise OSError(code, f"the memory of process {pid} cannot be used: {os.strerror(code)}")

    def _meet(self, places: Array, array: Array) -> Request:
        """Tell all where this rank's array is, and how long; learn the same of all."""
        return self._tell(places.reshape(-1), np.array([array.ctypes.data, array.nbytes], np.int64))

    def _reduce_part(self, target: Array, array: Array, start: int, places: Array, reduction: str) -> Iterator[int]:
        """Reduce the part of the arrays of all that begins at `start` into `target`, block by block; yield their ends."""
        silent = np.flatnonzero(places[:, 0] == 0).tolist()
        if silent:  # where a process ends, MPI ends a meeting without what it had to tell
            raise PeerEndedError(silent)
        lengths = places[:, 1].tolist()
        if len(set(lengths)) > 1:
            raise ValueError(f"the arrays of the ranks have different numbers of bytes: {lengths}")
        combine, width = order.combine(array.dtype, reduction), array.itemsize
        step = BLOCK // width
        for low, high, owner in order.pieces(start, start + target.size, order.owned(array.size, width, self._size)):
            for begin in range(low, high, step):
                end = min(begin + step, high)
                self._reduce_block(target[begin - start : end - start], array, (begin, end), owner, places, combine)
                yield end - start

    def _reduce_block(self, target: Array, array: Array, block: tuple[int, int], owner: int, places: Array,
                      combine: order.Combine) -> None:  # fmt: skip
        so_far: Array | None = None
        *_, last = ranks = order.ranks_in_order(owner, self._size)
        rooms = [room[: target.nbytes].view(array.dtype) for room in self._rooms]
        for rank in ranks:
            value = array[slice(*block)]
            if rank != self._rank:
                value = rooms[0 if so_far is None else 1]
                self.read(value, rank, int(places[rank, 0]) + block[0] * array.itemsize)
            if so_far is None:
                so_far = value
            else:
                with np.errstate(all="ignore"):
                    so_far = combine(value, so_far, out=target if rank == last else rooms[0])

    def reduce_scatter(self, output: Array, array: Array, reduction: str) -> Request:
        """Reduce the arrays of all, and give each rank its part. The array divides into equal parts."""

        def requests() -> Iterator[Request]:
            places = np.zeros((self._size, 2), np.int64)
            yield self._meet(places, array)
            for _ in self._reduce_part(output, array, self._rank * output.size, places, reduction):
                pass
            yield self._barrier()

        return Steps(requests(), array)

    def all_reduce(self, array: Array, reduction: str) -> Request:
        """Reduce the arrays of all, in place. Only its owner reads and writes a part of them."""
        count = order.owned(array.size, array.itemsize, self._size)
        start = min(self._rank * count, array.size)
        own = array[start : start + count]

        def requests() -> Iterator[Request]:
            places = np.zeros((self._size, 2), np.int64)
            yield self._meet(places, array)
            done = 0
            for end in self._reduce_part(own, array, start, places, reduction):
                for rank, place in enumerate(places[:, 0]):
                    if rank != self._rank:
                        self.write(own[done:end], rank, int(place) + (start + done) * array.itemsize)
                done = end
            yield self._barrier()

        return Steps(requests(), array)

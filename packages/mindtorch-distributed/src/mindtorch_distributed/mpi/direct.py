"""Reductions of large arrays among processes of one host, each of which reads the memory of the others.

A rank reduces its own part of the array with what it reads of the others, block by block, so that what it reads stays in
the processor's cache; then it reads the parts that the others have reduced. All wait for each other three times, however
long the array is, which is what counts where processors have more to do.

The kernel lets a process read another's memory that might also trace it. Where a security module allows that to
ancestors only, each process allows it to what its parent has started: the ranks of one launcher.
"""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from mindtorch_distributed import engine
from mindtorch_distributed.engine import Array, PeerEndedError, Request

BLOCK = 1 << 19
"""Bytes that are read and reduced at once."""
LEAST = 1 << 20
"""Bytes from which on this is faster than MPI's own."""
_SET_TRACER = 0x59616D61

_COMBINE: dict[str, np.ufunc] = {
    engine.SUM: np.add,
    engine.PRODUCT: np.multiply,
    engine.MIN: np.minimum,
    engine.MAX: np.maximum,
    engine.BAND: np.bitwise_and,
    engine.BOR: np.bitwise_or,
    engine.BXOR: np.bitwise_xor,
}


class _Bytes(ctypes.Structure):
    _fields_ = (("start", ctypes.c_void_p), ("count", ctypes.c_size_t))


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


def allow() -> bool:
    """Let processes with this one's parent read its memory; return whether this system knows such reads."""
    libc = ctypes.CDLL(None)
    if not hasattr(libc, "process_vm_readv"):
        return False
    # Fails where no security module asks for it, and there it is not needed.
    libc.prctl(_SET_TRACER, ctypes.c_ulong(os.getppid()), 0, 0, 0)
    return True


class Direct:
    """Reductions of the ranks of a communicator, whose processes are `processes`.

    `tell` gives every rank's number to all: a rank that knows all numbers knows that all have come so far.
    """

    def __init__(self, rank: int, processes: Sequence[int], tell: Callable[[Array, int], Request],
                 barrier: Callable[[], Request]) -> None:  # fmt: skip
        self._rank, self._size, self._processes = rank, len(processes), processes
        self._tell, self._barrier = tell, barrier
        self._read = ctypes.CDLL(None, use_errno=True).process_vm_readv
        self._read.restype = ctypes.c_ssize_t
        self._room = np.empty(BLOCK, np.uint8)

    def read(self, target: Array, rank: int, address: int) -> None:
        """Copy a rank's bytes at `address` to an array. PeerEndedError when it has ended, OSError when it must not be read."""
        here, there = _Bytes(target.ctypes.data, target.nbytes), _Bytes(address, target.nbytes)
        pid = self._processes[rank]
        count = self._read(pid, ctypes.byref(here), 1, ctypes.byref(there), 1, 0)
        if count == target.nbytes:
            return
        code = ctypes.get_errno() if count < 0 else errno.EFAULT
        if code == errno.ESRCH:
            raise PeerEndedError([rank])
        raise OSError(code, f"the memory of process {pid} cannot be read: {os.strerror(code)}")

    def _reduce_own(self, target: Array, given: Array, addresses: Array, combine: np.ufunc) -> None:
        """Reduce this rank's part, `given`, with the same part of all others."""
        step = BLOCK // given.itemsize
        for start in range(0, given.size, step):
            first, result = given[start : start + step], target[start : start + step]
            room = self._room[: first.nbytes].view(first.dtype)
            skipped = (self._rank * given.size + start) * given.itemsize
            for other, address in enumerate(addresses):
                if other != self._rank:
                    self.read(room, other, int(address) + skipped)
                    first = combine(first, room, out=result)

    def reduce_scatter(self, output: Array, array: Array, reduction: str) -> Request:
        """Reduce the arrays of all, and give each rank its part."""
        own = array.reshape(self._size, -1)[self._rank]

        def requests() -> Iterator[Request]:
            addresses = np.empty(self._size, np.int64)
            yield self._tell(addresses, array.ctypes.data)
            self._reduce_own(output, own, addresses, _COMBINE[reduction])
            yield self._barrier()

        return Steps(requests())

    def all_reduce(self, array: Array, reduction: str) -> Request:
        """Reduce the arrays of all, in place. The array divides into equal parts."""
        parts = array.reshape(self._size, -1)

        def requests() -> Iterator[Request]:
            addresses = np.empty(self._size, np.int64)
            yield self._tell(addresses, array.ctypes.data)
            self._reduce_own(parts[self._rank], parts[self._rank], addresses, _COMBINE[reduction])
            yield self._barrier()
            for other, address in enumerate(addresses):
                if other != self._rank:
                    self.read(parts[other], other, int(address) + other * parts[other].nbytes)
            yield self._barrier()

        return Steps(requests())

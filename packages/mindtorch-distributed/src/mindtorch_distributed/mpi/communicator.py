"""Collectives by MPI. Every operation is started and looked at, so that a wait has an end when a process dies."""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import numpy as np

from mindtorch_distributed import engine
from mindtorch_distributed.engine import NAP, PROCESSORS, Array, Request, wait_until
from mindtorch_distributed.lane import LateError
from mindtorch_distributed.mpi.direct import LEAST, Direct, allow
from mindtorch_distributed.peers import Peer
from mindtorch_distributed.stores.base import DEFAULT_TIMEOUT

_NAMES = {
    engine.SUM: "SUM",
    engine.PRODUCT: "PROD",
    engine.MIN: "MIN",
    engine.MAX: "MAX",
    engine.BAND: "BAND",
    engine.BOR: "BOR",
    engine.BXOR: "BXOR",
}
_OF_TRUTH = {engine.SUM: "BOR", engine.MAX: "BOR", engine.PRODUCT: "BAND", engine.MIN: "BAND"}
_NUMPY: dict[str, Callable[..., Any]] = {
    engine.SUM: np.add,
    engine.PRODUCT: np.multiply,
    engine.MIN: np.minimum,
    engine.MAX: np.maximum,
}


class MpiRequest:
    """An operation of MPI, and the arrays that it uses, which stay until it is done."""

    def __init__(self, request: Any, status: Any, crowded: bool, *kept: Array | None) -> None:
        self._request, self._status, self._crowded, self._kept = request, status, crowded, kept
        _underway.add(self)

    def test(self) -> bool:
        """Return whether it is done, and bring it forward."""
        done = bool(self._request.Test(self._status))
        if done:
            _underway.discard(self)
        return done

    def finish(self) -> None:
        """Return when it is done. MPI's own wait keeps a processor busy, which must be there for it."""
        if not self._crowded:
            self._request.Wait(self._status)
            _underway.discard(self)
            return
        while not self.test():
            time.sleep(NAP)

    def source(self) -> int:
        """The rank that a message came from."""
        return int(self._status.Get_source())


_underway: set[MpiRequest] = set()
"""Operations that are not done. MPI brings all of them forward whenever it is called, from any thread, and writes into
their arrays, also when nobody waits for them any more since a process ended."""
ctypes.pythonapi.Py_IncRef(
    ctypes.py_object(_underway)
)  # threads are inside of MPI while the interpreter frees its modules


def _apart(array: Array, output: Array | None) -> Array:
    """An input without the memory of the output, which MPI asks for: a copy where they overlap."""
    return array.copy() if output is not None and np.may_share_memory(array, output) else array


class MpiCommunicator:
    """A communicator of MPI."""

    def __init__(self, mpi: Any, comm: Any, peers: Sequence[Peer] = (), timeout: timedelta = DEFAULT_TIMEOUT) -> None:
        self._mpi, self._comm, self._peers, self._timeout = mpi, comm, peers, timeout
        self.rank: int = comm.rank
        self.size: int = comm.size
        self._direct: Direct | None = None
        self._tried = False
        self._own: dict[tuple[np.dtype[Any], str], Any] = {}

    def _bytes(self, array: Array) -> list[Any]:
        return [array.view(np.uint8), self._mpi.BYTE]

    def _numbers(self, array: Array, reduction: str) -> tuple[list[Any], Any]:
        """The array as MPI takes it, and MPI's operation."""
        mpi = self._mpi
        if array.dtype == np.bool_:
            return [array.view(np.uint8), mpi.UINT8_T], getattr(mpi, _OF_TRUTH.get(reduction, _NAMES[reduction]))
        if array.dtype.kind in "iufc" and array.dtype.isbuiltin == 1 and array.dtype != np.float16:
            return [array, mpi._typedict[array.dtype.char]], getattr(mpi, _NAMES[reduction])
        return [array.view(np.uint16), mpi.UINT16_T], self._operation(array.dtype, reduction)

    def _operation(self, dtype: np.dtype[Any], reduction: str) -> Any:
        """An operation on numbers that MPI does not know: those of 16 bits, computed by numpy."""
        known = self._own.get((dtype, reduction))
        if known is None:
            combine = _NUMPY[reduction]

            def reduce(given: Any, result: Any, datatype: Any) -> None:
                target = np.frombuffer(result, dtype)
                combine(np.frombuffer(given, dtype), target, out=target)

            known = self._own[dtype, reduction] = self._mpi.Op.Create(reduce, commute=True)
        return known

    def _started(self, request: Any, *kept: Array | None) -> Request:
        return MpiRequest(request, self._mpi.Status(), self.size > PROCESSORS, *kept)

    def _readers(self, array: Array) -> Direct | None:
        """Who reads the memory of others, for arrays that are large and divide: all ranks decide alike."""
        if array.nbytes < LEAST or array.size % self.size or array.dtype == np.bool_:
            return None
        if not self._tried:
            self._tried = True
            self._direct = self._try_reading()
        return self._direct

    def _try_reading(self) -> Direct | None:
        """Let all ranks read a number of all others; None when one of them could not."""
        number = np.array([self.rank], np.int64)
        able = len({peer.host for peer in self._peers}) == 1 and allow()
        places = np.empty((self.size, 3), np.int64)
        self._wait(self.all_gather(places.reshape(-1), np.array([able, os.getpid(), number.ctypes.data], np.int64)))
        direct = Direct(self.rank, [int(pid) for pid in places[:, 1]], self._tell, self.barrier) if able else None
        if direct is not None and places[:, 0].all():
            try:
                for other, address in enumerate(places[:, 2]):
                    seen = np.full(1, -1, np.int64)
                    direct.read(seen, other, int(address))
                    able = able and int(seen[0]) == other
            except OSError:  # another name space of processes, or no permission: MPI carries the arrays
                able = False
        agreed = np.array([able], np.int8)
        self._wait(self.all_reduce(agreed, engine.MIN))
        return direct if agreed[0] else None

    def _wait(self, request: Request) -> None:
        """Return when a request is done; an error when a process that takes part has ended or is late."""
        if not wait_until(request, self._timeout.total_seconds(), self):
            raise LateError(self._timeout.total_seconds())

    def _tell(self, numbers: Array, own: int) -> Request:
        return self.all_gather(numbers, np.array([own], np.int64))

    def all_reduce(self, array: Array, reduction: str) -> Request:
        """See `Communicator`."""
        direct = self._readers(array)
        if direct is not None:
            return direct.all_reduce(array, reduction)
        buffer, operation = self._numbers(array, reduction)
        return self._started(self._comm.Iallreduce(self._mpi.IN_PLACE, buffer, operation), array)

    def reduce(self, array: Array, reduction: str, root: int) -> Request:
        """See `Communicator`."""
        buffer, operation = self._numbers(array, reduction)
        if self.rank == root:
            return self._started(self._comm.Ireduce(self._mpi.IN_PLACE, buffer, operation, root), array)
        return self._started(self._comm.Ireduce(buffer, None, operation, root), array)

    def broadcast(self, array: Array, root: int) -> Request:
        """See `Communicator`."""
        return self._started(self._comm.Ibcast(self._bytes(array), root), array)

    def all_gather(self, output: Array, array: Array) -> Request:
        """See `Communicator`."""
        array = _apart(array, output)
        return self._started(self._comm.Iallgather(self._bytes(array), self._bytes(output)), output, array)

    def gather(self, output: Array | None, array: Array, root: int) -> Request:
        """See `Communicator`."""
        array, target = _apart(array, output), None if output is None else self._bytes(output)
        return self._started(self._comm.Igather(self._bytes(array), target, root), output, array)

    def scatter(self, output: Array, array: Array | None, root: int) -> Request:
        """See `Communicator`."""
        array = None if array is None else _apart(array, output)
        given = None if array is None else self._bytes(array)
        return self._started(self._comm.Iscatter(given, self._bytes(output), root), output, array)

    def reduce_scatter(self, output: Array, array: Array, reduction: str) -> Request:
        """See `Communicator`."""
        array, direct = _apart(array, output), self._readers(array)
        if direct is not None:
            return direct.reduce_scatter(output, array, reduction)
        buffer, operation = self._numbers(array, reduction)
        target, _ = self._numbers(output, reduction)
        return self._started(self._comm.Ireduce_scatter_block(buffer, target, operation), output, array)

    def all_to_all(self, output: Array, received: Sequence[int], array: Array, sent: Sequence[int]) -> Request:
        """See `Communicator`."""
        array, size = _apart(array, output), array.dtype.itemsize
        given = [array.view(np.uint8), ([n * size for n in sent], None), self._mpi.BYTE]
        target = [output.view(np.uint8), ([n * size for n in received], None), self._mpi.BYTE]
        return self._started(self._comm.Ialltoallv(given, target), output, array)

    def barrier(self) -> Request:
        """See `Communicator`."""
        return self._started(self._comm.Ibarrier())

    def send(self, array: Array, rank: int, tag: int) -> Request:
        """See `Communicator`."""
        return self._started(self._comm.Isend(self._bytes(array), rank, tag), array)

    def receive(self, array: Array, rank: int | None, tag: int) -> Request:
        """See `Communicator`."""
        source = self._mpi.ANY_SOURCE if rank is None else rank
        return self._started(self._comm.Irecv(self._bytes(array), source, tag), array)

    def ended(self) -> list[int]:
        """See `Communicator`."""
        return [rank for rank, peer in enumerate(self._peers) if peer.has_ended()]

    def free(self) -> None:
        """Keep the communicator: freeing it would wait for processes that may be gone."""

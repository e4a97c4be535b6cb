"""Collectives by MPI. Every operation is started and looked at, so that a wait has an end when a process dies."""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Any

import numpy as np

from mindtorch_distributed import engine, order
from mindtorch_distributed.engine import NAP, PROCESSORS, Array, Request, wait_until
from mindtorch_distributed.lane import LateError
from mindtorch_distributed.mpi.direct import Direct, Steps, allow
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
_OF_TRUTH = {engine.SUM: engine.BOR, engine.MAX: engine.BOR, engine.PRODUCT: engine.BAND, engine.MIN: engine.BAND}
_GATHERED = 1 << 20
"""Bytes of the arrays of all, up to which they are gathered where the result depends on the order of ranks."""
_QUICK = 1 << 11
"""Bytes up to which MPI reduces arrays of two ranks quicker than it gathers them."""


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


def _bits(array: Array, reduction: str) -> tuple[Array, str]:
    """Truth values as numbers of 0 and 1, and the reduction of bits that is theirs."""
    if array.dtype != np.bool_:
        return array, reduction
    return array.view(np.uint8), _OF_TRUTH.get(reduction, reduction)


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
        array, reduction = _bits(array, reduction)
        ordered = array.dtype.kind == "f" and reduction in (engine.MIN, engine.MAX)
        if array.dtype.kind in "iufc" and array.dtype.isbuiltin == 1 and array.dtype != np.float16 and not ordered:
            return [array, mpi._typedict[array.dtype.char]], getattr(mpi, _NAMES[reduction])
        whole = {2: (np.uint16, mpi.UINT16_T), 4: (np.uint32, mpi.UINT32_T), 8: (np.uint64, mpi.UINT64_T)}
        bits, datatype = whole[array.itemsize]
        return [array.view(bits), datatype], self._operation(array.dtype, reduction)

    def _operation(self, dtype: np.dtype[Any], reduction: str) -> Any:
        """An operation that MPI does not know, computed by numpy: on numbers of 16 bits, and gloo's least and greatest."""
        known = self._own.get((dtype, reduction))
        if known is None:
            combine = order.combine(dtype, reduction)

            def reduce(given: Any, result: Any, datatype: Any) -> None:
                target = np.frombuffer(result, dtype)
                with np.errstate(all="ignore"):
                    combine(np.frombuffer(given, dtype), target, out=target)

            known = self._own[dtype, reduction] = self._mpi.Op.Create(reduce, commute=False)
        return known

    def _started(self, request: Any, *kept: Array | None) -> Request:
        return MpiRequest(request, self._mpi.Status(), self.size > PROCESSORS, *kept)

    def _readers(self, array: Array) -> Direct | None:
        """Who uses the memory of others, for arrays that are large: all ranks decide alike."""
        if array.nbytes * self.size <= _GATHERED:
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
        direct = Direct(self.rank, [int(pid) for pid in places[:, 1]], self.all_gather, self.barrier) if able else None
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

    def _ordered(self, array: Array, reduction: str) -> bool:
        """Return whether arrays are gathered, and reduced in the order of gloo."""
        quick = self.size == 2 and array.nbytes > _QUICK
        needed = quick or order.depends(array.dtype, reduction, self.size)
        return needed and 0 < array.nbytes * self.size <= _GATHERED

    def _gathered(self, array: Array, reduction: str, target: Array, start: int) -> Request:
        """Reduce a part of all arrays, which is written to `target`."""

        def requests() -> Iterator[Request]:
            arrays = np.empty((self.size, array.size), array.dtype)
            yield self.all_gather(arrays.reshape(-1), array)
            target[...] = order.reduced(list(arrays), reduction, start, start + target.size)

        return Steps(requests(), array)

    def all_reduce(self, array: Array, reduction: str) -> Request:
        """See `Communicator`."""
        direct = self._readers(array)
        if direct is not None:
            return direct.all_reduce(*_bits(array, reduction))
        if self._ordered(array, reduction):
            return self._gathered(array, reduction, array, 0)
        buffer, operation = self._numbers(array, reduction)
        return self._started(self._comm.Iallreduce(self._mpi.IN_PLACE, buffer, operation), array)

    def reduce(self, array: Array, reduction: str, root: int) -> Request:
        """See `Communicator`."""
        if order.depends(array.dtype, reduction, self.size):
            result = array if self.rank == root else array.copy()
            if self._ordered(array, reduction):
                return self._gathered(array, reduction, result, 0)
            direct = self._readers(array)
            if direct is not None:
                return direct.all_reduce(result, reduction)
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
            return direct.reduce_scatter(_bits(output, reduction)[0], *_bits(array, reduction))
        if self._ordered(array, reduction):
            return self._gathered(array, reduction, output, self.rank * output.size)
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

"""Collectives of devices by HCCL: tasks of a stream, over memory that addresses name."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from datetime import timedelta

from mindtorch_distributed.hccl.library import DATA_TYPES, REDUCTIONS, ROOT_INFO_BYTES, Hccl
from mindtorch_distributed.stores import Store


class HcclCommunicator:
    """Ranks, each a device of its own, that met at a store. Every call enqueues a task and returns."""

    def __init__(self, library: Hccl, store: Store, rank: int, size: int, timeout: timedelta) -> None:
        self._library, self.rank, self.size = library, rank, size
        root = ctypes.create_string_buffer(ROOT_INFO_BYTES)
        if rank == 0:
            library.call("HcclGetRootInfo", ctypes.addressof(root))
            store.set("hccl", root.raw)
        else:
            store.wait(["hccl"], timeout)
            ctypes.memmove(root, store.get("hccl"), ROOT_INFO_BYTES)
        handle = ctypes.c_void_p()
        library.call("HcclCommInitRootInfo", size, ctypes.addressof(root), rank, ctypes.addressof(handle))
        self._handle = handle.value

    def all_reduce(self, address: int, count: int, dtype: str, reduction: str, stream: int) -> None:
        """Reduce the numbers of all, in place."""
        code, op = DATA_TYPES[dtype], REDUCTIONS[reduction]
        self._library.call("HcclAllReduce", address, address, count, code, op, self._handle, stream)

    def reduce(self, address: int, count: int, dtype: str, reduction: str, root: int, stream: int) -> None:
        """Reduce the numbers of all into the root's."""
        code, op = DATA_TYPES[dtype], REDUCTIONS[reduction]
        self._library.call("HcclReduce", address, address, count, code, op, root, self._handle, stream)

    def reduce_scatter(self, output: int, address: int, count: int, dtype: str, reduction: str, stream: int) -> None:
        """Reduce the numbers of all, and give each rank its part of `count`."""
        code, op = DATA_TYPES[dtype], REDUCTIONS[reduction]
        self._library.call("HcclReduceScatter", address, output, count, code, op, self._handle, stream)

    def all_gather(self, output: int, address: int, count: int, dtype: str, stream: int) -> None:
        """Put the `count` numbers of each behind one another, everywhere."""
        self._library.call("HcclAllGather", address, output, count, DATA_TYPES[dtype], self._handle, stream)

    def broadcast(self, address: int, count: int, dtype: str, root: int, stream: int) -> None:
        """Copy the root's numbers to all."""
        self._library.call("HcclBroadcast", address, count, DATA_TYPES[dtype], root, self._handle, stream)

    def scatter(self, output: int, address: int, count: int, dtype: str, root: int, stream: int) -> None:
        """Give each rank its `count` of the root's numbers."""
        self._library.call("HcclScatter", address, output, count, DATA_TYPES[dtype], root, self._handle, stream)

    def all_to_all(self, output: int, received: Sequence[int], address: int, sent: Sequence[int], dtype: str,
                   stream: int) -> None:  # fmt: skip
        """Send a part of the numbers to each rank."""
        code = DATA_TYPES[dtype]
        given, taken = (_counted(counts) for counts in (sent, received))
        self._library.call("HcclAlltoAllV", address, *given, code, output, *taken, code, self._handle, stream)

    def barrier(self, stream: int) -> None:
        """The stream goes on when all are here."""
        self._library.call("HcclBarrier", self._handle, stream)

    def send(self, address: int, count: int, dtype: str, rank: int, stream: int) -> None:
        """Send to a rank."""
        self._library.call("HcclSend", address, count, DATA_TYPES[dtype], rank, self._handle, stream)

    def receive(self, address: int, count: int, dtype: str, rank: int, stream: int) -> None:
        """Receive from a rank."""
        self._library.call("HcclRecv", address, count, DATA_TYPES[dtype], rank, self._handle, stream)

    def free(self) -> None:
        """Give back what the library keeps for it."""
        self._library.call("HcclCommDestroy", self._handle)


def _counted(counts: Sequence[int]) -> tuple[ctypes.Array[ctypes.c_uint64], ctypes.Array[ctypes.c_uint64]]:
    """How many elements each rank's part has and where it starts, as C arrays, which the library reads at once."""
    starts = [sum(counts[:index]) for index in range(len(counts))]
    kind = ctypes.c_uint64 * len(counts)
    return kind(*counts), kind(*starts)

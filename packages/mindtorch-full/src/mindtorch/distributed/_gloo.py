"""The backends with torch's names: `gloo` and `mpi` by MPI, `fake` by nobody."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from mindtorch.distributed._backend import EngineBackend
from mindtorch.distributed._backend_base import Backend
from mindtorch.distributed._tensors import host
from mindtorch.distributed._work import CompletedWork, OpType, Work
from mindtorch.distributed.constants import default_pg_timeout
from mindtorch_distributed import Communicator, LocalCommunicator, mpi


def communicator(store: Any, rank: int, size: int, timeout: timedelta) -> Communicator:
    """The engine for a group: none for one process, MPI for several."""
    if size == 1:
        return LocalCommunicator()
    return mpi.communicator(store, rank, size, timeout)


class ProcessGroupGloo(EngineBackend):
    """Collectives on the host."""

    supports_splitting = True

    class _Options(Backend.Options):
        def __init__(self) -> None:
            super().__init__("gloo")

    def __init__(self, store: Any, rank: int, size: int, timeout: Any = default_pg_timeout, name: str = "gloo") -> None:
        if rank >= size:
            raise RuntimeError(f"[enforce fail at gloo/context.cc:23] rank < size. {rank} vs {size}")
        given = timeout._timeout if isinstance(timeout, Backend.Options) else timeout
        self._store, self._rounds = store, 0
        super().__init__(communicator(store, rank, size, given), name, given)

    @staticmethod
    def create_default_device(*args: Any, **kwargs: Any) -> None:
        """MPI chooses its devices."""

    create_device = create_default_device

    def monitored_barrier(self, timeout: timedelta | None = None, wait_all_ranks: bool = False) -> None:
        """Return when all are here; RuntimeError that names who is not, at rank 0, and that it failed, elsewhere."""
        seconds = (timeout or self._timeout).total_seconds()
        self._rounds += 1
        key = f"monitored_barrier/{self._rounds}"
        if self._rank:
            self._store.set(f"{key}/{self._rank}", b"1")
            self._wait_for_all(key, seconds)
            return
        absent = []
        left = timedelta(seconds=seconds)
        for rank in range(1, self._size):
            try:
                self._store.wait([f"{key}/{rank}"], left)
            except RuntimeError:
                absent.append(rank)
                if not wait_all_ranks:
                    break
                left = timedelta(milliseconds=1)
        if not absent:
            self._store.set(f"{key}/all", b"1")
            return
        milliseconds = int(seconds * 1000)
        if wait_all_ranks:
            ranks = ", ".join(map(str, absent))
            raise RuntimeError(f"[Rank 0]: Ranks {ranks} failed to pass monitoredBarrier in {milliseconds} ms")
        raise RuntimeError(f"[Rank 0]: Rank {absent[0]} failed to pass monitoredBarrier in {milliseconds} ms")

    def _wait_for_all(self, key: str, seconds: float) -> None:
        try:
            self._store.wait([f"{key}/all"], timedelta(seconds=seconds))
        except RuntimeError:
            raise RuntimeError(
                f"[Rank {self._rank}]: Rank {self._rank} successfully reached monitoredBarrier, but received errors "
                "while waiting for send/recv from rank 0. Please check rank 0 logs for faulty rank."
            ) from None


class FakeProcessGroup(Backend):
    """Collectives that nobody else takes part in: what this rank gives is what it gets."""

    def __init__(self, rank: int, size: int, options: Any = None) -> None:
        super().__init__(rank, size)
        self.options = options or Backend.Options("fake")

    @classmethod
    def _create_internal(cls, rank: int, world_size: int, options: Any = None) -> FakeProcessGroup:
        return cls(rank, world_size, options)

    def _get_backend_name(self) -> str:
        return "fake"

    def _done(self, kind: OpType, tensors: Sequence[Any] = ()) -> Work:
        self._sequence += 1
        return FakeWork(list(tensors), kind)

    def allreduce(self, tensors: Any, opts: Any = None) -> Work:
        """Nothing changes."""
        return self._done(OpType.ALLREDUCE, tensors)

    allreduce_coalesced = broadcast = reduce = allreduce

    def allgather(self, output_tensors: Any, input_tensors: Any, opts: Any = None) -> Work:
        """Every output is the input."""
        for outputs, tensor in zip(output_tensors, input_tensors, strict=False):
            for output in outputs:
                host(output)[...] = host(tensor)
        return self._done(OpType.ALLGATHER)

    gather = allgather

    def _allgather_base(self, output: Any, tensor: Any, opts: Any = None) -> Work:
        flat = host(output).reshape(self._size, -1)
        flat[...] = host(tensor).reshape(1, -1)
        return self._done(OpType._ALLGATHER_BASE, [output])

    def allgather_coalesced(self, output_lists: Any, input_list: Any, opts: Any = None) -> Work:
        """Every output is the input."""
        for outputs in output_lists:
            for output, tensor in zip(outputs, input_list, strict=True):
                host(output)[...] = host(tensor)
        return self._done(OpType.ALLGATHER_COALESCED)

    def allgather_into_tensor_coalesced(self, outputs: Any, inputs: Any, opts: Any = None) -> Work:
        """Every part of an output is its input."""
        for output, tensor in zip(outputs, inputs, strict=True):
            self._allgather_base(output, tensor)
        return self._done(OpType.ALLGATHER_COALESCED, outputs)

    def scatter(self, output_tensors: Any, input_tensors: Any, opts: Any = None) -> Work:
        """The output is this rank's part, where there is one."""
        return self._own_part(OpType.SCATTER, output_tensors, input_tensors)

    def reduce_scatter(self, output_tensors: Any, input_tensors: Any, opts: Any = None) -> Work:
        """The output is this rank's part."""
        return self._own_part(OpType.REDUCE_SCATTER, output_tensors, input_tensors)

    def _own_part(self, kind: OpType, outputs: Any, lists: Any) -> Work:
        for output, tensors in zip(outputs, lists, strict=False):
            host(output)[...] = host(tensors[self._rank])
        return self._done(kind, outputs)

    def _reduce_scatter_base(self, output: Any, tensor: Any, opts: Any = None) -> Work:
        parts = host(tensor).reshape(self._size, -1)
        host(output).reshape(-1)[...] = parts[self._rank]
        return self._done(OpType._REDUCE_SCATTER_BASE, [output])

    def reduce_scatter_tensor_coalesced(self, outputs: Any, inputs: Any, opts: Any = None) -> Work:
        """Every output is this rank's part."""
        for output, tensor in zip(outputs, inputs, strict=True):
            self._reduce_scatter_base(output, tensor)
        return self._done(OpType.REDUCE_SCATTER, outputs)

    def alltoall_base(self, output: Any, tensor: Any, received: Any, sent: Any, opts: Any = None) -> Work:
        """The output is the input, as far as it goes."""
        if output.shape == tensor.shape:
            host(output)[...] = host(tensor)
        return self._done(OpType.ALLTOALL_BASE, [output])

    def alltoall(self, output_tensors: Any, input_tensors: Any, opts: Any = None) -> Work:
        """Every output is its input."""
        for output, tensor in zip(output_tensors, input_tensors, strict=True):
            host(output)[...] = host(tensor)
        return self._done(OpType.ALLTOALL, output_tensors)

    def barrier(self, opts: Any = None) -> Work:
        """Nobody is waited for."""
        return self._done(OpType.BARRIER)

    def send(self, tensors: Any, dstRank: int, tag: int = 0) -> Work:
        """Nobody receives it."""
        return self._done(OpType.SEND)

    def recv(self, tensors: Any, srcRank: int, tag: int = 0) -> Work:
        """Nothing comes."""
        return self._done(OpType.RECV, tensors)

    def recv_anysource(self, tensors: Any, tag: int = 0) -> Work:
        """Nothing comes."""
        return self._done(OpType.RECVANYSOURCE, tensors)


class FakeWork(CompletedWork):
    """The work of a fake group."""

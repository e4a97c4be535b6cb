"""The backend `hccl`: collectives of Ascend devices, each a task of a stream of the group's own.

That stream waits for what was enqueued before the call; who waits for a work lets the current stream wait for it. The
host waits for nothing, so that errors of a collective are told when the device is synchronised.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import mindtorch
from mindtorch import npu
from mindtorch.distributed import _checks as checks
from mindtorch.distributed._backend_base import Backend
from mindtorch.distributed._names import Backend as Names
from mindtorch.distributed._options import (
    AllgatherOptions,
    AllreduceOptions,
    AllToAllOptions,
    BarrierOptions,
    BroadcastOptions,
    ReduceOptions,
    ReduceScatterOptions,
    ScatterOptions,
)  # fmt: skip
from mindtorch.distributed._reduce_op import REDUCTIONS, RedOpType, ReduceOp, type_of
from mindtorch.distributed._tensors import written
from mindtorch.distributed._work import CompletedWork, OpType, Work
from mindtorch.distributed.constants import default_pg_timeout
from mindtorch_distributed import PrefixStore, Store
from mindtorch_distributed.engine import MAX, SUM
from mindtorch_distributed.hccl import DATA_TYPES, Hccl, HcclCommunicator
from mindtorch_npu import runtime
from mindtorch_npu.libraries import collectives

Tensor = mindtorch.Tensor
REDUCED = frozenset("int8 int16 int32 float16 float32 bfloat16 int64".split())
_NOT_OFFERED = frozenset({RedOpType.BAND, RedOpType.BOR, RedOpType.BXOR})


def _library() -> Hccl:
    acl = runtime.on(npu.current_device())
    return Hccl(collectives().address, acl.get_recent_err_msg)


def _kind(tensor: Tensor) -> str:
    """HCCL's name of a dtype: it has no truth values."""
    name = str(tensor.dtype).rpartition(".")[2]
    return "uint8" if name == "bool" else name


def _checked(tensor: Tensor) -> Tensor:
    if tensor.device.type != "npu":
        raise RuntimeError(f"No backend type associated with device type {tensor.device.type}")
    if _kind(tensor) not in DATA_TYPES:
        raise TypeError(f"Unconvertible HCCL type {tensor.dtype}")
    return tensor


class HcclWork(CompletedWork):
    """A task of the group's stream."""

    def __init__(self, result: list[Any], op_type: OpType, end: npu.Event) -> None:
        super().__init__(result, op_type)
        self._end = end

    def is_completed(self) -> bool:
        """Return whether the device has done it."""
        return self._end.query()

    def wait(self, timeout: timedelta = timedelta(0)) -> bool:
        """Let what the current stream does from now on wait for it."""
        self._end.wait(npu.current_stream())
        return True

    def synchronize(self) -> None:
        """See `wait`."""
        self.wait()

    def get_future(self) -> Any:
        """A future of the tensors, whose values the current stream waits for."""
        self.wait()
        return super().get_future()


class _Line:
    """A communicator and the stream that its tasks are on."""

    def __init__(self, communicator: HcclCommunicator, stream: npu.Stream) -> None:
        self.communicator, self.stream = communicator, stream


class ProcessGroupHCCL(Backend):
    """Collectives of devices."""

    supports_splitting = True

    class Options(Backend.Options):
        """What the backend is told when it is made."""

        def __init__(self, is_high_priority_stream: bool = False) -> None:
            super().__init__("hccl")
            self.is_high_priority_stream = is_high_priority_stream
            self.hccl_config: dict[str, Any] = {}

    def __init__(self, store: Store, rank: int, size: int, timeout: Any = default_pg_timeout) -> None:
        super().__init__(rank, size)
        self._store, self._lines = store, {}
        self._timeout = timeout._timeout if isinstance(timeout, Backend.Options) else timeout
        self.options = ProcessGroupHCCL.Options()

    _lines: dict[str, _Line]

    def _get_backend_name(self) -> str:
        return "hccl"

    def set_timeout(self, timeout: timedelta) -> None:
        """Set how long others are waited for when they meet."""
        self._timeout = timeout

    def shutdown(self) -> None:
        """Finish what goes on and take no more."""
        for line in self._lines.values():
            line.stream.synchronize()
            line.communicator.free()
        self._lines.clear()

    def abort(self) -> None:
        """Take no more, and wait for nothing."""
        self._lines.clear()

    def _line(self, name: str, rank: int, size: int) -> _Line:
        """The communicator of a name, which its ranks make when they first use it."""
        found = self._lines.get(name)
        if found is None:
            store = PrefixStore(name, self._store)
            made = HcclCommunicator(_library(), store, rank, size, self._timeout)
            found = self._lines[name] = _Line(made, npu.Stream())
        return found

    def _launch(self, kind: OpType, start: Callable[[HcclCommunicator, int], None], used: Sequence[Tensor],
                result: list[Any], after: Callable[[], object] | None = None,
                line: _Line | None = None) -> HcclWork:  # fmt: skip
        """Enqueue `start` behind what the current stream has to do, and `after` behind it."""
        self._sequence += 1
        line = line or self._line("all", self._rank, self._size)
        stream = line.stream
        stream.wait_stream(npu.current_stream())
        start(line.communicator, stream.npu_stream)
        if after is not None:
            with npu.stream(stream), mindtorch.no_grad():
                after()
        for tensor in used:
            tensor.record_stream(stream)
        written([tensor for tensor in result if isinstance(tensor, Tensor)])
        return HcclWork(result, kind, stream.record_event())

    def _reduction(self, op: Any, tensor: Tensor, name: str) -> str:
        """The engine's reduction; errors for what HCCL does not reduce."""
        kind = type_of(op)
        if kind in _NOT_OFFERED:
            raise RuntimeError(f"Cannot use ReduceOp.{kind.name} with HCCL")
        if tensor.dtype == mindtorch.bool:
            return MAX if kind is RedOpType.SUM else REDUCTIONS[kind]
        if _kind(tensor) not in REDUCED:
            raise RuntimeError(f"HCCL {name}: Unsupported data type {_kind(tensor)}")
        return SUM if kind is RedOpType.PREMUL_SUM else REDUCTIONS[kind]

    def _finished(self, op: Any, output: Tensor, packed: Tensor) -> Callable[[], object] | None:
        """What follows a reduction into `packed`: the mean, the numbers of an output that is not in one piece."""
        mean = type_of(op) is RedOpType.AVG
        if not mean and packed is output:
            return None

        def after() -> None:
            if mean:
                packed.div_(self._size)
            if packed is not output:
                output.copy_(packed)

        return after

    def _numbers(self, op: Any, tensor: Tensor) -> Tensor:
        """The tensor in one piece, as what HCCL reduces: multiplied first for PREMUL_SUM, truth values as bytes."""
        given = tensor.detach()
        if isinstance(op, ReduceOp) and op.factor is not None:
            given = given * op.factor
        return given.to(mindtorch.int8) if given.dtype == mindtorch.bool else given.contiguous()

    def allreduce(self, tensors: list[Tensor], opts: Any = None) -> Work:
        """Reduce the tensors of all, in place."""
        op = (opts or AllreduceOptions()).reduceOp
        for tensor in tensors:
            work = self._all_reduce(_checked(tensor), op)
        return HcclWork(tensors, OpType.ALLREDUCE, work._end)

    def _all_reduce(self, tensor: Tensor, op: Any) -> HcclWork:
        reduction, own = self._reduction(op, tensor, "allreduce"), tensor.detach()
        given = self._numbers(op, own)
        packed = own if given.data_ptr() == own.data_ptr() and given.dtype == own.dtype else given
        count, kind = packed.numel(), _kind(packed)
        start = lambda c, s: c.all_reduce(packed.data_ptr(), count, kind, reduction, s)  # noqa: E731
        after = self._finished(op, own, packed)
        return self._launch(OpType.ALLREDUCE, start, [packed, own], [tensor], after)

    allreduce_coalesced = allreduce

    def broadcast(self, tensors: list[Tensor], opts: Any = None) -> Work:
        """Copy the root's tensor to all."""
        opts, (tensor,) = opts or BroadcastOptions(), tensors
        checks.root("broadcast", opts.rootRank, self._size)
        own = _checked(tensor).detach()
        packed = own.contiguous()
        count, kind = packed.numel(), _kind(packed)
        start = lambda c, s: c.broadcast(packed.data_ptr(), count, kind, opts.rootRank, s)  # noqa: E731
        after = None if own.is_contiguous() else lambda: own.copy_(packed)
        return self._launch(OpType.BROADCAST, start, [packed, own], tensors, after)

    def reduce(self, tensors: list[Tensor], opts: Any = None) -> Work:
        """Reduce the tensors of all into the root's."""
        opts, (tensor,) = opts or ReduceOptions(), tensors
        checks.root("reduce", opts.rootRank, self._size)
        own = _checked(tensor).detach()
        reduction, packed = self._reduction(opts.reduceOp, tensor, "reduce"), self._numbers(opts.reduceOp, own)
        count, kind, at_root = packed.numel(), _kind(packed), opts.rootRank == self._rank
        start = lambda c, s: c.reduce(packed.data_ptr(), count, kind, reduction, opts.rootRank, s)  # noqa: E731
        after = self._finished(opts.reduceOp, own, packed) if at_root else None
        return self._launch(OpType.REDUCE, start, [packed, own], tensors, after)

    def _allgather_base(self, output: Tensor, tensor: Tensor, opts: Any = None) -> Work:
        own, target = _checked(tensor).detach().contiguous(), _checked(output).detach()
        if target.numel() != own.numel() * self._size:
            raise ValueError("output tensor size must be equal to world_size times input tensor size")
        packed = target.contiguous()
        start = lambda c, s: c.all_gather(packed.data_ptr(), own.data_ptr(), own.numel(), _kind(own), s)  # noqa: E731
        after = None if target.is_contiguous() else lambda: target.copy_(packed)
        return self._launch(OpType._ALLGATHER_BASE, start, [own, packed, target], [output], after)

    def allgather(self, output_tensors: list[list[Tensor]], input_tensors: list[Tensor], opts: Any = None) -> Work:
        """Give everybody the tensors of all."""
        (tensor,), (outputs,) = input_tensors, output_tensors
        own = _checked(tensor).detach().contiguous()
        gathered = mindtorch.empty(self._size, own.numel(), dtype=own.dtype, device=own.device)

        def after() -> None:
            for output, part in zip(outputs, gathered.unbind(0), strict=True):
                output.detach().copy_(part.view(output.shape))

        start = lambda c, s: c.all_gather(gathered.data_ptr(), own.data_ptr(), own.numel(), _kind(own), s)  # noqa: E731
        work = self._launch(OpType.ALLGATHER, start, [own, gathered, *outputs], list(outputs), after)
        return HcclWork(output_tensors, OpType.ALLGATHER, work._end)

    def allgather_into_tensor_coalesced(self, outputs: list[Tensor], inputs: list[Tensor], opts: Any = None) -> Work:
        """`_allgather_base` for several tensors."""
        opts = opts or AllgatherOptions()
        works = [self._allgather_base(output, tensor, opts) for output, tensor in zip(outputs, inputs, strict=True)]
        return works[-1]

    def _reduce_scatter_base(self, output: Tensor, tensor: Tensor, opts: Any = None) -> Work:
        op = (opts or ReduceScatterOptions()).reduceOp
        own, target = self._numbers(op, _checked(tensor).detach()), _checked(output).detach()
        if own.numel() != target.numel() * self._size:
            raise ValueError("input tensor must be the same size as output size times world size")
        reduction = self._reduction(op, tensor, "reduce_scatter")
        packed = target if target.is_contiguous() and target.dtype == own.dtype else mindtorch.empty(
            target.shape, dtype=own.dtype, device=own.device
        )  # fmt: skip
        count, kind = packed.numel(), _kind(own)
        start = lambda c, s: c.reduce_scatter(packed.data_ptr(), own.data_ptr(), count, kind, reduction, s)  # noqa: E731
        after = self._finished(op, target, packed)
        return self._launch(OpType._REDUCE_SCATTER_BASE, start, [own, packed, target], [output], after)

    def reduce_scatter(self, output_tensors: list[Tensor], input_tensors: list[list[Tensor]], opts: Any = None) -> Work:
        """Reduce the lists of all, and give each rank its tensor."""
        (output,), (inputs,) = output_tensors, input_tensors
        flat = mindtorch.cat([tensor.detach().reshape(-1) for tensor in inputs])
        return self._reduce_scatter_base(output, flat, opts)

    def reduce_scatter_tensor_coalesced(self, outputs: list[Tensor], inputs: list[Tensor], opts: Any = None) -> Work:
        """`_reduce_scatter_base` for several tensors."""
        works = [
            self._reduce_scatter_base(output, tensor, opts) for output, tensor in zip(outputs, inputs, strict=True)
        ]
        return works[-1]

    def scatter(self, output_tensors: list[Tensor], input_tensors: list[list[Tensor]], opts: Any = None) -> Work:
        """Give each rank its tensor of the root's list."""
        opts, (tensor,) = opts or ScatterOptions(), output_tensors
        checks.root("scatter", opts.rootRank, self._size)
        target = _checked(tensor).detach()
        given = mindtorch.stack([t.detach() for t in input_tensors[0]]) if opts.rootRank == self._rank else target
        packed, count, kind = target.contiguous(), target.numel(), _kind(target)
        start = lambda c, s: c.scatter(packed.data_ptr(), given.data_ptr(), count, kind, opts.rootRank, s)  # noqa: E731
        after = None if target.is_contiguous() else lambda: target.copy_(packed)
        return self._launch(OpType.SCATTER, start, [packed, given, target], output_tensors, after)

    def alltoall_base(self, output: Tensor, tensor: Tensor, received: Sequence[int], sent: Sequence[int],
                      opts: Any = None) -> Work:  # fmt: skip
        """Give each rank its rows."""
        own, target = _checked(tensor).detach().contiguous(), _checked(output).detach()
        counts = checks.splits(sent, own, self._size), checks.splits(received, target, self._size)
        packed = target.contiguous()
        start = lambda c, s: c.all_to_all(  # noqa: E731
            packed.data_ptr(), counts[1], own.data_ptr(), counts[0], _kind(own), s
        )
        after = None if target.is_contiguous() else lambda: target.copy_(packed)
        return self._launch(OpType.ALLTOALL_BASE, start, [own, packed, target], [output], after)

    def alltoall(self, output_tensors: list[Tensor], input_tensors: list[Tensor], opts: Any = None) -> Work:
        """Give each rank its tensor of the list."""
        opts = opts or AllToAllOptions()
        own = mindtorch.cat([tensor.detach().reshape(-1) for tensor in input_tensors])
        sent, received = [t.numel() for t in input_tensors], [t.numel() for t in output_tensors]
        packed = mindtorch.empty(sum(received), dtype=own.dtype, device=own.device)

        def after() -> None:
            for output, part in zip(output_tensors, packed.split(received), strict=True):
                output.detach().copy_(part.view(output.shape))

        start = lambda c, s: c.all_to_all(packed.data_ptr(), received, own.data_ptr(), sent, _kind(own), s)  # noqa: E731
        return self._launch(OpType.ALLTOALL, start, [own, packed, *output_tensors], list(output_tensors), after)

    def barrier(self, opts: Any = None) -> Work:
        """The host goes on when all are here."""
        opts = opts or BarrierOptions()
        work = self._launch(OpType.BARRIER, lambda c, s: c.barrier(s), [], [])
        if not opts.asyncOp:
            work._end.synchronize()
        return work

    def send(self, tensors: list[Tensor], dstRank: int, tag: int = 0) -> Work:
        """Send a tensor."""
        own = _checked(tensors[0]).detach().contiguous()
        start = lambda c, s: c.send(own.data_ptr(), own.numel(), _kind(own), 1, s)  # noqa: E731
        return self._launch(OpType.SEND, start, [own], tensors, line=self._pair(self._rank, dstRank))

    def recv(self, tensors: list[Tensor], srcRank: int, tag: int = 0) -> Work:
        """Receive a tensor from a rank."""
        own = _checked(tensors[0]).detach()
        packed = own.contiguous()
        start = lambda c, s: c.receive(packed.data_ptr(), own.numel(), _kind(own), 0, s)  # noqa: E731
        after = None if own.is_contiguous() else lambda: own.copy_(packed)
        return self._launch(OpType.RECV, start, [packed, own], tensors, after, self._pair(srcRank, self._rank))

    def _pair(self, source: int, target: int) -> _Line:
        """The communicator of messages from one rank to another: two that send to each other do not wait in turn."""
        if source == target:
            raise RuntimeError("Invalid destination rank: should not be the same as rank of the current process.")
        low, high = min(source, target), max(source, target)
        for first, second in ((low, high), (high, low)):  # both ranks make both, in this order
            self._line(f"{first}to{second}", int(self._rank == second), 2)
        return self._lines[f"{source}to{target}"]

    def expect_messages(self, peers: Sequence[int]) -> None:
        """Meet these ranks in an order that all ranks follow, so that no circle of ranks waits for one another."""
        for peer in sorted(set(peers), key=lambda peer: (min(self._rank, peer), max(self._rank, peer))):
            self._pair(self._rank, peer)


def _make(store: Store, rank: int, size: int, timeout: timedelta) -> ProcessGroupHCCL:
    return ProcessGroupHCCL(store, rank, size, timeout)


Names.register_backend("hccl", _make, devices=["npu"])

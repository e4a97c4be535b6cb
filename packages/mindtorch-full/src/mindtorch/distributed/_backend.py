"""The collectives of a group on tensors, over an engine's communicator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any, NoReturn

import numpy as np

import mindtorch
from mindtorch.distributed import _checks as checks
from mindtorch.distributed import _sparse_sums
from mindtorch.distributed._backend_base import Backend
from mindtorch.distributed._options import (
    AllgatherOptions,
    AllreduceOptions,
    AllToAllOptions,
    BarrierOptions,
    BroadcastOptions,
    GatherOptions,
    ReduceOptions,
    ReduceScatterOptions,
    ScatterOptions,
)
from mindtorch.distributed._reduce_op import REDUCTIONS, RedOpType, type_of
from mindtorch.distributed._tensors import check_dtype, check_in_order, flat, host, in_memory_order, joined, spread
from mindtorch.distributed._work import CompletedWork, MessageWork, OpType, TaskWork, Work, ended_text, late_text
from mindtorch.futures import wait_by
from mindtorch_distributed import Communicator, Lane, LateError, LocalCommunicator, PeerEndedError, Task
from mindtorch_distributed.engine import Request

Array = np.ndarray[Any, Any]


class EngineBackend(Backend):
    """Collectives by an engine's communicator, in the order in which they are called."""

    def __init__(self, communicator: Communicator, name: str, timeout: timedelta) -> None:
        super().__init__(communicator.rank, communicator.size)
        self._communicator, self._name, self._timeout = communicator, name, timeout
        self._lane = Lane(f"{name}-{id(self):x}", lambda lane: wait_by(lane.carry_on))
        self._closed: str | None = None
        self.options = Backend.Options(name, timeout)

    def _get_backend_name(self) -> str:
        return self._name

    def set_timeout(self, timeout: timedelta) -> None:
        """Set how long others are waited for."""
        self._timeout = timeout

    def shutdown(self) -> None:
        """Finish what goes on and take no more."""
        self._closed = "The process group was shut down: no collective can be started on it"
        self._lane.close(min(self._timeout.total_seconds(), 5.0))

    def abort(self) -> None:
        """Take no more, and wait for nothing."""
        self._closed = "The process group was aborted: no collective can be started on it"
        self._lane.close(0)

    def _seconds(self, opts: Any) -> float:
        given = getattr(opts, "timeout", None)
        return (given if given is not None and given > timedelta(0) else self._timeout).total_seconds()

    def _launch(
        self, kind: OpType, start: Callable[[], Request], after: Callable[[], None], outputs: list[Any], opts: Any
    ) -> Work:
        if self._closed is not None:
            raise RuntimeError(self._closed)
        self._sequence += 1
        seconds = self._seconds(opts)
        task = Task(start, after, self._communicator)
        if opts.asyncOp and not isinstance(self._communicator, LocalCommunicator):
            self._lane.submit(task)
            return TaskWork(task, outputs, kind, seconds)
        try:
            self._lane.run(task, seconds)
        except LateError:
            self._fail(late_text(seconds, kind.name.lower()))
        except PeerEndedError as error:
            self._fail(ended_text(error, kind.name.lower()))
        return CompletedWork(outputs, kind)

    def _fail(self, text: str) -> NoReturn:
        """Raise now, and at every later call: the ranks of the group no longer agree where they are."""
        self._closed = text
        raise RuntimeError(text) from None

    def allreduce(self, tensors: list[Any], opts: Any = None) -> Work:
        """Reduce the tensors of all, in place."""
        opts = opts or AllreduceOptions()
        if any(tensor.is_sparse for tensor in tensors):
            _sparse_sums.check(tensors, type_of(opts.reduceOp))
            tensors[0].copy_(_sparse_sums.total(tensors[0], self._of_all))
            return CompletedWork(tensors, OpType.ALLREDUCE)
        return self._all_reduce(tensors, opts, OpType.ALLREDUCE)

    def _of_all(self, tensor: Any) -> list[Any]:
        """The tensors of all ranks."""
        outputs = [mindtorch.empty_like(tensor) for _ in range(self._size)]
        options = AllgatherOptions()
        options.asyncOp = False
        self.allgather([outputs], [tensor], options).wait()
        return outputs

    def allreduce_coalesced(self, tensors: list[Any], opts: Any = None) -> Work:
        """Reduce several tensors at once."""
        return self._all_reduce(tensors, opts or AllreduceOptions(), OpType.ALLREDUCE_COALESCED)

    def _all_reduce(self, tensors: list[Any], opts: Any, kind: OpType) -> Work:
        for tensor in tensors:
            checks.reduction(tensor, opts.reduceOp, self._size)
        single = len(tensors) == 1
        if kind is OpType.ALLREDUCE and not single:
            checks.same_kind("allreduce", tensors[1:], tensors[0])
        array, write_back = flat(tensors[0]) if single else (joined(tensors), lambda: spread(array, tensors))
        if kind is OpType.ALLREDUCE_COALESCED:
            write_back = checks.copying(tensors, write_back)
        after = self._mean(array, opts.reduceOp, write_back)
        reduction = REDUCTIONS[type_of(opts.reduceOp)]
        return self._launch(kind, lambda: self._communicator.all_reduce(array, reduction), after, tensors, opts)

    def _mean(self, array: Array, op: Any, after: Callable[[], None]) -> Callable[[], None]:
        if type_of(op) is not RedOpType.AVG:
            return after

        def divide() -> None:
            np.divide(array, array.dtype.type(self._size), out=array)
            after()

        return divide

    def broadcast(self, tensors: list[Any], opts: Any = None) -> Work:
        """Copy the root's tensor to all."""
        opts = opts or BroadcastOptions()
        checks.root("broadcast", opts.rootRank, self._size)
        check_dtype(tensors[0])
        array, after = flat(tensors[0])
        return self._launch(
            OpType.BROADCAST, lambda: self._communicator.broadcast(array, opts.rootRank), after, tensors, opts
        )

    def reduce(self, tensors: list[Any], opts: Any = None) -> Work:
        """Reduce the tensors of all into the root's."""
        opts = opts or ReduceOptions()
        checks.root("reduce", opts.rootRank, self._size)
        checks.reduction(tensors[0], opts.reduceOp, self._size)
        array, after = flat(tensors[0])
        if opts.rootRank == self._rank:
            after = self._mean(array, opts.reduceOp, after)
        reduction = REDUCTIONS[type_of(opts.reduceOp)]
        return self._launch(
            OpType.REDUCE, lambda: self._communicator.reduce(array, reduction, opts.rootRank), after, tensors, opts
        )

    def allgather(self, output_tensors: list[list[Any]], input_tensors: list[Any], opts: Any = None) -> Work:
        """Give everybody the tensors of all."""
        opts = opts or AllgatherOptions()
        if len(input_tensors) != len(output_tensors):
            checks.fail("allgather", "requires input/output tensor lists to have the same length")
        (tensor,) = input_tensors
        for index, outputs in enumerate(output_tensors):
            if len(outputs) != self._size:
                expected = f"(expected length {self._size}, got {len(outputs)})"
                checks.fail("allgather", f"invalid output tensor list at index {index} {expected}")
        checks.same_kind("allgather", output_tensors[0], tensor)
        array, _ = flat(tensor)
        result = np.empty(array.size * self._size, array.dtype)
        return self._launch(
            OpType.ALLGATHER,
            lambda: self._communicator.all_gather(result, array),
            checks.copying(output_tensors[0], lambda: spread(result, output_tensors[0])),
            output_tensors,
            opts,
        )

    def _allgather_base(self, output: Any, tensor: Any, opts: Any = None) -> Work:
        parts = list(mindtorch.tensor_split(output, self._size)) if output.dim() else [output]
        checks.same_kind("allgather", parts, tensor)
        if output.requires_grad and output.dim() and mindtorch.is_grad_enabled():
            output.chunk(self._size)[0].copy_(tensor)  # which raises: parts of a view may not be written
        array, _ = flat(tensor)
        result, after = flat(output)
        return self._launch(
            OpType._ALLGATHER_BASE,
            lambda: self._communicator.all_gather(result, array),
            after,
            [output],
            opts or AllgatherOptions(),
        )

    def allgather_coalesced(self, output_lists: list[list[Any]], input_list: list[Any], opts: Any = None) -> Work:
        """Give everybody the tensors of all, for several tensors; the lists of outputs are one for each rank."""
        if len(output_lists) != self._size:
            checks.fail("allgather_coalesced", "output lists should be equal to world size")
        for outputs in output_lists:
            if len(outputs) != len(input_list):
                checks.fail(
                    "allgather_coalesced",
                    f"invalid output size: (expected length {len(input_list)}, got {len(outputs)})",
                )
            for index, (output, tensor) in enumerate(zip(outputs, input_list, strict=True)):
                if output.shape != tensor.shape or output.dtype != tensor.dtype:
                    checks.fail("allgather_coalesced", f"invalid size of output tensor at index {index}")
        return self._gather_packed(output_lists, input_list, opts or AllgatherOptions())

    def _gather_packed(self, output_lists: list[list[Any]], inputs: list[Any], opts: Any) -> Work:
        array = joined(inputs)
        result = np.empty(array.size * self._size, array.dtype)

        def after() -> None:
            for rank, outputs in enumerate(output_lists):
                spread(result[rank * array.size :], outputs)

        start = lambda: self._communicator.all_gather(result, array)  # noqa: E731
        return self._launch(OpType.ALLGATHER_COALESCED, start, after, output_lists, opts)

    def allgather_into_tensor_coalesced(self, outputs: list[Any], inputs: list[Any], opts: Any = None) -> Work:
        """`_allgather_base` for several tensors."""
        per_rank = [list(mindtorch.tensor_split(output, self._size)) for output in outputs]
        lists = [[parts[rank] for parts in per_rank] for rank in range(self._size)]
        works = self._gather_packed(lists, inputs, opts or AllgatherOptions())
        return works

    def gather(self, output_tensors: list[list[Any]], input_tensors: list[Any], opts: Any = None) -> Work:
        """Give the root the tensors of all."""
        opts, (tensor,) = opts or GatherOptions(), input_tensors
        checks.root("gather", opts.rootRank, self._size)
        at_root = opts.rootRank == self._rank
        if at_root:
            self._one_each("gather", "output", output_tensors)
            checks.same_kind("gather", output_tensors[0], tensor)
        check_dtype(tensor)
        array, _ = flat(tensor)
        result = np.empty(array.size * self._size, array.dtype) if at_root else None
        return self._launch(
            OpType.GATHER,
            lambda: self._communicator.gather(result, array, opts.rootRank),
            checks.copying(output_tensors[0], lambda: spread(result, output_tensors[0])) if at_root else _nothing,
            output_tensors,
            opts,
        )

    def _one_each(self, operation: str, what: str, lists: list[list[Any]]) -> None:
        if len(lists) != 1:
            checks.fail(
                operation, f"requires a single-element {what} list containing a list with {self._size} tensors."
            )
        if len(lists[0]) != self._size:
            checks.fail(
                operation,
                f"Incorrect {what} list size {len(lists[0])}. {what.capitalize()} list size should be {self._size}, "
                "same as size of the process group.",
            )

    def scatter(self, output_tensors: list[Any], input_tensors: list[list[Any]], opts: Any = None) -> Work:
        """Give each rank its tensor of the root's list."""
        opts, (tensor,) = opts or ScatterOptions(), output_tensors
        checks.root("scatter", opts.rootRank, self._size)
        if opts.rootRank == self._rank:
            self._one_each("scatter", "input", input_tensors)
            checks.same_kind("scatter", input_tensors[0], tensor)
        check_dtype(tensor)
        given = joined(input_tensors[0]) if opts.rootRank == self._rank else None
        result, after = flat(tensor)
        return self._launch(
            OpType.SCATTER,
            lambda: self._communicator.scatter(result, given, opts.rootRank),
            after,
            output_tensors,
            opts,
        )

    def reduce_scatter(self, output_tensors: list[Any], input_tensors: list[list[Any]], opts: Any = None) -> Work:
        """Reduce the lists of all, and give each rank its tensor."""
        opts, (output,), (inputs,) = opts or ReduceScatterOptions(), output_tensors, input_tensors
        if len(inputs) != self._size:
            raise RuntimeError("invalid input tensor list size, must be world size")
        for tensor in inputs:
            text = "outputs[0].sizes().vec() == inputs[0][i].sizes().vec()"
            checks.holds(output.shape == tensor.shape, text, " ".join(map(str, output.shape)),
                         " ".join(map(str, tensor.shape)))  # fmt: skip
        return self._reduce_scatter(output, joined(inputs), opts, OpType.REDUCE_SCATTER)

    def _reduce_scatter(self, output: Any, array: Array, opts: Any, kind: OpType) -> Work:
        checks.reduction(output, opts.reduceOp, self._size)
        result, write_back = flat(output)
        after = self._mean(result, opts.reduceOp, checks.copying([output], write_back))
        reduction = REDUCTIONS[type_of(opts.reduceOp)]
        start = lambda: self._communicator.reduce_scatter(result, array, reduction)  # noqa: E731
        return self._launch(kind, start, after, [output], opts)

    def _reduce_scatter_base(self, output: Any, tensor: Any, opts: Any = None) -> Work:
        text = "outputTensors[i].dtype() == inputTensors[i].dtype()"
        names = [checks.scalar_names(t.dtype)[0] for t in (output, tensor)]
        checks.holds(output.dtype == tensor.dtype, text, *names)
        rows, given = (output.shape[0] if output.dim() else 1), (tensor.shape[0] if tensor.dim() else 1)
        checks.holds(
            rows * self._size == given, "outputShape[0] * worldSize == inputShape[0]", rows * self._size, given
        )
        return self._reduce_scatter(
            output, flat(tensor)[0], opts or ReduceScatterOptions(), OpType._REDUCE_SCATTER_BASE
        )

    def reduce_scatter_tensor_coalesced(self, outputs: list[Any], inputs: list[Any], opts: Any = None) -> Work:
        """`_reduce_scatter_base` for several tensors."""
        opts = opts or ReduceScatterOptions()
        for output, tensor in zip(outputs, inputs, strict=True):
            last = self._reduce_scatter_base(output, tensor, opts)
        return last

    def alltoall_base(
        self, output: Any, tensor: Any, output_split_sizes: Sequence[int], input_split_sizes: Sequence[int],
        opts: Any = None,
    ) -> Work:  # fmt: skip
        """Give each rank its rows."""
        check_dtype(tensor)
        check_in_order(tensor)
        array, (result, after) = in_memory_order(tensor)[0], in_memory_order(output)
        if not output_split_sizes and not input_split_sizes:
            checks.equal_bytes(tensor, output, self._size)
            array, result = array.view(np.uint8), result.view(np.uint8)
            sent = received = [array.size // self._size] * self._size
        else:
            sent = checks.splits(input_split_sizes, tensor, self._size)
            received = checks.splits(output_split_sizes, output, self._size)
        start = lambda: self._communicator.all_to_all(result, received, array, sent)  # noqa: E731
        return self._launch(OpType.ALLTOALL_BASE, start, after, [output], opts or AllToAllOptions())

    def alltoall(self, output_tensors: list[Any], input_tensors: list[Any], opts: Any = None) -> Work:
        """Give each rank its tensor of the list."""
        for what, tensors in (("input", input_tensors), ("output", output_tensors)):
            if len(tensors) != self._size:
                checks.fail(
                    "alltoall", f"{what} tensor list size {len(tensors)} does not match world size {self._size}"
                )
        checks.same_kind("alltoall", input_tensors, input_tensors[0])
        checks.same_kind("alltoall", output_tensors, output_tensors[0])
        own = self._rank
        if output_tensors[own].numel() != input_tensors[own].numel():
            checks.fail("alltoall", "input and output tensors must have the same size")
        array = joined(input_tensors)
        result = np.empty(sum(host(t).size for t in output_tensors), array.dtype)
        sent, received = [t.numel() for t in input_tensors], [t.numel() for t in output_tensors]
        return self._launch(
            OpType.ALLTOALL,
            lambda: self._communicator.all_to_all(result, received, array, sent),
            lambda: spread(result, output_tensors),
            output_tensors,
            opts or AllToAllOptions(),
        )

    def barrier(self, opts: Any = None) -> Work:
        """Done when all are here."""
        return self._launch(OpType.BARRIER, self._communicator.barrier, _nothing, [], opts or BarrierOptions())

    def send(self, tensors: list[Any], dstRank: int, tag: int = 0) -> Work:
        """Send a tensor."""
        return self._message(OpType.SEND, tensors, dstRank, tag)

    def recv(self, tensors: list[Any], srcRank: int, tag: int = 0) -> Work:
        """Receive a tensor from a rank."""
        return self._message(OpType.RECV, tensors, srcRank, tag)

    def recv_anysource(self, tensors: list[Any], tag: int = 0) -> Work:
        """Receive a tensor from any rank."""
        return self._message(OpType.RECVANYSOURCE, tensors, None, tag)

    def _message(self, kind: OpType, tensors: list[Any], rank: int | None, tag: int) -> Work:
        if len(tensors) != 1:
            raise RuntimeError("ProcessGroupGloo::send takes a single tensor")
        (tensor,) = tensors  # of any dtype: a message is bytes
        if self._closed is not None:
            raise RuntimeError(self._closed)
        if rank is not None and not 0 <= rank < self._size:
            raise RuntimeError(f"the rank {rank} is not one of the group's {self._size}")
        if rank == self._rank:  # gloo has no connection of a process with itself
            raise RuntimeError(f"state_ >= CONNECTED. 1 vs 4. Pair is not connected: rank {rank} is this process")
        if not tensor.is_contiguous():
            raise RuntimeError("input tensor has to be contiguous")
        array, after = flat(tensor)
        if kind is OpType.SEND:
            request = self._communicator.send(array, rank or 0, tag)
            after = _nothing
        else:
            request = self._communicator.receive(array, rank, tag)
        return MessageWork(request, tensors, kind, self._timeout.total_seconds(), after, self._communicator)


def _nothing() -> None:
    """Nothing follows."""

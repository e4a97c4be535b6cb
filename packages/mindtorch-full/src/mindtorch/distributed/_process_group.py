"""A group of processes: it hands collectives to the backend of the tensors' device."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from datetime import timedelta
from typing import Any, TypeVar

import mindtorch
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
from mindtorch.distributed._work import CompletedWork, Work

_Said = TypeVar("_Said")


class BackendType(enum.IntEnum):
    """The kinds of backends."""

    UNDEFINED = 0
    GLOO = 1
    NCCL = 2
    UCC = 3
    MPI = 4
    XCCL = 5
    CUSTOM = 6

    def __repr__(self) -> str:
        return f"<BackendType.{self.name}: {self.value}>"

    def __str__(self) -> str:
        return f"BackendType.{self.name}"


def _opts(given: Any, kind: Any, **fields: Any) -> Any:
    """Options as given, or made of single arguments."""
    if isinstance(given, kind):
        return given
    made = kind()
    for name, value in fields.items():
        if value is not None:
            setattr(made, name, value)
    return made


def _listed(tensors: Any) -> list[Any]:
    return [tensors] if isinstance(tensors, mindtorch.Tensor) else list(tensors)


class ProcessGroup:
    """Processes that do collectives together. A subclass may carry them out by itself.

    What a subclass says of itself it says by methods with torch's names of C++: `getRank`, `getSize`, `getBackendName`,
    `getGroupName`, `setGroupName`, `getGroupDesc`, `setGroupDesc`.

    >>> import torch.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> group = dist.group.WORLD
    >>> group.rank(), group.size()
    (0, 1)
    >>> x = torch.ones(2)
    >>> group.allreduce([x]).wait()
    True
    >>> x
    tensor([1., 1.])
    >>> dist.destroy_process_group()
    """

    BackendType = BackendType
    UNDEFINED, GLOO, NCCL, XCCL, UCC, MPI, CUSTOM = (
        BackendType.UNDEFINED, BackendType.GLOO, BackendType.NCCL, BackendType.XCCL, BackendType.UCC,
        BackendType.MPI, BackendType.CUSTOM,
    )  # fmt: skip
    bound_device_id: Any = None
    use_pg_for_symm_mem_rendezvous = False

    def __init__(self, *args: Any) -> None:
        self._store = args[0] if len(args) == 3 else None
        self._rank, self._size = args[-2:] if len(args) >= 2 else (-1, -1)
        self._backends: dict[str, Any] = {}
        self._default_type = BackendType.UNDEFINED
        self._name, self._desc = "", "undefined"

    def __class_getitem__(cls, item: Any) -> Any:
        return cls

    def rank(self) -> int:
        """This process's rank in the group."""
        return self._own("getRank", self._rank)

    def size(self) -> int:
        """How many processes the group has."""
        return self._own("getSize", self._size)

    def name(self) -> str:
        """The name of the default backend."""
        return self._own("getBackendName", "") or self._get_backend_name()

    def _own(self, method: str, otherwise: _Said) -> _Said:
        """Return what a subclass says by a method, and `otherwise` where it has none."""
        found = getattr(self, method, None)
        return otherwise if found is None else found()

    def _get_backend_name(self) -> str:
        first = next(iter(self._backends.values()), None)
        return first.name() if first is not None else "undefined"

    def get_group_store(self) -> Any:
        """The store at which the group met."""
        return self._store

    @property
    def group_name(self) -> str:
        """The name under which the group is known."""
        return self._own("getGroupName", self._name)

    @property
    def group_desc(self) -> str:
        """What the group is for."""
        return self._own("getGroupDesc", self._desc)

    def _set_group_name(self, name: str) -> None:
        self._name = name
        self._tell("setGroupName", name)

    def _set_group_desc(self, desc: str) -> None:
        self._desc = desc
        self._tell("setGroupDesc", desc)

    def _tell(self, method: str, value: str) -> None:
        told = getattr(self, method, None)
        if told is not None:
            told(value)

    def _set_default_backend(self, backend_type: Any) -> None:
        self._default_type = backend_type

    def _register_backend(self, device: Any, backend_type: Any, backend: Any = None) -> None:
        self._backends[mindtorch.device(device).type] = backend

    def _get_backend(self, device: Any) -> Any:
        kind = mindtorch.device(device).type
        if kind not in self._backends:
            raise RuntimeError(f"No backend type associated with device type {kind}")
        return self._backends[kind]

    @property
    def _device_types(self) -> list[Any]:
        return [mindtorch.device(kind) for kind in self._backends]

    def _id(self) -> int:
        return id(self)

    def _backend_id(self, backend_type: Any) -> int:
        return id(self._any())

    def _any(self) -> Any:
        for backend in self._backends.values():
            return backend
        raise RuntimeError("Could not find the default backend type for Process Group")

    def _of(self, *tensors: Any) -> Any:
        for tensor in tensors:
            if tensor.device.type == "meta":
                return _Meta()
            return self._get_backend(tensor.device)
        return self._any()

    def _has_hooks(self) -> bool:
        return False

    def _register_on_completion_hook(self, hook: Any) -> None:
        raise RuntimeError("Only ProcessGroupNCCL supports onCompletion hook")

    def _wait_for_pending_works(self) -> None:
        """Works are finished when groups are shut down."""

    def _enable_collectives_timing(self) -> None:
        raise RuntimeError(f"Backend {self.name()} is missing implementation of enableCollectivesTiming.")

    def _set_sequence_number_for_group(self) -> None:
        self._any()._set_sequence_number_for_group()

    def _get_sequence_number_for_group(self) -> int:
        return int(self._any()._get_sequence_number_for_group())

    def _start_coalescing(self, device: Any) -> None:
        raise RuntimeError(f"Backend {self.name()} does not support startCoalescing")

    def _end_coalescing(self, device: Any) -> Any:
        raise RuntimeError(f"Backend {self.name()} does not support endCoalescing")

    def set_timeout(self, timeout: timedelta) -> None:
        """Set how long others are waited for."""
        for backend in self._backends.values():
            backend.set_timeout(timeout)

    def abort(self) -> None:
        """End what goes on."""
        for backend in self._backends.values():
            backend.abort()

    def shutdown(self) -> None:
        """End."""
        for backend in self._backends.values():
            backend.shutdown()

    def split_group(self, new_ranks: Sequence[int], **kwargs: Any) -> Any:
        """Not offered by backends of the host, as in torch."""
        raise RuntimeError(f"Backend {self.name()} does not implement splitting of groups; use new_group")

    def merge_remote_group(self, *args: Any, **kwargs: Any) -> Any:
        """Not offered by backends of the host, as in torch."""
        raise RuntimeError(f"Backend {self.name()} does not implement merging of groups")

    def boxed(self) -> Any:
        """The group itself: there is no other representation."""
        return self

    def allreduce(self, tensors: Any, opts: Any = None, timeout: timedelta | None = None) -> Work:
        """Reduce the tensors of all, in place."""
        listed = _listed(tensors)
        return self._of(*listed).allreduce(listed, _opts(opts, AllreduceOptions, reduceOp=opts, timeout=timeout))

    def allreduce_coalesced(self, tensors: Any, opts: Any = None) -> Work:
        """Reduce several tensors at once."""
        listed = _listed(tensors)
        return self._of(*listed).allreduce_coalesced(listed, _opts(opts, AllreduceOptions))

    def broadcast(self, tensors: Any, opts: Any = None, timeout: timedelta | None = None) -> Work:
        """Copy the root's tensor to all."""
        listed = _listed(tensors)
        return self._of(*listed).broadcast(listed, _opts(opts, BroadcastOptions, rootRank=opts, timeout=timeout))

    def reduce(self, tensors: Any, opts: Any = None, op: Any = None, timeout: timedelta | None = None) -> Work:
        """Reduce the tensors of all into the root's."""
        listed = _listed(tensors)
        made = _opts(opts, ReduceOptions, rootRank=opts, reduceOp=op, timeout=timeout)
        return self._of(*listed).reduce(listed, made)

    def allgather(self, output_tensors: Any, input_tensors: Any, opts: Any = None) -> Work:
        """Give everybody the tensors of all."""
        if isinstance(input_tensors, mindtorch.Tensor):
            output_tensors, input_tensors = [output_tensors], [input_tensors]
        return self._of(*input_tensors).allgather(output_tensors, input_tensors, _opts(opts, AllgatherOptions))

    def all_gather_single(self, output: Any, tensor: Any, opts: Any = None) -> Work:
        """Give everybody the tensors of all, as one tensor."""
        return self._of(tensor)._allgather_base(output, tensor, _opts(opts, AllgatherOptions))

    _allgather_base = all_gather_single

    def allgather_coalesced(self, output_lists: Any, input_list: Any, opts: Any = None) -> Work:
        """Give everybody the tensors of all, for several tensors."""
        return self._of(*input_list).allgather_coalesced(output_lists, input_list, _opts(opts, AllgatherOptions))

    def all_gather_single_coalesced(self, outputs: Any, inputs: Any, opts: Any = None) -> Work:
        """`all_gather_single` for several tensors."""
        return self._of(*inputs).allgather_into_tensor_coalesced(outputs, inputs, _opts(opts, AllgatherOptions))

    allgather_into_tensor_coalesced = all_gather_single_coalesced

    def gather(
        self, output_tensors: Any, input_tensors: Any, opts: Any = None, timeout: timedelta | None = None
    ) -> Work:
        """Give the root the tensors of all."""
        if isinstance(input_tensors, mindtorch.Tensor):
            output_tensors, input_tensors = ([output_tensors] if output_tensors else []), [input_tensors]
        made = _opts(opts, GatherOptions, rootRank=opts, timeout=timeout)
        return self._of(*input_tensors).gather(output_tensors, input_tensors, made)

    def scatter(
        self, output_tensors: Any, input_tensors: Any, opts: Any = None, timeout: timedelta | None = None
    ) -> Work:
        """Give each rank its tensor of the root's list."""
        if isinstance(output_tensors, mindtorch.Tensor):
            output_tensors, input_tensors = [output_tensors], ([input_tensors] if input_tensors else [])
        made = _opts(opts, ScatterOptions, rootRank=opts, timeout=timeout)
        return self._of(*output_tensors).scatter(output_tensors, input_tensors, made)

    def reduce_scatter(self, output_tensors: Any, input_tensors: Any, opts: Any = None) -> Work:
        """Reduce the lists of all, and give each rank its tensor."""
        if isinstance(output_tensors, mindtorch.Tensor):
            output_tensors, input_tensors = [output_tensors], [input_tensors]
        made = _opts(opts, ReduceScatterOptions, reduceOp=opts)
        return self._of(*output_tensors).reduce_scatter(output_tensors, input_tensors, made)

    def reduce_scatter_single(self, output: Any, tensor: Any, opts: Any = None) -> Work:
        """Reduce the tensors of all, and give each rank its part."""
        return self._of(tensor)._reduce_scatter_base(output, tensor, _opts(opts, ReduceScatterOptions))

    _reduce_scatter_base = reduce_scatter_single

    def reduce_scatter_single_coalesced(self, outputs: Any, inputs: Any, opts: Any = None) -> Work:
        """`reduce_scatter_single` for several tensors."""
        made = _opts(opts, ReduceScatterOptions)
        return self._of(*inputs).reduce_scatter_tensor_coalesced(outputs, inputs, made)

    reduce_scatter_tensor_coalesced = reduce_scatter_single_coalesced

    def all_to_all_single(
        self, output: Any, tensor: Any, output_split_sizes: Any, input_split_sizes: Any, opts: Any = None
    ) -> Work:
        """Give each rank its rows."""
        made = _opts(opts, AllToAllOptions)
        return self._of(tensor).alltoall_base(output, tensor, output_split_sizes, input_split_sizes, made)

    alltoall_base = all_to_all_single

    def alltoall(self, output_tensors: Any, input_tensors: Any, opts: Any = None) -> Work:
        """Give each rank its tensor of the list."""
        made = _opts(opts, AllToAllOptions)
        return self._of(*output_tensors).alltoall(output_tensors, input_tensors, made)

    def expect_messages(self, tensor: mindtorch.Tensor, peers: Sequence[int]) -> None:
        """Let the backend of a tensor's device get ready for messages to and from these ranks."""
        self._of(tensor).expect_messages(peers)

    def send(self, tensors: Any, dstRank: int, tag: int = 0) -> Work:
        """Send a tensor."""
        return self._of(*tensors).send(list(tensors), dstRank, tag)

    def recv(self, tensors: Any, srcRank: int, tag: int = 0) -> Work:
        """Receive a tensor from a rank."""
        return self._of(*tensors).recv(list(tensors), srcRank, tag)

    def recv_anysource(self, tensors: Any, tag: int = 0) -> Work:
        """Receive a tensor from any rank."""
        return self._of(*tensors).recv_anysource(list(tensors), tag)

    def barrier(self, opts: Any = None, timeout: timedelta | None = None) -> Work:
        """Done when all are here."""
        return self._any().barrier(_opts(opts, BarrierOptions, timeout=timeout))

    def monitored_barrier(self, timeout: timedelta | None = None, wait_all_ranks: bool = False) -> None:
        """Return when all are here; an error says who is not."""
        self._any().monitored_barrier(timeout, wait_all_ranks)


class _Meta:
    """The backend of tensors without elements: there is nothing to do."""

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **kwargs: CompletedWork([])

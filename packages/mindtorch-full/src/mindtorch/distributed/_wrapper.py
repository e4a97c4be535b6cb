"""What TORCH_DISTRIBUTED_DEBUG=DETAIL checks: every collective is the same on all ranks, before it starts."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import NoReturn

from mindtorch.distributed._backend_base import Backend
from mindtorch.distributed._checks import scalar_names
from mindtorch.distributed._work import OpType, Work
from mindtorch.tensor.tensor import Tensor
from mindtorch_distributed import Store


def _device_text(tensor: Tensor) -> str:
    return (
        f"TensorOptions(dtype=float (default), device={tensor.device}, layout=Strided (default), "
        "requires_grad=false (default), pinned_memory=false (default), memory_format=(nullopt))"
    )


class _Print:
    """What is compared: the kind of a collective, and its tensors' shapes, dtypes and devices."""

    def __init__(
        self, kind: str, sequence: int, shapes: list[list[int]], dtypes: list[str], devices: list[str]
    ) -> None:
        self.kind, self.sequence, self.shapes, self.dtypes, self.devices = kind, sequence, shapes, dtypes, devices

    @classmethod
    def of(cls, kind: OpType, sequence: int, tensors: Sequence[Tensor]) -> _Print:
        dtypes = [scalar_names(tensor.dtype)[1] for tensor in tensors]
        shapes = [list(tensor.shape) for tensor in tensors]
        return cls(kind.name, sequence, shapes, dtypes, [_device_text(tensor) for tensor in tensors])

    def __str__(self) -> str:
        if not self.shapes:
            return f"CollectiveFingerPrint(SequenceNumber={self.sequence}OpType={self.kind})"
        shapes = "[" + ", ".join(str(n) for shape in self.shapes for n in shape) + "]"
        return (
            f"CollectiveFingerPrint(SequenceNumber={self.sequence}, OpType={self.kind}, TensorShape={shapes}, "
            f"TensorDtypes={' '.join(self.dtypes)}, TensorDeviceTypes={' '.join(self.devices)})"
        )

    def differences(self, other: _Print) -> str:
        """Return in what another one differs; nothing, where it does not."""
        numbers = [" ".join(str(n) for shape in one.shapes for n in shape) for one in (self, other)]
        found = [
            ("Sequence number", str(self.sequence), str(other.sequence), self.sequence != other.sequence),
            ("Op type", self.kind, other.kind, self.kind != other.kind),
            ("Tensor Tensor shapes", *numbers, self.shapes != other.shapes),
            ("Tensor Tensor dtypes", " ".join(self.dtypes), " ".join(other.dtypes), self.dtypes != other.dtypes),
            ("Tensor Tensor devices", " ".join(self.devices), " ".join(other.devices), self.devices != other.devices),
        ]
        return "".join(f"  {what}: {own}vs {their}" for what, own, their, differ in found if differ)


class _ProcessGroupWrapper:
    """A backend whose collectives are compared between ranks, by the group's store, before they start."""

    def __init__(self, backend: Backend, store: Store, timeout: timedelta) -> None:
        self.wrapped_pg, self._store, self._timeout, self._collectives = backend, store, timeout, 0

    def __getattr__(self, name: str) -> object:
        if name == "wrapped_pg":  # a wrapper that is being made has nothing to ask
            raise AttributeError(name)
        return getattr(self.wrapped_pg, name)

    def _verify(self, kind: OpType, tensors: Sequence[Tensor]) -> None:
        """Compare with all ranks. RuntimeError that names who differs and in what, or who did not come."""
        rank, size = self.wrapped_pg.rank(), self.wrapped_pg.size()
        number, own = self._collectives, _Print.of(kind, self._collectives, tensors)
        self._collectives += 1
        self._store.set(f"{number}/{rank}", json.dumps(vars(own)))
        if number >= 2:  # all who told what they do now have read what was told two collectives ago
            self._store.delete_key(f"{number - 2}/{rank}")
        prints = {other: self._told(f"{number}/{other}") for other in range(size) if other != rank}
        absent = [other for other, known in prints.items() if known is None]
        if absent:
            self._say_absent(absent)
        for other, known in prints.items():
            their = _Print(**json.loads(known or b""))
            differences = own.differences(their)
            if differences:
                raise RuntimeError(
                    f"Detected mismatch between collectives on ranks. Rank {rank} is running collective: {own}, but Rank "
                    f"{other} is running collective: {their}.Collectives differ in the following aspects: {differences}"
                )

    def _told(self, key: str) -> bytes | None:
        try:
            self._store.wait([key], self._timeout)
        except RuntimeError:
            return None
        return self._store.get(key)

    def _say_absent(self, absent: list[int]) -> NoReturn:
        rank = self.wrapped_pg.rank()
        if rank == 0:
            ranks, milliseconds = ", ".join(map(str, absent)), int(self._timeout.total_seconds() * 1000)
            text = f"[Rank 0]: Ranks {ranks} failed to pass monitoredBarrier in {milliseconds} ms"
        else:
            text = (
                f"[Rank {rank}]: Rank {rank} successfully reached monitoredBarrier, but received errors while waiting "
                "for send/recv from rank 0. Please check rank 0 logs for faulty rank."
            )
        raise RuntimeError(text)


_Arguments = tuple[object, ...]


def _first(arguments: _Arguments) -> list[Tensor]:
    return _flat(arguments[0])


def _second(arguments: _Arguments) -> list[Tensor]:
    return _flat(arguments[1])


def _none(arguments: _Arguments) -> list[Tensor]:
    return []


def _flat(given: object) -> list[Tensor]:
    if isinstance(given, (list, tuple)):
        return [tensor for inner in given for tensor in _flat(inner)]
    return [given] if isinstance(given, Tensor) else []


def _checked(name: str, kind: OpType, tensors_of: Callable[[_Arguments], list[Tensor]]) -> Callable[..., Work]:
    def collective(self: _ProcessGroupWrapper, *arguments: object) -> Work:
        self._verify(kind, tensors_of(arguments))
        work: Work = getattr(self.wrapped_pg, name)(*arguments)
        return work

    collective.__name__ = name
    return collective


for _name, _kind, _tensors_of in (
    ("broadcast", OpType.BROADCAST, _first),
    ("allreduce", OpType.ALLREDUCE, _first),
    ("allreduce_coalesced", OpType.ALLREDUCE_COALESCED, _first),
    ("reduce", OpType.REDUCE, _first),
    ("allgather", OpType.ALLGATHER, _second),
    ("_allgather_base", OpType._ALLGATHER_BASE, _second),
    ("allgather_coalesced", OpType.ALLGATHER_COALESCED, _none),
    ("allgather_into_tensor_coalesced", OpType.ALLGATHER_COALESCED, _second),
    ("gather", OpType.GATHER, _second),
    ("scatter", OpType.SCATTER, _first),
    ("reduce_scatter", OpType.REDUCE_SCATTER, _first),
    ("_reduce_scatter_base", OpType._REDUCE_SCATTER_BASE, _first),
    ("reduce_scatter_tensor_coalesced", OpType.REDUCE_SCATTER, _first),
    ("alltoall_base", OpType.ALLTOALL_BASE, _none),  # sizes may differ
    ("alltoall", OpType.ALLTOALL, _none),
    ("barrier", OpType.BARRIER, _none),
):
    setattr(_ProcessGroupWrapper, _name, _checked(_name, _kind, _tensors_of))

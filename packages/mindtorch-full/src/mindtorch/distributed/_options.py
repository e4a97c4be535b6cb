"""What a collective is told beside its tensors."""

from __future__ import annotations

import enum
from datetime import timedelta
from typing import Any

from mindtorch.distributed._reduce_op import RedOpType, ReduceOp

_NO_TIMEOUT = timedelta(milliseconds=-1)


class _Options:
    """Fields with torch's defaults; a reduction is checked when it is set."""

    def __init__(self) -> None:
        self.timeout = _NO_TIMEOUT
        self.asyncOp = True

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "reduceOp":
            value = self._reduction(value)
        object.__setattr__(self, name, value)

    def _reduction(self, value: Any) -> ReduceOp:
        plain = isinstance(value, RedOpType) and value is not RedOpType.PREMUL_SUM
        if plain:
            return ReduceOp(value)
        if isinstance(value, ReduceOp):
            return value
        name = type(self).__name__
        raise TypeError(
            "(): incompatible function arguments. The following argument types are supported:\n"
            f"    1. (self: torch._C._distributed_c10d.{name}, arg0: torch._C._distributed_c10d.ReduceOp) -> None\n\n"
            f"Invoked with: {self!r}, {value!r}"
        )


class AllreduceOptions(_Options):
    """Of `allreduce`.

    >>> import torch.distributed as dist
    >>> options = dist.AllreduceOptions()
    >>> options.reduceOp = dist.ReduceOp.MAX
    >>> options.reduceOp == dist.ReduceOp.MAX
    True
    """

    def __init__(self) -> None:
        super().__init__()
        self.reduceOp = RedOpType.SUM
        self.sparseIndices: Any = None


class AllreduceCoalescedOptions(AllreduceOptions):
    """Of `allreduce_coalesced`.

    >>> import torch.distributed as dist
    >>> dist.AllreduceCoalescedOptions().reduceOp == dist.ReduceOp.SUM
    True
    """


class ReduceOptions(_Options):
    """Of `reduce`.

    >>> import torch.distributed as dist
    >>> options = dist.ReduceOptions()
    >>> options.rootRank, options.reduceOp == dist.ReduceOp.SUM
    (0, True)
    """

    def __init__(self) -> None:
        super().__init__()
        self.reduceOp = RedOpType.SUM
        self.rootRank = 0
        self.rootTensor = 0


class ReduceScatterOptions(_Options):
    """Of `reduce_scatter`.

    >>> import torch.distributed as dist
    >>> dist.ReduceScatterOptions().reduceOp == dist.ReduceOp.SUM
    True
    """

    def __init__(self) -> None:
        super().__init__()
        self.reduceOp = RedOpType.SUM


class BroadcastOptions(_Options):
    """Of `broadcast`.

    >>> import torch.distributed as dist
    >>> options = dist.BroadcastOptions()
    >>> options.rootRank = 1
    >>> options.rootRank, options.rootTensor
    (1, 0)
    """

    def __init__(self) -> None:
        super().__init__()
        self.rootRank = 0
        self.rootTensor = 0


class _RootOptions(_Options):
    def __init__(self) -> None:
        super().__init__()
        self.rootRank = 0


class GatherOptions(_RootOptions):
    """Of `gather`.

    >>> import torch.distributed as dist
    >>> dist.GatherOptions().rootRank
    0
    """


class ScatterOptions(_RootOptions):
    """Of `scatter`.

    >>> import torch.distributed as dist
    >>> dist.ScatterOptions().rootRank
    0
    """


class AllgatherOptions(_Options):
    """Of `allgather`."""


class AllToAllOptions(_Options):
    """Of `alltoall`.

    >>> import torch.distributed as dist
    >>> dist.AllToAllOptions().asyncOp
    True
    """


class BarrierOptions(_Options):
    """Of `barrier`.

    >>> import torch.distributed as dist
    >>> dist.BarrierOptions().device_ids
    []
    """

    def __init__(self) -> None:
        super().__init__()
        self.device_ids: list[int] = []
        self.device: Any = None


class DebugLevel(enum.IntEnum):
    """How much is checked: TORCH_DISTRIBUTED_DEBUG.

    >>> import torch.distributed as dist
    >>> [one.name for one in (dist.DebugLevel.OFF, dist.DebugLevel.INFO, dist.DebugLevel.DETAIL)]
    ['OFF', 'INFO', 'DETAIL']
    """

    OFF = 0
    INFO = 1
    DETAIL = 2

    def __repr__(self) -> str:
        return f"<DebugLevel.{self.name}: {self.value}>"

    def __str__(self) -> str:
        return f"DebugLevel.{self.name}"


class BuiltinCommHookType(enum.Enum):
    """Hooks of data parallelism that are no functions of Python with torch."""

    ALLREDUCE = 1
    FP16_COMPRESS = 2

    def __int__(self) -> int:
        return self.value

    def __hash__(self) -> int:
        return self.value

    def __str__(self) -> str:
        return f"BuiltinCommHookType.{self.name}"


BuiltinCommHookType.__module__ = "torch._C._distributed_c10d"

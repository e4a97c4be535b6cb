"""What `fully_shard` is configured with."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import mindtorch as torch
from mindtorch import distributed as dist
from mindtorch._naming import adopt
from mindtorch.distributed._reduce_op import RedOpType
from mindtorch.tensor.tensor import Tensor

__all__ = ["CPUOffloadPolicy", "DataParallelMeshDims", "MixedPrecisionPolicy", "OffloadPolicy"]


@dataclass(frozen=True)
class MixedPrecisionPolicy:
    """The dtypes of parameters while they are whole, of reductions and of outputs."""

    param_dtype: torch.dtype | None = None
    reduce_dtype: torch.dtype | None = None
    output_dtype: torch.dtype | None = None
    cast_forward_inputs: bool = True


class Comm(ABC):
    """How a program communicates, where it does so on its own: it chooses the memory too."""

    @abstractmethod
    def allocate(self, size: Sequence[int], *, dtype: torch.dtype, device: torch.device) -> Tensor:
        """Return memory for a communication: a tensor of this size, flat and contiguous."""


class AllGather(Comm):
    """Gathers the parts of parameters."""

    @abstractmethod
    def __call__(
        self, output_tensor: Tensor, input_tensor: Tensor, group: dist.ProcessGroup, async_op: bool = False
    ) -> dist.Work | None:
        """Put the inputs of all, which lie within their outputs already, side by side."""


class ReduceScatter(Comm):
    """Reduces gradients to parts."""

    @abstractmethod
    def __call__(
        self,
        output_tensor: Tensor,
        input_tensor: Tensor,
        group: dist.ProcessGroup,
        op: dist.ReduceOp | RedOpType,
        async_op: bool = False,
    ) -> dist.Work | None:
        """Reduce the inputs of all; every process gets its part."""


@dataclass
class DataParallelMeshDims:
    """The dimensions of a mesh over which data differ, by name: of parts, and of copies."""

    shard: str | tuple[str, ...] | None = None
    replicate: str | tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        """Ask for one of them at least."""
        if self.shard is None and self.replicate is None:
            raise ValueError("At least one of shard or replicate must be set in DataParallelMeshDims")

    @property
    def shard_names(self) -> tuple[str, ...]:
        """The dimensions of parts."""
        return _names(self.shard)

    @property
    def replicate_names(self) -> tuple[str, ...]:
        """The dimensions of copies."""
        return _names(self.replicate)


def _names(given: str | tuple[str, ...] | None) -> tuple[str, ...]:
    return () if given is None else (given,) if isinstance(given, str) else tuple(given)


@dataclass
class OffloadPolicy:
    """Parameters stay where they are computed with."""


@dataclass
class CPUOffloadPolicy(OffloadPolicy):
    """Parameters, their gradients and the optimizer's state lie in the host's memory."""

    pin_memory: bool = True


adopt(globals(), "torch.distributed.fsdp")

"""A part of a tensor, with this process."""

from __future__ import annotations

from dataclasses import dataclass

from mindtorch import distributed as dist
from mindtorch._naming import adopt
from mindtorch.distributed._shard.metadata import ShardMetadata
from mindtorch.distributed.remote_device import _remote_device
from mindtorch.tensor.tensor import Tensor


@dataclass
class Shard:
    """The part, and which one it is."""

    __slots__ = ["metadata", "tensor"]
    tensor: Tensor
    metadata: ShardMetadata

    def __post_init__(self) -> None:
        found = list(self.tensor.size())
        if found != list(self.metadata.shard_sizes):
            raise ValueError(
                "Shard tensor size does not match with metadata.shard_lengths! "
                f"Found shard tensor size: {found}, metadata.shard_lengths: {self.metadata.shard_sizes}, "
            )
        placement = self.metadata.placement
        if placement is not None and placement.device() != self.tensor.device:
            raise ValueError(
                "Local shard tensor device does not match with local Shard's placement! "
                f"Found local shard tensor device: {self.tensor.device}, local shard metadata placement device: "
                f"{placement.device()}"
            )

    @classmethod
    def from_tensor_and_offsets(cls, tensor: Tensor, shard_offsets: list[int], rank: int) -> Shard:
        """Return the part of a tensor that begins there, with the process of this rank."""
        placement = _remote_device(f"rank:{rank}/{tensor.device}")
        return cls(tensor, ShardMetadata(shard_offsets, list(tensor.size()), placement))


def _rank_of(shard: ShardMetadata) -> int | None:
    """Return the rank of the process that has a part."""
    return None if shard.placement is None else shard.placement.rank()


def own(shards: list[ShardMetadata]) -> list[ShardMetadata]:
    """Return the parts of this process."""
    return [shard for shard in shards if _rank_of(shard) == dist.get_rank()]


adopt(globals())

"""Ways to cut a tensor."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.distributed._shard._tensor_metadata import ShardedTensorMetadata, TensorProperties
from mindtorch.distributed._shard.metadata import ShardMetadata
from mindtorch.distributed._shard.sharding_spec._internals import check_tensor, validate_non_overlapping_shards_metadata
from mindtorch.distributed.remote_device import _remote_device


class PlacementSpec(ABC):  # noqa: B024 - torch's has no methods either
    """Where a part lies."""


@dataclass
class DevicePlacementSpec(PlacementSpec):
    """On a device of a process."""

    device: _remote_device

    def __post_init__(self) -> None:
        if not isinstance(self.device, _remote_device):
            self.device = _remote_device(self.device)


class ShardingSpec(ABC):
    """How a tensor is cut, whatever its size."""

    @abstractmethod
    def build_metadata(self, tensor_sizes: torch.Size, tensor_properties: TensorProperties) -> ShardedTensorMetadata:
        """Return the parts of a tensor of this size."""


@dataclass
class EnumerableShardingSpec(ShardingSpec):
    """Part by part."""

    shards: list[ShardMetadata]

    def __post_init__(self) -> None:
        if not self.shards:
            raise ValueError(f"Empty shard list provided: {self.shards}")
        rank = -1
        for shard in self.shards:
            if rank not in (-1, len(shard.shard_offsets)):
                raise ValueError(f"Found inconsistent ranks for shards: {rank} and {len(shard.shard_offsets)}")
            rank = len(shard.shard_offsets)
        validate_non_overlapping_shards_metadata(self.shards)

    def build_metadata(self, tensor_sizes: torch.Size, tensor_properties: TensorProperties) -> ShardedTensorMetadata:
        """Return the parts, if a tensor of this size consists of them."""
        check_tensor(self.shards, tensor_sizes)
        return ShardedTensorMetadata(self.shards, tensor_sizes, tensor_properties)


def _infer_sharding_spec_from_shards_metadata(shards_metadata: list[ShardMetadata]) -> ShardingSpec:
    """Return the way in which a tensor was cut into these parts."""
    return EnumerableShardingSpec(shards_metadata)


adopt(globals())

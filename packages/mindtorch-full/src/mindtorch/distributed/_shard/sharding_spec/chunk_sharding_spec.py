"""Parts of one length along a dimension; the last one may be shorter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.distributed._shard._tensor_metadata import ShardedTensorMetadata, TensorProperties
from mindtorch.distributed._shard.metadata import ShardMetadata
from mindtorch.distributed._shard.sharding_spec._internals import get_chunked_dim_size, get_split_size
from mindtorch.distributed._shard.sharding_spec.api import ShardingSpec
from mindtorch.distributed.remote_device import _remote_device


@dataclass
class ChunkShardingSpec(ShardingSpec):
    """A part for each of the placements."""

    dim: int | str
    placements: list[Any]

    def __post_init__(self) -> None:
        self._verify_dim(self.dim)
        self.placements = [one if isinstance(one, _remote_device) else _remote_device(one) for one in self.placements]

    @staticmethod
    def _verify_dim(dim: object) -> None:
        if isinstance(dim, str):
            raise NotImplementedError("ChunkShardingSpec does not support named dimension yet!")
        if not isinstance(dim, int):
            raise ValueError(f"Sharding dim needs to be an integer, found: {dim}")

    def build_metadata(self, tensor_sizes: torch.Size, tensor_properties: TensorProperties) -> ShardedTensorMetadata:
        """Return the parts of a tensor of this size."""
        dim = int(self.dim)
        if dim < -len(tensor_sizes) or dim >= len(tensor_sizes):
            raise ValueError(f"Invalid sharding dim: {dim}")
        length = tensor_sizes[dim]
        step = get_split_size(length, len(self.placements))
        shards, start = [], 0
        for place, placement in enumerate(self.placements):
            sizes, offsets = list(tensor_sizes), [0] * len(tensor_sizes)
            sizes[dim], offsets[dim] = get_chunked_dim_size(length, step, place), start
            shards.append(ShardMetadata(offsets, sizes, placement))
            start += sizes[dim]
        return ShardedTensorMetadata(shards, tensor_sizes, tensor_properties)


adopt(globals())

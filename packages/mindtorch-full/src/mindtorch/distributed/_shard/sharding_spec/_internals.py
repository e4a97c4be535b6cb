"""Whether parts cover a tensor, and each of its elements once."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from mindtorch._naming import adopt
from mindtorch.distributed._shard.metadata import ShardMetadata


def _check_shard_metadata_pair_overlap(shard1: ShardMetadata, shard2: ShardMetadata) -> bool:
    """Return whether two parts have an element in common."""
    return all(
        one < other + length and other < one + size
        for one, size, other, length in zip(
            shard1.shard_offsets, shard1.shard_sizes, shard2.shard_offsets, shard2.shard_sizes, strict=True
        )
    )


def validate_non_overlapping_shards_metadata(shards: Sequence[ShardMetadata]) -> None:
    """Refuse parts that have an element in common."""
    for one, other in itertools.combinations(shards, 2):
        if _check_shard_metadata_pair_overlap(one, other):
            raise ValueError(f"Shards {one} and {other} overlap")


def check_tensor(shards_metadata: Sequence[ShardMetadata], tensor_dims: Sequence[int]) -> None:
    """Refuse parts that reach out of a tensor of this size, or leave some of it."""
    rank = len(tensor_dims)
    for shard in shards_metadata:
        if len(shard.shard_offsets) != rank:
            raise ValueError(f"Rank of tensor is {rank}, but shards rank is {len(shard.shard_offsets)}")
    whole = math.prod(tensor_dims)
    volume = sum(math.prod(shard.shard_sizes) for shard in shards_metadata)
    for shard in shards_metadata:
        for dim, (offset, size) in enumerate(zip(shard.shard_offsets, shard.shard_sizes, strict=True)):
            if volume == whole and offset + size > tensor_dims[dim]:
                raise ValueError(
                    f"Shard offset {offset} and length {size} exceeds tensor dim: {tensor_dims[dim]} for shard {shard}"
                )
    if volume != whole:
        raise ValueError(
            f"Total volume of shards: {volume} does not match tensor volume: {whole}, in other words all the individual "
            "shards do not cover the entire tensor"
        )


def get_split_size(dim_size: int, chunks: int) -> int:
    """Return the length of all parts but the last."""
    return (dim_size + chunks - 1) // chunks


def get_chunked_dim_size(dim_size: int, split_size: int, idx: int) -> int:
    """Return the length of a part."""
    return max(min(dim_size, split_size * (idx + 1)) - split_size * idx, 0)


adopt(globals())

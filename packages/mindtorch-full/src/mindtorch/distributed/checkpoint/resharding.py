"""`torch.distributed.checkpoint.resharding`: which part two parts of a tensor share."""

from __future__ import annotations

from mindtorch._naming import adopt
from mindtorch.distributed.checkpoint.metadata import ChunkStorageMetadata

__all__: list[str] = []


def _check_shard_metadata_pair_overlap(shard1: ChunkStorageMetadata, shard2: ChunkStorageMetadata) -> bool:
    """Return whether two parts share something."""
    sides = zip(shard1.offsets, shard1.sizes, shard2.offsets, shard2.sizes, strict=True)
    return all(start < other + length and other < start + size for start, size, other, length in sides)


def _shards_get_overlap_region_wrt_saved_tensor(
    saved_shard: ChunkStorageMetadata, current_shard: ChunkStorageMetadata
) -> list[tuple[int, int, int, int]]:
    """Return, for every dimension, where in the saved and in the wanted part the shared one begins, and its length."""
    sides = zip(saved_shard.offsets, saved_shard.sizes, current_shard.offsets, current_shard.sizes, strict=True)
    found = []
    for dim, (saved, size, wanted, length) in enumerate(sides):
        start, end = max(saved, wanted), min(saved + size, wanted + length)
        found.append((dim, start - saved, start - wanted, end - start))
    return found


adopt(globals())

"""Which part of a tensor a process has."""

from __future__ import annotations

from dataclasses import dataclass

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.distributed.remote_device import _remote_device


@dataclass
class ShardMetadata:
    """Where a part begins, how large it is, and where it lies."""

    __slots__ = ["placement", "shard_offsets", "shard_sizes"]

    shard_offsets: list[int]
    shard_sizes: list[int]
    placement: _remote_device | None

    def __init__(
        self,
        shard_offsets: list[int],
        shard_sizes: list[int],
        placement: str | _remote_device | torch.device | None = None,
    ) -> None:
        self.shard_offsets, self.shard_sizes = shard_offsets, shard_sizes
        named = isinstance(placement, (str, torch.device))
        self.placement = _remote_device(placement) if named else placement  # type: ignore[arg-type, assignment] # a device now
        if len(shard_offsets) != len(shard_sizes):
            raise ValueError(
                "shard_offsets and shard_sizes should have the same number of elements, found "
                f"{len(shard_offsets)} and {shard_sizes} respectively"
            )
        for offset, size in zip(shard_offsets, shard_sizes, strict=True):
            if offset < 0:
                raise ValueError("shard_offsets should be >=0")
            if size < 0:
                raise ValueError("shard_sizes should be >= 0")

    def __hash__(self) -> int:
        return hash((*self.shard_offsets, *self.shard_sizes, self.placement))


adopt(globals())

"""Segments and blocks as `torch.cuda.memory_snapshot` shows them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, SupportsIndex

from mindtorch_npu.allocator.blocks import Block


class Snapshot(list[dict[str, Any]]):
    """The segments of a device or of all, a list as torch's; `snapshot["segments"]`, `["device"]` and `["allocator"]` tell
    what a dictionary would. Copies and pickles are plain lists."""

    def __init__(self, segments: Iterable[dict[str, Any]], device: int) -> None:
        super().__init__(segments)
        self._fields = {"device": device, "allocator": "npu"}

    def keys(self) -> list[str]:
        """Return the names of the fields."""
        return ["segments", *self._fields]

    def __contains__(self, item: object) -> bool:
        return item in self.keys() if isinstance(item, str) else super().__contains__(item)

    def __getitem__(self, item: Any) -> Any:
        if not isinstance(item, str):
            return super().__getitem__(item)
        return list(self) if item == "segments" else self._fields[item]

    def __reduce_ex__(self, protocol: SupportsIndex) -> Any:
        return list, (list(self),)


def segments_of(
    device: int, segments: dict[int, tuple[Block, int]], runs: Iterable[list[Block]] = ()
) -> list[dict[str, Any]]:
    """Return the segments of a device by address, each with its blocks in order; `runs` are the mapped parts of ranges."""
    found = [_segment(device, _chain(first), size) for _, (first, size) in segments.items()]
    found += [_segment(device, run, sum(block.size for block in run)) for run in runs]
    return sorted(found, key=lambda segment: segment["address"])


def _chain(block: Block | None) -> list[Block]:
    blocks = []
    while block is not None:
        blocks.append(block)
        block = block.next
    return blocks


def _segment(device: int, blocks: list[Block], size: int) -> dict[str, Any]:
    first = blocks[0]
    return {
        "device": device,
        "address": first.address,
        "total_size": size,
        "allocated_size": sum(b.size for b in blocks if b.allocated),
        "active_size": sum(b.size for b in blocks if not b.free),
        "requested_size": sum(b.requested for b in blocks if not b.free),
        "stream": first.stream,
        "segment_type": "small" if first.pool.small else "large",
        "segment_pool_id": first.pool.owner,
        "is_expandable": first.segment is not None,
        "frames": [],
        "blocks": [
            {
                "address": b.address,
                "size": b.size,
                "requested_size": b.requested,
                "state": b.state,
                "frames": b.frames,
            }
            for b in blocks
        ],
    }

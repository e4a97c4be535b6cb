"""Segments and blocks as `torch.cuda.memory_snapshot` shows them."""

from __future__ import annotations

from typing import Any

from mindtorch_npu.allocator.blocks import Block


def segments_of(device: int, segments: dict[int, tuple[Block, int]]) -> list[dict[str, Any]]:
    """Return the segments of a device by address, each with its blocks in order."""
    return [_segment(device, first, size) for _, (first, size) in sorted(segments.items())]


def _segment(device: int, first: Block, size: int) -> dict[str, Any]:
    blocks = []
    block: Block | None = first
    while block is not None:
        blocks.append(block)
        block = block.next
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
        "is_expandable": False,
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

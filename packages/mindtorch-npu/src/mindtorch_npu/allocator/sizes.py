"""How large blocks and segments are made."""

from __future__ import annotations

from mindtorch_npu.allocator.config import MIB, Config

MIN_BLOCK = 512
SMALL = MIB
SMALL_SEGMENT = 2 * MIB
MIN_LARGE = 10 * MIB
ROUND_LARGE = 2 * MIB
PADDING = 32


def round_size(size: int, config: Config) -> int:
    """Return how many bytes a block for a request of `size` bytes has."""
    size += PADDING
    if size < MIN_BLOCK:
        return MIN_BLOCK
    parts = config.divisions(size)
    if parts > 1 and size > MIN_BLOCK * parts:
        power = 1 << (size.bit_length() - 1)
        if size & (size - 1) == 0:
            return size
        step = power // parts
        return power + (size - power + step - 1) // step * step
    return (size + MIN_BLOCK - 1) // MIN_BLOCK * MIN_BLOCK


def segment_size(size: int, config: Config) -> int:
    """Return how many bytes are asked of the device for a block of `size` bytes."""
    if size <= SMALL:
        return SMALL_SEGMENT
    if size < MIN_LARGE:
        return config.large_segment_size
    return (size + ROUND_LARGE - 1) // ROUND_LARGE * ROUND_LARGE

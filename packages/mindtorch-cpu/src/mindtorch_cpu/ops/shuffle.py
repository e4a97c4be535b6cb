"""Trading channels for resolution."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch_cpu.register import kernel


def _assign(out: Any, moved: Any) -> None:
    """Write elements that were moved between dimensions to `out`: once, where it can be split as they are."""
    if out.flags.c_contiguous:
        out.reshape(moved.shape)[...] = moved
    else:
        out[...] = moved.reshape(out.shape)


@kernel("pixel_shuffle", upcast=False)
def pixel_shuffle(out: Any, self: Any, upscale_factor: int) -> None:
    """(*, C*r*r, H, W) to (*, C, H*r, W*r)."""
    *batch, _, height, width = self.shape
    factor = upscale_factor
    split = self.reshape(*batch, out.shape[-3], factor, factor, height, width)
    moved = np.moveaxis(split, (-4, -3), (-3, -1))
    _assign(out, moved)


@kernel("pixel_unshuffle", upcast=False)
def pixel_unshuffle(out: Any, self: Any, downscale_factor: int) -> None:
    """(*, C, H*r, W*r) to (*, C*r*r, H, W)."""
    *batch, channels, _, _ = self.shape
    factor = downscale_factor
    split = self.reshape(*batch, channels, out.shape[-2], factor, out.shape[-1], factor)
    moved = np.moveaxis(split, (-3, -1), (-4, -3))
    _assign(out, moved)


@kernel("channel_shuffle", "native_channel_shuffle", upcast=False)
def channel_shuffle(out: Any, self: Any, groups: int) -> None:
    """Channels interleaved by groups."""
    batch, channels, *rest = self.shape
    split = self.reshape(batch, groups, channels // groups, *rest)
    _assign(out, np.swapaxes(split, 1, 2))

"""Meta rules of trading channels for resolution."""

from __future__ import annotations

from mindtorch_storage.spec import Spec

from ..meta.checks import check, shape_text
from ..meta.memory_format import suggested
from ..meta.rule import meta_rule


def _check_image(name: str, factor_name: str, self: Spec, factor: int) -> None:
    check(
        self.ndim >= 3,
        lambda: f"{name} expects input to have at least 3 dimensions, but got input with {self.ndim} dimension(s)",
    )
    check(factor > 0, lambda: f"{name} expects a positive {factor_name}, but got {factor}")


@meta_rule(out=True)
def pixel_shuffle(self: Spec, upscale_factor: int) -> Spec:
    """(*, C*r*r, H, W) to (*, C, H*r, W*r)."""
    _check_image("pixel_shuffle", "upscale_factor", self, upscale_factor)
    *batch, channels, height, width = self.shape
    square = upscale_factor * upscale_factor
    check(
        square < 2**63,
        lambda: f"upscale factor is too large, (upscale_factor)^2 overflowed: upscale_factor={upscale_factor}",
        ValueError,
    )
    check(
        channels % square == 0,
        lambda: (
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, "
            f"but input.size(-3)={channels} is not divisible by {square}"
        ),
    )
    return suggested(self, (*batch, channels // square, height * upscale_factor, width * upscale_factor))


@meta_rule(out=True)
def pixel_unshuffle(self: Spec, downscale_factor: int) -> Spec:
    """(*, C, H*r, W*r) to (*, C*r*r, H, W)."""
    _check_image("pixel_unshuffle", "downscale_factor", self, downscale_factor)
    *batch, channels, height, width = self.shape
    for place, name, extent in ((-2, "height", height), (-1, "width", width)):
        check(
            extent % downscale_factor == 0,
            lambda place=place, name=name, extent=extent: (
                f"pixel_unshuffle expects {name} to be divisible by "
                f"downscale_factor, but input.size({place})={extent} is not divisible by {downscale_factor}"
            ),
        )
    shape = (*batch, channels * downscale_factor**2, height // downscale_factor, width // downscale_factor)
    return suggested(self, shape)


@meta_rule(out=True)
def channel_shuffle(self: Spec, groups: int) -> Spec:
    """Channels interleaved by groups."""
    check(
        self.ndim > 2,
        lambda: f"channel_shuffle expects input with > 2 dims, but got input with sizes {shape_text(self.shape)}",
    )
    check(
        groups > 0,
        lambda: f"Number of groups to divide channels in must be positive. Value of groups:{groups}",
    )
    channels = self.shape[1]
    check(
        channels % groups == 0,
        lambda: f"Number of channels must be divisible by groups. Got {channels} channels and {groups} groups.",
    )
    return suggested(self)

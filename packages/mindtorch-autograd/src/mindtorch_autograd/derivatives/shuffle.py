"""Trading channels for resolution."""

from __future__ import annotations

from mindtorch_dispatch.call import aten

from ..derivative import derivative

derivative("pixel_shuffle", self=lambda grad, upscale_factor: aten.pixel_unshuffle(grad, upscale_factor))
derivative("pixel_unshuffle", self=lambda grad, downscale_factor: aten.pixel_shuffle(grad, downscale_factor))
derivative("channel_shuffle", self=lambda grad, groups: aten.channel_shuffle(grad, grad.shape[1] // groups))
derivative(
    "native_channel_shuffle", self=lambda grad, groups: aten.native_channel_shuffle(grad, grad.shape[1] // groups)
)

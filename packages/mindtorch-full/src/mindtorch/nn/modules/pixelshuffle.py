"""Layers that trade channels for resolution."""

from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.nn import functional as F
from mindtorch.nn.modules.module import Module

__all__ = ["PixelShuffle", "PixelUnshuffle"]


class PixelShuffle(Module):
    """(*, C*r*r, H, W) to (*, C, H*r, W*r).

    >>> torch.nn.PixelShuffle(2)(torch.ones(1, 4, 2, 2)).shape
    torch.Size([1, 1, 4, 4])
    """

    __constants__ = ["upscale_factor"]
    upscale_factor: int

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Return the rearranged input."""
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        """Return the factor."""
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """(*, C, H*r, W*r) to (*, C*r*r, H, W).

    >>> torch.nn.PixelUnshuffle(2)(torch.ones(1, 1, 4, 4)).shape
    torch.Size([1, 4, 2, 2])
    """

    __constants__ = ["downscale_factor"]
    downscale_factor: int

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """Return the rearranged input."""
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        """Return the factor."""
        return f"downscale_factor={self.downscale_factor}"


adopt(globals())

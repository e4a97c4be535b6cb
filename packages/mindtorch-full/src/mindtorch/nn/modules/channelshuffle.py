"""Interleaving of channel groups."""

from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.nn import functional as F
from mindtorch.nn.modules.module import Module

__all__ = ["ChannelShuffle"]


class ChannelShuffle(Module):
    """Splits the channels of (*, C, H, W) into ``groups`` and interleaves them.

    >>> torch.nn.ChannelShuffle(2)(torch.ones(1, 4, 2, 2)).shape
    torch.Size([1, 4, 2, 2])
    """

    __constants__ = ["groups"]
    groups: int

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Tensor) -> Tensor:
        """Return the rearranged input."""
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        """Return the number of groups."""
        return f"groups={self.groups}"


adopt(globals())

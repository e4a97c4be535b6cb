"""Convolutions as image models have them, and what trains beside them: forward, and forward and backward."""

from collections.abc import Callable

import torch
import torch.nn.functional as F

Step = Callable[[], object]


def forward(function: Callable[..., torch.Tensor], *operands: torch.Tensor) -> Step:
    """Return a step that calls the function, recording nothing."""

    def step() -> None:
        with torch.no_grad():
            function(*operands)

    return step


def both(function: Callable[..., torch.Tensor], *operands: torch.Tensor) -> Step:
    """Return a step that calls the function and propagates back to all operands."""
    for operand in operands:
        operand.requires_grad_()
    grad = torch.ones_like(function(*operands))

    def step() -> None:
        for operand in operands:
            operand.grad = None
        function(*operands).backward(grad)

    return step


def _conv(
    images: int, extent: int, weight: tuple[int, ...], stride: int, padding: int, groups: int = 1, train: bool = False
) -> Callable[[], Step]:
    def case() -> Step:
        x = torch.randn(images, weight[1] * groups, extent, extent)
        operands = (x, torch.randn(weight), torch.randn(weight[0]))

        def function(*given: torch.Tensor) -> torch.Tensor:
            return F.conv2d(*given, stride=stride, padding=padding, groups=groups)

        return (both if train else forward)(function, *operands)

    return case


conv_first = _conv(4, 224, (64, 3, 7, 7), 2, 3)
conv_three = _conv(8, 56, (64, 64, 3, 3), 1, 1)
conv_three_train = _conv(8, 56, (64, 64, 3, 3), 1, 1, train=True)
conv_down = _conv(8, 56, (128, 64, 3, 3), 2, 1)
conv_down_train = _conv(8, 56, (128, 64, 3, 3), 2, 1, train=True)
conv_depthwise = _conv(8, 56, (128, 1, 3, 3), 1, 1, 128)
conv_depthwise_small = _conv(8, 14, (256, 1, 3, 3), 1, 1, 256)
conv_depthwise_seven = _conv(4, 56, (96, 1, 7, 7), 1, 3, 96)
conv_patches = _conv(4, 224, (768, 3, 16, 16), 16, 0)


def gated_train() -> Step:
    """`glu`."""
    return both(F.glu, torch.randn(512, 3072))


def rms_norm_train() -> Step:
    """With a weight."""
    return both(lambda x, weight: F.rms_norm(x, [768], weight), torch.randn(512, 768), torch.randn(768))


def l1_loss_train() -> Step:
    """The mean of absolute differences."""
    target = torch.randn(512, 3072)
    return both(lambda x: F.l1_loss(x, target), torch.randn(512, 3072))

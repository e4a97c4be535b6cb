"""Resizing, sampling, pools, volumes and transposed convolutions: forward, or forward and backward."""

from collections.abc import Callable

import torch
import torch.nn.functional as F
from layer_cases import Step, both, forward


def _operands(*shapes: tuple[int, ...]) -> list[torch.Tensor]:
    return [torch.randn(shape) for shape in shapes]


def _case(function: Callable[..., torch.Tensor], *shapes: tuple[int, ...], train: bool = False) -> Callable[[], Step]:
    return lambda: (both if train else forward)(function, *_operands(*shapes))


def _resize(mode: str, **options: bool) -> Callable[[torch.Tensor], torch.Tensor]:
    return lambda x: F.interpolate(x, size=(112, 112), mode=mode, **options)


def _sample(x: torch.Tensor, grid: torch.Tensor) -> torch.Tensor:
    return F.grid_sample(x, grid, align_corners=False)


_IMAGES = (4, 32, 56, 56)
_PLANES = (8, 64, 56, 56)
_VOLUMES = ((2, 16, 16, 16, 16), (32, 16, 3, 3, 3))
_UPWARD = ((8, 64, 28, 28), (64, 32, 4, 4))

resize_nearest = _case(_resize("nearest"), _IMAGES)
resize_bilinear = _case(_resize("bilinear"), _IMAGES)
resize_bilinear_train = _case(_resize("bilinear"), _IMAGES, train=True)
resize_bicubic = _case(_resize("bicubic"), _IMAGES)
resize_antialiased = _case(_resize("bilinear", antialias=True), (4, 3, 256, 256))
grid_sample = _case(_sample, _IMAGES, (4, 56, 56, 2))
grid_sample_train = _case(_sample, _IMAGES, (4, 56, 56, 2), train=True)
max_pool = _case(lambda x: F.max_pool2d(x, 2), _PLANES)
max_pool_train = _case(lambda x: F.max_pool2d(x, 3, 2, 1), _PLANES, train=True)
max_pool_volumes = _case(lambda x: F.max_pool3d(x, 2), (2, 16, 32, 32, 32))
adaptive_mean = _case(lambda x: F.adaptive_avg_pool2d(x, 7), (16, 256, 14, 14))
adaptive_largest = _case(lambda x: F.adaptive_max_pool2d(x, 7), (16, 256, 14, 14))
conv_volumes = _case(lambda x, weight: F.conv3d(x, weight, padding=1), *_VOLUMES)
conv_volumes_train = _case(lambda x, weight: F.conv3d(x, weight, padding=1), *_VOLUMES, train=True)
conv_transposed = _case(lambda x, weight: F.conv_transpose2d(x, weight, stride=2, padding=1), *_UPWARD)
conv_transposed_train = _case(
    lambda x, weight: F.conv_transpose2d(x, weight, stride=2, padding=1), *_UPWARD, train=True
)


def product_of_int64() -> Step:
    """Small numbers."""
    x, y = torch.randint(-9, 9, (128, 128)), torch.randint(-9, 9, (128, 128))
    return lambda: x @ y


dot = _case(torch.dot, (100_000,), (100_000,))
outer_products = _case(lambda x, y: torch.einsum("bi,bj->bij", x, y), (64, 128), (64, 128))
attention_eighty = _case(F.scaled_dot_product_attention, *[(2, 16, 128, 80)] * 3)

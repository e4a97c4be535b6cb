"""Sliding blocks to columns and back."""

from typing import Any

from mindtorch._tensor import Tensor
from mindtorch.nn._tuples import _pair
from mindtorch.ops_table import aten


def unfold(input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """Return the sliding blocks of images (N, C, H, W) as columns (N, C*prod(kernel_size), L).

    >>> torch.nn.functional.unfold(torch.ones(1, 1, 3, 3), (2, 2)).shape
    torch.Size([1, 4, 4])
    """
    return aten.im2col(input, _pair(kernel_size), _pair(dilation), _pair(padding), _pair(stride))


def fold(
    input: Tensor, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """Sum columns (N, C*prod(kernel_size), L) back into images (N, C, *output_size).

    >>> torch.nn.functional.fold(torch.ones(1, 4, 1), (2, 2), (2, 2)).shape
    torch.Size([1, 1, 2, 2])
    """
    return aten.col2im(input, _pair(output_size), _pair(kernel_size), _pair(dilation), _pair(padding), _pair(stride))

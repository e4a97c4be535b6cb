"""Functions of `torch.nn.functional` on windows, in what this compiler compiles."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Annotated, TypeAlias

import mindtorch as torch
from mindtorch import Tensor

if TYPE_CHECKING:
    Sizes1: TypeAlias = int | list[int]
    Sizes2: TypeAlias = int | list[int]
    Sizes3: TypeAlias = int | list[int]
else:
    Sizes1, Sizes2, Sizes3 = Annotated[list[int], 1], Annotated[list[int], 2], Annotated[list[int], 3]
"""Lists of as many numbers; one number stands for all of them."""


def max_pool1d(
    input: Tensor,
    kernel_size: Sizes1,
    stride: Sizes1 | None = None,
    padding: Sizes1 = 0,
    dilation: Sizes1 = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor:
    """The largest of each window."""
    if stride is None:
        stride = torch.jit.annotate(list[int], [])
    return torch.max_pool1d(input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool2d(
    input: Tensor,
    kernel_size: Sizes2,
    stride: Sizes2 | None = None,
    padding: Sizes2 = 0,
    dilation: Sizes2 = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor:
    """The largest of each window."""
    if stride is None:
        stride = torch.jit.annotate(list[int], [])
    return torch.max_pool2d(input, kernel_size, stride, padding, dilation, ceil_mode)


def max_pool3d(
    input: Tensor,
    kernel_size: Sizes3,
    stride: Sizes3 | None = None,
    padding: Sizes3 = 0,
    dilation: Sizes3 = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Tensor:
    """The largest of each window."""
    if stride is None:
        stride = torch.jit.annotate(list[int], [])
    return torch.max_pool3d(input, kernel_size, stride, padding, dilation, ceil_mode)


def adaptive_avg_pool2d(input: Tensor, output_size: Sizes2) -> Tensor:
    """Means of as many windows as are asked for."""
    return torch._C._nn.adaptive_avg_pool2d(input, output_size)


def adaptive_avg_pool3d(input: Tensor, output_size: Sizes3) -> Tensor:
    """Means of as many windows as are asked for."""
    return torch._C._nn.adaptive_avg_pool3d(input, output_size)


def unfold(input: Tensor, kernel_size: Sizes2, dilation: Sizes2 = 1, padding: Sizes2 = 0, stride: Sizes2 = 1) -> Tensor:
    """Windows as columns."""
    return torch._C._nn.im2col(input, kernel_size, dilation, padding, stride)


def fold(
    input: Tensor,
    output_size: Sizes2,
    kernel_size: Sizes2,
    dilation: Sizes2 = 1,
    padding: Sizes2 = 0,
    stride: Sizes2 = 1,
) -> Tensor:
    """Columns summed up to windows."""
    return torch._C._nn.col2im(input, output_size, kernel_size, dilation, padding, stride)


DEFINED = {name: one for name, one in dict(globals()).items() if inspect.isfunction(one)}
"""The definitions by the names of the functions."""
for _one in DEFINED.values():
    _one.__module__ = "torch.nn.functional"

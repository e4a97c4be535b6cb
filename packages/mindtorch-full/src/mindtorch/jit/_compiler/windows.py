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


def lp_pool1d(
    input: Tensor, norm_type: float, kernel_size: int, stride: Sizes1 | None = None, ceil_mode: bool = False
) -> Tensor:
    """Norms of windows."""
    if stride is not None:
        out = torch.avg_pool1d(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    else:
        out = torch.avg_pool1d(input.pow(norm_type), kernel_size, padding=0, ceil_mode=ceil_mode)
    return (torch.sign(out) * torch.relu(torch.abs(out))).mul(kernel_size).pow(1.0 / norm_type)


def lp_pool2d(
    input: Tensor, norm_type: float, kernel_size: Sizes2, stride: Sizes2 | None = None, ceil_mode: bool = False
) -> Tensor:
    """Norms of windows."""
    kw, kh = kernel_size
    if stride is not None:
        out = torch._C._nn.avg_pool2d(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    else:
        out = torch._C._nn.avg_pool2d(input.pow(norm_type), kernel_size, padding=0, ceil_mode=ceil_mode)
    return (torch.sign(out) * torch.relu(torch.abs(out))).mul(kw * kh).pow(1.0 / norm_type)


def lp_pool3d(
    input: Tensor, norm_type: float, kernel_size: Sizes3, stride: Sizes3 | None = None, ceil_mode: bool = False
) -> Tensor:
    """Norms of windows."""
    kd, kw, kh = kernel_size
    if stride is not None:
        out = torch._C._nn.avg_pool3d(input.pow(norm_type), kernel_size, stride, 0, ceil_mode)
    else:
        out = torch._C._nn.avg_pool3d(input.pow(norm_type), kernel_size, padding=0, ceil_mode=ceil_mode)
    return (torch.sign(out) * torch.relu(torch.abs(out))).mul(kd * kw * kh).pow(1.0 / norm_type)


def _unpool_output_size(
    input: Tensor, kernel_size: list[int], stride: list[int], padding: list[int], output_size: list[int] | None
) -> list[int]:
    dims = len(kernel_size)
    size = input.size()
    default_size: list[int] = []
    for d in range(dims):
        default_size.append((size[len(size) - dims + d] - 1) * stride[d] + kernel_size[d] - 2 * padding[d])
    if output_size is None:
        ret = default_size
    else:
        if len(output_size) == dims + 2:
            output_size = output_size[2:]
        if len(output_size) != dims:
            raise ValueError(
                f"output_size should be a sequence containing {dims} or {dims + 2} elements, but it has a length of "
                f"'{len(output_size)}'"
            )
        for d in range(dims):
            low = default_size[d] - stride[d]
            high = default_size[d] + stride[d]
            if not (low < output_size[d] < high):
                raise ValueError(f"invalid output_size {output_size} (dim {d} must be between {low} and {high})")
        ret = output_size
    return ret


def max_unpool1d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Sizes1,
    stride: Sizes1 | None = None,
    padding: Sizes1 = 0,
    output_size: list[int] | None = None,
) -> Tensor:
    """Maxima where they were."""
    steps = kernel_size
    if stride is not None:
        steps = stride
    size = _unpool_output_size(input, kernel_size, steps, padding, output_size)  # type: ignore[arg-type]
    size.append(1)
    return torch._C._nn.max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), size).squeeze(-1)


def max_unpool2d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Sizes2,
    stride: Sizes2 | None = None,
    padding: Sizes2 = 0,
    output_size: list[int] | None = None,
) -> Tensor:
    """Maxima where they were."""
    steps = kernel_size
    if stride is not None:
        steps = stride
    size = _unpool_output_size(input, kernel_size, steps, padding, output_size)  # type: ignore[arg-type]
    return torch._C._nn.max_unpool2d(input, indices, size)


def max_unpool3d(
    input: Tensor,
    indices: Tensor,
    kernel_size: Sizes3,
    stride: Sizes3 | None = None,
    padding: Sizes3 = 0,
    output_size: list[int] | None = None,
) -> Tensor:
    """Maxima where they were."""
    steps = kernel_size
    if stride is not None:
        steps = stride
    size = _unpool_output_size(input, kernel_size, steps, padding, output_size)  # type: ignore[arg-type]
    return torch._C._nn.max_unpool3d(input, indices, size, steps, padding)


DEFINED = {name: one for name, one in dict(globals()).items() if inspect.isfunction(one)}
"""The definitions by the names of the functions."""
for _one in DEFINED.values():
    _one.__module__ = "torch.nn.functional"

"""Pooling; functions with ``return_indices`` also return where each maximum was."""

from typing import Any

import mindtorch
from mindtorch._tensor import Tensor
from mindtorch.nn._tuples import _list_with_default, _pair, _single, _triple
from mindtorch.ops_table import aten
from mindtorch_dispatch.meta.window import covered


def max_pool1d_with_indices(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]:
    """Return the maxima of windows of (N, C, L) and their indices.
    >>> torch.nn.functional.max_pool1d_with_indices(torch.tensor([[1.0, 5.0, 2.0, 0.0]]), 2)
    (tensor([[5., 2.]]), tensor([[1, 2]]))
    """
    return aten.max_pool1d_with_indices(input, kernel_size, _given(stride), padding, dilation, ceil_mode)


def max_pool1d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Return the maxima of windows of (N, C, L).
    >>> torch.nn.functional.max_pool1d(torch.tensor([[1., 3., 5., 2.]]), 2)
    tensor([[3., 5.]])
    """
    op = aten.max_pool1d_with_indices if return_indices else aten.max_pool1d
    return op(input, kernel_size, _given(stride), padding, dilation, ceil_mode)


def max_pool2d_with_indices(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]:
    """Return the maxima of windows of (N, C, H, W) and their indices.
    >>> torch.nn.functional.max_pool2d_with_indices(torch.arange(4.0).reshape(1, 2, 2), 2)
    (tensor([[[3.]]]), tensor([[[3]]]))
    """
    return aten.max_pool2d_with_indices(input, kernel_size, _given(stride), padding, dilation, ceil_mode)


def max_pool2d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Return the maxima of windows of (N, C, H, W).
    >>> torch.nn.functional.max_pool2d(torch.arange(16.).view(1, 1, 4, 4), 2)
    tensor([[[[ 5.,  7.],
              [13., 15.]]]])
    """
    op = aten.max_pool2d_with_indices if return_indices else aten.max_pool2d
    return op(input, kernel_size, _given(stride), padding, dilation, ceil_mode)


def max_pool3d_with_indices(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> tuple[Tensor, Tensor]:
    """Return the maxima of windows of (N, C, D, H, W) and their indices.
    >>> torch.nn.functional.max_pool3d_with_indices(torch.arange(8.0).reshape(1, 2, 2, 2), 2)
    (tensor([[[[7.]]]]), tensor([[[[7]]]]))
    """
    return aten.max_pool3d_with_indices(input, kernel_size, _given(stride), padding, dilation, ceil_mode)


def max_pool3d(
    input: Tensor,
    kernel_size: Any,
    stride: Any = None,
    padding: Any = 0,
    dilation: Any = 1,
    ceil_mode: bool = False,
    return_indices: bool = False,
) -> Any:
    """Return the maxima of windows of (N, C, D, H, W).
    >>> torch.nn.functional.max_pool3d(torch.ones(1, 1, 2, 2, 2), 2)
    tensor([[[[[1.]]]]])
    """
    op = aten.max_pool3d_with_indices if return_indices else aten.max_pool3d
    return op(input, kernel_size, _given(stride), padding, dilation, ceil_mode)


def _given(stride: Any) -> Any:
    """Return ``stride`` as ops take it: an empty list means the size of the window."""
    return [] if stride is None else stride


def _unpool_output_size(
    input: Tensor, kernel_size: Any, stride: Any, padding: Any, output_size: Any | None
) -> list[int]:
    """Return the spatial output size of unpooling; ValueError where the asked one cannot be."""
    spatial = input.size()
    dims = len(kernel_size)
    default = [covered(spatial[d - dims], kernel_size[d], stride[d], padding[d]) for d in range(dims)]
    if output_size is None:
        return default
    if len(output_size) == dims + 2:
        output_size = output_size[2:]
    if len(output_size) != dims:
        raise ValueError(
            f"output_size should be a sequence containing {dims} or {dims + 2} elements, but it has a length of "
            f"'{len(output_size)}'"
        )
    for d in range(dims):
        low, high = default[d] - stride[d], default[d] + stride[d]
        if not (low < output_size[d] < high):
            raise ValueError(f'invalid output_size "{output_size}" (dim {d} must be between {low} and {high})')
    return output_size


def max_unpool1d(
    input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """Put the maxima of :func:`max_pool1d` back where they were, zeros elsewhere.

    >>> torch.nn.functional.max_unpool1d(torch.tensor([[3., 5.]]), torch.tensor([[1, 2]]), 2)
    tensor([[0., 3., 5., 0.]])
    """
    kernel_size = _single(kernel_size)
    stride = _single(stride) if stride is not None else kernel_size
    size = _unpool_output_size(input, kernel_size, stride, _single(padding), output_size)
    size = [*size, 1]
    return aten.max_unpool2d(input.unsqueeze(-1), indices.unsqueeze(-1), size).squeeze(-1)


def max_unpool2d(
    input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """Put the maxima of :func:`max_pool2d` back where they were, zeros elsewhere.

    >>> torch.nn.functional.max_unpool2d(torch.tensor([[[4.]]]), torch.tensor([[[3]]]), 2)
    tensor([[[0., 0.],
             [0., 4.]]])
    """
    kernel_size = _pair(kernel_size)
    stride = _pair(stride) if stride is not None else kernel_size
    size = _unpool_output_size(input, kernel_size, stride, _pair(padding), output_size)
    return aten.max_unpool2d(input, indices, size)


def max_unpool3d(
    input: Tensor, indices: Tensor, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None
) -> Tensor:
    """Put the maxima of :func:`max_pool3d` back where they were, zeros elsewhere.

    >>> values, indices = torch.nn.functional.max_pool3d_with_indices(torch.arange(8.0).reshape(1, 2, 2, 2), 2)
    >>> torch.nn.functional.max_unpool3d(values, indices, 2).shape
    torch.Size([1, 2, 2, 2])
    """
    kernel_size = _triple(kernel_size)
    stride = _triple(stride) if stride is not None else kernel_size
    padding = _triple(padding)
    size = _unpool_output_size(input, kernel_size, stride, padding, output_size)
    return aten.max_unpool3d(input, indices, size, stride, padding)


def _power_mean(pooled: Tensor, norm_type: float, count: int) -> Tensor:
    """Return the p-norm from the mean of p-th powers over ``count`` elements."""
    return (mindtorch.sign(pooled) * aten.relu(mindtorch.abs(pooled))).mul(count).pow(1.0 / norm_type)


def lp_pool1d(input: Tensor, norm_type: float, kernel_size: int, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """Return the p-norm of windows of (N, C, L).
    >>> torch.nn.functional.lp_pool1d(torch.tensor([[[3., 4.]]]), 2, 2)
    tensor([[[5.]]])
    """
    pooled = aten.avg_pool1d(input.pow(norm_type), kernel_size, _given(stride), 0, ceil_mode)
    return _power_mean(pooled, norm_type, kernel_size)


def lp_pool2d(input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """Return the p-norm of windows of (N, C, H, W).
    >>> torch.nn.functional.lp_pool2d(torch.ones(1, 1, 2, 2), 2, 2)
    tensor([[[[2.]]]])
    """
    height, width = _pair(kernel_size)
    pooled = aten.avg_pool2d(input.pow(norm_type), kernel_size, _given(stride), 0, ceil_mode)
    return _power_mean(pooled, norm_type, height * width)


def lp_pool3d(input: Tensor, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Tensor:
    """Return the p-norm of windows of (N, C, D, H, W).
    >>> torch.nn.functional.lp_pool3d(torch.ones(1, 2, 2, 2), 1, kernel_size=2)
    tensor([[[[8.]]]])
    """
    depth, height, width = _triple(kernel_size)
    pooled = aten.avg_pool3d(input.pow(norm_type), kernel_size, _given(stride), 0, ceil_mode)
    return _power_mean(pooled, norm_type, depth * height * width)


def adaptive_max_pool1d_with_indices(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """Return the maxima of (N, C, L) pooled to ``output_size``, and their indices.
    >>> torch.nn.functional.adaptive_max_pool1d_with_indices(torch.tensor([[1.0, 5.0, 2.0]]), 1)
    (tensor([[5.]]), tensor([[1]]))
    """
    return aten.adaptive_max_pool1d(input, output_size)


def adaptive_max_pool1d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Return the maxima of (N, C, L) pooled to ``output_size``.
    >>> torch.nn.functional.adaptive_max_pool1d(torch.tensor([[1., 3., 5., 2.]]), 2)
    tensor([[3., 5.]])
    """
    result = adaptive_max_pool1d_with_indices(input, output_size)
    return result if return_indices else result[0]


def adaptive_max_pool2d_with_indices(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """Return the maxima of (N, C, H, W) pooled to ``output_size``, and their indices.
    >>> torch.nn.functional.adaptive_max_pool2d_with_indices(torch.arange(4.0).reshape(1, 2, 2), 1)
    (tensor([[[3.]]]), tensor([[[3]]]))
    """
    return aten.adaptive_max_pool2d(input, _list_with_default(output_size, input.size()))


def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Return the maxima of (N, C, H, W) pooled to ``output_size``; None keeps a size.
    >>> torch.nn.functional.adaptive_max_pool2d(torch.ones(1, 4, 4), 1)
    tensor([[[1.]]])
    """
    result = adaptive_max_pool2d_with_indices(input, output_size)
    return result if return_indices else result[0]


def adaptive_max_pool3d_with_indices(
    input: Tensor, output_size: Any, return_indices: bool = False
) -> tuple[Tensor, Tensor]:
    """Return the maxima of (N, C, D, H, W) pooled to ``output_size``, and their indices.
    >>> torch.nn.functional.adaptive_max_pool3d_with_indices(torch.arange(8.0).reshape(1, 2, 2, 2), 1)
    (tensor([[[[7.]]]]), tensor([[[[7]]]]))
    """
    return aten.adaptive_max_pool3d(input, _list_with_default(output_size, input.size()))


def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Return the maxima of (N, C, D, H, W) pooled to ``output_size``; None keeps a size.
    >>> torch.nn.functional.adaptive_max_pool3d(torch.ones(1, 2, 2, 2), 1)
    tensor([[[[1.]]]])
    """
    result = adaptive_max_pool3d_with_indices(input, output_size)
    return result if return_indices else result[0]


def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """Return the means of (N, C, H, W) pooled to ``output_size``; None keeps a size.

    >>> torch.nn.functional.adaptive_avg_pool2d(torch.ones(1, 2, 4, 6), 2).shape
    torch.Size([1, 2, 2, 2])
    """
    return aten.adaptive_avg_pool2d(input, _list_with_default(output_size, input.size()))


def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """Return the means of (N, C, D, H, W) pooled to ``output_size``; None keeps a size.

    >>> torch.nn.functional.adaptive_avg_pool3d(torch.ones(1, 2, 4, 4, 4), 2).shape
    torch.Size([1, 2, 2, 2, 2])
    """
    return aten.adaptive_avg_pool3d(input, _list_with_default(output_size, input.size()))


def fractional_max_pool2d_with_indices(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the maxima of randomly placed windows of (N, C, H, W) and their indices.

    >>> values, indices = torch.nn.functional.fractional_max_pool2d_with_indices(torch.ones(1, 5, 5), 2, output_size=3)
    >>> values.shape, indices.dtype
    (torch.Size([1, 3, 3]), torch.int64)
    """
    output_size = _fractional_size("fractional_max_pool2d", input, output_size, output_ratio, 2)
    samples = _fractional_samples(input, _random_samples, 2)
    return aten.fractional_max_pool2d(input, kernel_size, output_size, samples)


def fractional_max_pool2d(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """Return the maxima of randomly placed windows of (N, C, H, W).

    >>> torch.nn.functional.fractional_max_pool2d(torch.ones(1, 5, 5), 2, output_size=3).shape
    torch.Size([1, 3, 3])
    """
    result = fractional_max_pool2d_with_indices(
        input, kernel_size, output_size, output_ratio, return_indices, _random_samples
    )
    return result if return_indices else result[0]


def fractional_max_pool3d_with_indices(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the maxima of randomly placed windows of (N, C, D, H, W) and their indices.

    >>> values, indices = torch.nn.functional.fractional_max_pool3d_with_indices(torch.ones(1, 5, 5, 5), 2, output_size=3)
    >>> values.shape, indices.dtype
    (torch.Size([1, 3, 3, 3]), torch.int64)
    """
    output_size = _fractional_size("fractional_max_pool3d", input, output_size, output_ratio, 3)
    samples = _fractional_samples(input, _random_samples, 3)
    return aten.fractional_max_pool3d(input, kernel_size, output_size, samples)


def fractional_max_pool3d(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """Return the maxima of randomly placed windows of (N, C, D, H, W).

    >>> torch.nn.functional.fractional_max_pool3d(torch.ones(1, 5, 5, 5), 2, output_size=3).shape
    torch.Size([1, 3, 3, 3])
    """
    result = fractional_max_pool3d_with_indices(
        input, kernel_size, output_size, output_ratio, return_indices, _random_samples
    )
    return result if return_indices else result[0]


def _fractional_size(name: str, input: Tensor, output_size: Any, output_ratio: Any, dims: int) -> Any:
    if output_size is None and output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    if output_size is not None:
        return output_size
    if len(output_ratio) > dims:
        raise ValueError(f"{name} requires output_ratio to either be a single Int or tuple of Ints.")
    ratios = _ratios(output_ratio, dims)
    return [int(input.size(d - dims) * ratios[d]) for d in range(dims)]


def _ratios(output_ratio: Any, dims: int) -> Any:
    return _pair(output_ratio) if dims == 2 else _triple(output_ratio)


def _fractional_samples(input: Tensor, samples: Tensor | None, dims: int) -> Tensor:
    """Return where the windows start, (N, C, dims) numbers in [0, 1), drawn unless given."""
    if samples is not None:
        return samples
    batch = 1 if input.dim() == dims + 1 else input.size(0)
    shape = (batch, input.size(-dims - 1), dims)
    return mindtorch.rand(shape, dtype=input.dtype, device=input.device)

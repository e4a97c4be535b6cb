"""Normalization by statistics of batch, sample, layer, group or neighbourhood."""

import math
from collections.abc import Sequence

from mindtorch._tensor import Tensor
from mindtorch.backends import cudnn
from mindtorch.ops_table import aten


def _verify_batch_size(size: Sequence[int]) -> None:
    """Raise ValueError where a channel has a single value, whose variance means nothing."""
    if math.prod(size[2:], start=size[0]) == 1:
        raise ValueError(f"Expected more than 1 value per channel when training, got input size {size}")


def batch_norm(
    input: Tensor,
    running_mean: Tensor | None,
    running_var: Tensor | None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalize each channel by batch statistics (``training``) or by the running ones.

    >>> x = torch.tensor([[1.0], [3.0]])
    >>> torch.nn.functional.batch_norm(x, None, None, training=True).round(decimals=3)
    tensor([[-1.],
            [ 1.]])
    """
    if training:
        if eps <= 0.0:
            raise ValueError(f"batch_norm eps must be positive during training, but got {eps}")
        _verify_batch_size(input.size())
    elif eps < 0.0:
        raise ValueError(f"batch_norm eps must be non-negative, but got {eps}")
    return aten.batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, cudnn.enabled)


def _verify_spatial_size(size: Sequence[int]) -> None:
    """Raise ValueError where a sample's channel has a single value."""
    if math.prod(size[2:]) == 1:
        raise ValueError(f"Expected more than 1 spatial element when training, got input size {size}")


def instance_norm(
    input: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    use_input_stats: bool = True,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalize each channel of each sample.

    >>> torch.nn.functional.instance_norm(torch.tensor([[[1., 3.]]]), eps=0.)
    tensor([[[-1.,  1.]]])
    """
    if use_input_stats:
        _verify_spatial_size(input.size())
    return aten.instance_norm(
        input, weight, bias, running_mean, running_var, use_input_stats, momentum, eps, cudnn.enabled
    )


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-5,
) -> Tensor:
    """Normalize over the last dimensions, ``normalized_shape``, then scale and shift.

    >>> torch.nn.functional.layer_norm(torch.tensor([[1., 3.]]), (2,), eps=0.)
    tensor([[-1.,  1.]])
    """
    return aten.layer_norm(input, normalized_shape, weight, bias, eps, cudnn.enabled)


def rms_norm(
    input: Tensor, normalized_shape: Sequence[int], weight: Tensor | None = None, eps: float | None = None
) -> Tensor:
    """Divide by the root mean square over the last dimensions, then scale.

    >>> torch.nn.functional.rms_norm(torch.tensor([[3., 4.]]), (2,))
    tensor([[0.8485, 1.1314]])
    """
    return aten.rms_norm(input, normalized_shape, weight, eps)


def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Normalize each group of channels of each sample, then scale and shift each channel.

    >>> torch.nn.functional.group_norm(torch.tensor([[1., 3.]]), 1, eps=0.)
    tensor([[-1.,  1.]])
    """
    if input.dim() < 2:
        raise RuntimeError(f"Expected at least 2 dimensions for input tensor but received {input.dim()}")
    shape = input.size()
    # The check counts a group of channels as one channel of the batch.
    _verify_batch_size([shape[0] * shape[1] // num_groups, num_groups, *shape[2:]])
    return aten.group_norm(input, num_groups, weight, bias, eps, cudnn.enabled)


def local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> Tensor:
    """Divide by ``(k + alpha * mean of squares over size channels) ** beta``.

    >>> torch.nn.functional.local_response_norm(torch.ones(1, 1, 2), 1)
    tensor([[[0.9999, 0.9999]]])
    """
    dim = input.dim()
    if dim < 3:
        raise ValueError(f"Expected 3D or higher dimensionality                          input (got {dim} dimensions)")
    if input.numel() == 0:
        return input
    squares = input.mul(input).unsqueeze(1)
    before, after = size // 2, (size - 1) // 2
    if dim == 3:
        squares = aten.pad(squares, (0, 0, before, after))
        mean = aten.avg_pool2d(squares, (size, 1), stride=1).squeeze(1)
    else:
        shape = input.size()
        squares = squares.view(shape[0], 1, shape[1], shape[2], -1)
        squares = aten.pad(squares, (0, 0, 0, 0, before, after))
        mean = aten.avg_pool3d(squares, (size, 1, 1), stride=1).squeeze(1).view(shape)
    return input / mean.mul(alpha).add(k).pow(beta)


def normalize(input: Tensor, p: float = 2.0, dim: int = 1, eps: float = 1e-12, out: Tensor | None = None) -> Tensor:
    """Divide by the p-norm over ``dim``, at least ``eps``.

    >>> torch.nn.functional.normalize(torch.tensor([[3., 4.]]))
    tensor([[0.6000, 0.8000]])
    """
    if out is None:
        length = input.norm(p, dim, keepdim=True).clamp_min(eps).expand_as(input)
        return input / length
    length = input.norm(p, dim, keepdim=True).clamp_min_(eps).expand_as(input)
    return aten.div(input, length, out=out)

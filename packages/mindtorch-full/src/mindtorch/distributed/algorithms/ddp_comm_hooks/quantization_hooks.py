"""Hooks that send gradients as bytes, with the scales and zero points by which they are read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mindtorch as torch
from mindtorch import distributed as dist
from mindtorch import nn
from mindtorch._naming import adopt
from mindtorch.tensor.tensor import Tensor


def _quantize_per_tensor_backend(x: Tensor, scale: Tensor, zero_point: Tensor) -> Tensor:
    return ((x / scale).round() + zero_point).clamp(0, 255).to(torch.uint8)


def _dequantize_per_tensor_backend(y: Tensor, scale: Tensor, zero_point: Tensor) -> Tensor:
    return scale * (y.to(torch.float32) - zero_point)


def _quantize_per_channel_backend(x: Tensor, scale: Tensor, zero_point: Tensor) -> Tensor:
    return _quantize_per_tensor_backend(x, scale.unsqueeze(1), zero_point.unsqueeze(1))


def _dequantize_per_channel_backend(y: Tensor, scale: Tensor, zero_point: Tensor) -> Tensor:
    return _dequantize_per_tensor_backend(y, scale.unsqueeze(1), zero_point.unsqueeze(1))


def _get_allgather_out_list(all_gather_in_list: Tensor, world_size: int) -> list[Tensor]:
    """Return a tensor of zeros for what each process sends."""
    return [torch.zeros_like(all_gather_in_list) for _ in range(world_size)]


def _mean_of_bytes(
    values: Tensor,
    scale_and_zero: Tensor,
    group: dist.ProcessGroup,
    quantize: Callable[[Tensor, Tensor, Tensor], Tensor],
    dequantize: Callable[[Tensor, Tensor, Tensor], Tensor],
) -> Any:
    """Return a future of the mean over all processes of values that are sent as bytes, each by its sender's scale.

    The scales are waited for: a collective that a callback began could meet another bucket's.
    """
    scales = _get_allgather_out_list(scale_and_zero, group.size())
    dist.all_gather(scales, scale_and_zero, group=group)
    quantized = quantize(values, *scales[group.rank()])
    sent = _get_allgather_out_list(quantized, group.size())

    def mean(done: Any) -> Tensor:
        done.wait()
        total = torch.zeros_like(quantized, dtype=torch.float32)
        for part, scale in zip(sent, scales, strict=True):
            total += dequantize(part, *scale)
        return total / group.size()

    return dist.all_gather(sent, quantized, group=group, async_op=True).get_future().then(mean)


def quantization_pertensor_hook(process_group: Any, bucket: Any) -> Any:
    """Average gradients that are sent as bytes, with one scale for a bucket."""
    group = process_group if process_group is not None else dist.group.WORLD
    values = bucket.buffer()
    observer = torch.ao.quantization.MinMaxObserver().to(values.device)
    observer(values)
    scale_and_zero = torch.tensor([float(found) for found in observer.calculate_qparams()], device=values.device)
    return _mean_of_bytes(values, scale_and_zero, group, _quantize_per_tensor_backend, _dequantize_per_tensor_backend)


def quantization_perchannel_hook(process_group: Any, bucket: Any, bucket_size: int = 512) -> Any:
    """Average gradients that are sent as bytes, with a scale for each `bucket_size` of them."""
    group = process_group if process_group is not None else dist.group.WORLD
    values = bucket.buffer()
    channels = nn.functional.pad(values, [0, bucket_size - len(values) % bucket_size]).view(-1, bucket_size)
    observer = torch.ao.quantization.PerChannelMinMaxObserver().to(values.device)
    observer(channels)
    scale_and_zero = torch.stack(observer.calculate_qparams())
    means = _mean_of_bytes(
        channels, scale_and_zero, group, _quantize_per_channel_backend, _dequantize_per_channel_backend
    )
    return means.then(lambda done: done.wait().flatten()[: len(values)])


adopt(globals())

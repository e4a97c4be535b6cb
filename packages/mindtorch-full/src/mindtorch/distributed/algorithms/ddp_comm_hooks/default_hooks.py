"""Averaging by a plain sum, or by one of half the bytes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mindtorch as torch
from mindtorch import distributed as dist
from mindtorch._naming import adopt

__all__ = [
    "allreduce_hook",
    "bf16_compress_hook",
    "bf16_compress_wrapper",
    "fp16_compress_hook",
    "fp16_compress_wrapper",
]


def _group(process_group: Any) -> Any:
    return process_group if process_group is not None else dist.group.WORLD


def _allreduce_fut(process_group: Any, tensor: Any) -> Any:
    group = _group(process_group)
    tensor.div_(group.size())
    return dist.all_reduce(tensor, group=group, async_op=True).get_future().then(lambda done: done.value()[0])


def allreduce_hook(process_group: Any, bucket: Any) -> Any:
    """Average as without a hook.

    >>> import torch.distributed as dist
    >>> from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import allreduce_hook
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1))
    >>> model.register_comm_hook(None, allreduce_hook)
    >>> model(torch.ones(2, 1)).sum().backward()
    >>> model.module.bias.grad
    tensor([2.])
    >>> dist.destroy_process_group()
    """
    return _allreduce_fut(process_group, bucket.buffer())


def _compress_hook(dtype: Any, process_group: Any, bucket: Any) -> Any:
    group, buffer = _group(process_group), bucket.buffer()
    compressed = buffer.to(dtype).div_(group.size())

    def decompress(done: Any) -> Any:
        buffer.copy_(done.value()[0])
        return buffer

    return dist.all_reduce(compressed, group=group, async_op=True).get_future().then(decompress)


def fp16_compress_hook(process_group: Any, bucket: Any) -> Any:
    """Average in float16.

    >>> import torch.distributed as dist
    >>> from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import fp16_compress_hook
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1))
    >>> model.register_comm_hook(None, fp16_compress_hook)
    >>> model(torch.ones(2, 1)).sum().backward()
    >>> model.module.bias.grad
    tensor([2.])
    >>> dist.destroy_process_group()
    """
    return _compress_hook(torch.float16, process_group, bucket)


def bf16_compress_hook(process_group: Any, bucket: Any) -> Any:
    """Average in bfloat16.

    >>> import torch.distributed as dist
    >>> from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import bf16_compress_hook
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1))
    >>> model.register_comm_hook(None, bf16_compress_hook)
    Traceback (most recent call last):
        ...
    TypeError: BF16 all reduce communication hook required CUDA 11+ and NCCL 2.10+ or XPU and XCCL
    >>> model(torch.ones(2, 1)).sum().backward()
    >>> model.module.bias.grad
    tensor([2.])
    >>> dist.destroy_process_group()
    """
    return _compress_hook(torch.bfloat16, process_group, bucket)


def _compress_wrapper(dtype: Any, hook: Callable[..., Any]) -> Callable[..., Any]:
    def wrapped(hook_state: Any, bucket: Any) -> Any:
        full = bucket.buffer()
        bucket.set_buffer(full.to(dtype))

        def decompress(done: Any) -> Any:
            full.copy_(done.value())
            bucket.set_buffer(full)
            return full

        return hook(hook_state, bucket).then(decompress)

    return wrapped


def fp16_compress_wrapper(hook: Callable[..., Any]) -> Callable[..., Any]:
    """Give `hook` the gradients in float16.

    >>> import torch.distributed as dist
    >>> from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import (
    ...     allreduce_hook,
    ...     fp16_compress_wrapper,
    ... )
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1))
    >>> model.register_comm_hook(dist.group.WORLD, fp16_compress_wrapper(allreduce_hook))
    >>> model(torch.ones(2, 1)).sum().backward()
    >>> model.module.bias.grad
    tensor([2.])
    >>> dist.destroy_process_group()
    """
    wrapped = _compress_wrapper(torch.float16, hook)

    def fp16_compress_wrapper_hook(hook_state: Any, bucket: Any) -> Any:
        return wrapped(hook_state, bucket)

    return fp16_compress_wrapper_hook


def bf16_compress_wrapper(hook: Callable[..., Any]) -> Callable[..., Any]:
    """Give `hook` the gradients in bfloat16.

    >>> import torch.distributed as dist
    >>> from torch.distributed.algorithms.ddp_comm_hooks.default_hooks import (
    ...     allreduce_hook,
    ...     bf16_compress_wrapper,
    ... )
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1))
    >>> model.register_comm_hook(dist.group.WORLD, bf16_compress_wrapper(allreduce_hook))
    Traceback (most recent call last):
        ...
    TypeError: BF16 all reduce communication hook required CUDA 11+ and NCCL 2.10+ or XPU and XCCL
    >>> model(torch.ones(2, 1)).sum().backward()
    >>> model.module.bias.grad
    tensor([2.])
    >>> dist.destroy_process_group()
    """
    wrapped = _compress_wrapper(torch.bfloat16, hook)

    def bf16_compress_wrapper_hook(hook_state: Any, bucket: Any) -> Any:
        return wrapped(hook_state, bucket)

    return bf16_compress_wrapper_hook


adopt(globals())

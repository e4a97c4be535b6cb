"""Collectives that gradients go through: the gradient of each is another, carried out in backward."""

from __future__ import annotations

import warnings
from typing import Any

import mindtorch
from mindtorch import distributed as dist
from mindtorch._naming import adopt
from mindtorch.autograd import Function
from mindtorch.distributed._world import _get_default_group

ReduceOp = dist.ReduceOp


def _deprecated(name: str, instead: str) -> None:
    warnings.warn(
        f"torch.distributed.nn.functional.{name} is deprecated, "
        f"use torch.distributed._functional_collectives.{instead} instead.",
        FutureWarning,
        stacklevel=3,
    )


def _group(group: Any) -> Any:
    return _get_default_group() if group is None else group


def broadcast(tensor: Any, src: int, group: Any = None) -> Any:
    """A copy of a rank's tensor, everywhere.

    >>> import torch.distributed as dist
    >>> import torch.distributed.nn as nn
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> (nn.broadcast(x, src=0, group=dist.group.WORLD) ** 2).sum().backward()
    >>> x.grad
    tensor([2., 4.])
    >>> dist.destroy_process_group()
    """
    _deprecated("broadcast", "broadcast")
    return _Broadcast.apply(src, _group(group), tensor)


def gather(tensor: Any, dst: int = 0, group: Any = None) -> Any:
    """The tensors of all, at a rank; zeros elsewhere.

    >>> import torch.distributed as dist
    >>> import torch.distributed.nn as nn
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> (nn.gather(x, dst=0, group=dist.group.WORLD)[0] ** 2).sum().backward()
    >>> x.grad
    tensor([2., 4.])
    >>> dist.destroy_process_group()
    """
    return _Gather.apply(dst, _group(group), tensor)


def scatter(tensors: Any, src: int = 0, group: Any = None) -> Any:
    """Each rank's tensor of a rank's list.

    >>> import torch.distributed as dist
    >>> import torch.distributed.nn as nn
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> (nn.scatter([x], src=0, group=dist.group.WORLD) ** 2).sum().backward()
    >>> x.grad
    tensor([2., 4.])
    >>> dist.destroy_process_group()
    """
    return _Scatter.apply(src, _group(group), *tensors)


def reduce(tensor: Any, dst: int, op: Any = ReduceOp.SUM, group: Any = None) -> Any:
    """The reduced tensors of all, at a rank.

    >>> import torch.distributed as dist
    >>> import torch.distributed.nn as nn
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> (nn.reduce(x, dst=0, group=dist.group.WORLD) ** 2).sum().backward()
    >>> x.grad
    tensor([2., 4.])
    >>> dist.destroy_process_group()
    """
    return _Reduce.apply(dst, op, _group(group), tensor)


def reduce_scatter(output: Any, input_list: Any, op: Any = ReduceOp.SUM, group: Any = None) -> Any:
    """Each rank's part of the reduced lists of all.

    >>> import torch.distributed as dist
    >>> import torch.distributed.nn as nn
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> (nn.reduce_scatter(torch.zeros(2), [x]) ** 2).sum().backward()
    >>> x.grad
    tensor([2., 4.])
    >>> dist.destroy_process_group()
    """
    _deprecated("reduce_scatter", "reduce_scatter_single")
    return _ReduceScatter.apply(op, _group(group), output, *input_list)


def all_gather(tensor: Any, group: Any = None) -> Any:
    """The tensors of all, everywhere.

    >>> import torch.distributed as dist
    >>> import torch.distributed.nn as nn
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> (nn.all_gather(x, group=dist.group.WORLD)[0] ** 2).sum().backward()
    >>> x.grad
    tensor([2., 4.])
    >>> dist.destroy_process_group()
    """
    _deprecated("all_gather", "all_gather_single")
    return _AllGather.apply(_group(group), tensor)


def _all_gather_base(output_tensor: Any, input_tensor: Any, group: Any = None) -> Any:
    return _AllGatherBase.apply(output_tensor, input_tensor, _group(group))


def all_to_all(output_tensor_list: Any, input_tensor_list: Any, group: Any = None) -> Any:
    """Each rank's tensors of the lists of all.

    >>> import torch.distributed as dist
    >>> import torch.distributed.nn as nn
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> (nn.all_to_all([torch.zeros(2)], [x], group=dist.group.WORLD)[0] ** 2).sum().backward()
    >>> x.grad
    tensor([2., 4.])
    >>> dist.destroy_process_group()
    """
    return _AlltoAll.apply(_group(group), output_tensor_list, *input_tensor_list)


def all_to_all_single(
    output: Any, input: Any, output_split_sizes: Any = None, input_split_sizes: Any = None, group: Any = None
) -> Any:
    """Each rank's rows of the tensors of all.

    >>> import torch.distributed as dist
    >>> import torch.distributed.nn as nn
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> (nn.all_to_all_single(torch.zeros(2), x) ** 2).sum().backward()
    >>> x.grad
    tensor([2., 4.])
    >>> dist.destroy_process_group()
    """
    _deprecated("all_to_all_single", "all_to_all_single")
    return _AlltoAllSingle.apply(_group(group), output, output_split_sizes, input_split_sizes, input)


def all_reduce(tensor: Any, op: Any = ReduceOp.SUM, group: Any = None) -> Any:
    """The reduced tensors of all, everywhere.

    >>> import torch.distributed as dist
    >>> import torch.distributed.nn as nn
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> (nn.all_reduce(x) ** 2).sum().backward()
    >>> x.grad
    tensor([2., 4.])
    >>> dist.destroy_process_group()
    """
    _deprecated("all_reduce", "all_reduce")
    return _AllReduce.apply(op, _group(group), tensor)


class _Broadcast(Function):
    @staticmethod
    def forward(ctx: Any, src: int, group: Any, tensor: Any) -> Any:
        ctx.src, ctx.group = src, group
        result = tensor.clone()
        dist.broadcast(result, src, group=group)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        total = _Reduce.apply(ctx.src, ReduceOp.SUM, ctx.group, grad)
        if dist.get_rank() != ctx.src:
            total.zero_()  # in place: its own gradient goes through the same collectives on all ranks
        return None, None, total


class _Gather(Function):
    @staticmethod
    def forward(ctx: Any, dst: int, group: Any, tensor: Any) -> Any:
        ctx.dst, ctx.group = dst, group
        results = [mindtorch.zeros_like(tensor) for _ in range(dist.get_world_size(group))]
        own = dist.get_rank() == dst
        dist.gather(tensor.contiguous(), results if own else None, dst, group=group)
        return tuple(results)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return None, None, _Scatter.apply(ctx.dst, ctx.group, *grads)


class _Scatter(Function):
    @staticmethod
    def forward(ctx: Any, src: int, group: Any, *tensors: Any) -> Any:
        ctx.src, ctx.group = src, group
        if any(tensor.size() != tensors[0].size() for tensor in tensors):
            raise AssertionError
        result = mindtorch.zeros_like(tensors[0])
        dist.scatter(result, list(tensors) if dist.get_rank() == src else None, src, group=group)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return None, None, *_Gather.apply(ctx.src, ctx.group, grad)


class _Reduce(Function):
    @staticmethod
    def forward(ctx: Any, dst: int, op: Any, group: Any, tensor: Any) -> Any:
        ctx.dst, ctx.group = dst, group
        result = tensor.clone()
        dist.reduce(result, dst, op=op, group=group)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return None, None, None, _Broadcast.apply(ctx.dst, ctx.group, grad)


class _ReduceScatter(Function):
    @staticmethod
    def forward(ctx: Any, op: Any, group: Any, output: Any, *tensors: Any) -> Any:
        ctx.group = group
        result = output.contiguous()
        dist.reduce_scatter(result, [tensor.contiguous() for tensor in tensors], op=op, group=group)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return None, None, None, *_AllGather.apply(ctx.group, grad)


class _AllGather(Function):
    @staticmethod
    def forward(ctx: Any, group: Any, tensor: Any) -> Any:
        ctx.group = group
        results = [mindtorch.empty_like(tensor.contiguous()) for _ in range(dist.get_world_size(group))]
        dist.all_gather(results, tensor.contiguous(), group=group)
        return tuple(results)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        received = [mindtorch.empty_like(grad) for grad in grads]
        return None, mindtorch.stack(_AlltoAll.apply(ctx.group, received, *grads)).sum(dim=0)


class _AllGatherBase(Function):
    @staticmethod
    def forward(ctx: Any, output: Any, tensor: Any, group: Any) -> Any:
        dist.all_gather_single(output, tensor.contiguous(), group=group)
        return output

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        raise RuntimeError("Backend not supported!")


class _AlltoAll(Function):
    @staticmethod
    def forward(ctx: Any, group: Any, outputs: Any, *tensors: Any) -> Any:
        ctx.group, ctx.sizes = group, [tensor.size() for tensor in tensors]
        dist.all_to_all(list(outputs), [tensor.contiguous() for tensor in tensors], group=group)
        return tuple(outputs)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        like = {"device": grads[0].device, "dtype": grads[0].dtype}
        received = [mindtorch.empty(size, **like) for size in ctx.sizes]
        return None, None, *_AlltoAll.apply(ctx.group, received, *grads)


class _AlltoAllSingle(Function):
    @staticmethod
    def forward(ctx: Any, group: Any, output: Any, received: Any, sent: Any, tensor: Any) -> Any:
        ctx.group, ctx.size, ctx.received, ctx.sent = group, tensor.size(), received, sent
        dist.all_to_all_single(output, tensor, received, sent, group=group)
        return output

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        result = mindtorch.empty(ctx.size, device=grad.device, dtype=grad.dtype)
        given = grad.contiguous()
        return None, None, None, None, _AlltoAllSingle.apply(ctx.group, result, ctx.sent, ctx.received, given)


class _AllReduce(Function):
    @staticmethod
    def forward(ctx: Any, op: Any, group: Any, tensor: Any) -> Any:
        ctx.op, ctx.group = op, group
        result = tensor.clone(memory_format=mindtorch.contiguous_format)
        dist.all_reduce(result, op=op, group=group)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return None, None, _AllReduce.apply(ctx.op, ctx.group, grad)


adopt(globals())

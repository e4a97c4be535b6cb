"""Collectives on tensors: copies, sums and barriers."""

from __future__ import annotations

import warnings
from typing import Any

import mindtorch
from mindtorch.distributed._arguments import (
    _check_single_tensor,
    _check_tensor_list,
    _ensure_all_tensors_same_dtype,
    finished,
    overridable,
    real,
    reals,
    supports_complex,
)
from mindtorch.distributed._coalescing import collect
from mindtorch.distributed._names import Backend
from mindtorch.distributed._options import (
    AllreduceCoalescedOptions,
    AllreduceOptions,
    BarrierOptions,
    BroadcastOptions,
    ReduceOptions,
    ReduceScatterOptions,
)
from mindtorch.distributed._reduce_op import ReduceOp, type_of
from mindtorch.distributed._told import begin
from mindtorch.distributed._world import (
    _canonicalize_group_rank,
    _check_valid_timeout,
    _get_default_timeout,
    _group_or_default_group,
    _rank_not_in_group,
    _warn_not_in_group,
    _working_group,
    get_backend,
)
from mindtorch_dispatch.errors import missing_tensors


def _deprecated(name: str, instead: str) -> None:
    warnings.warn(f"`torch.distributed.{name}` {instead}", FutureWarning, stacklevel=3)


_REVISIT = (
    "will be deprecated. If you must use it, please revisit our documentation later at "
    "https://pytorch.org/docs/main/distributed.html#collective-functions"
)


def _check_complex(name: str, op: Any) -> None:
    """The reduction takes complex numbers apart. In torch's text, its number is a character."""
    if not supports_complex(op):
        raise RuntimeError(f"{name} does not support{chr(type_of(op))}on complex tensors")


def _options(kind: Any, async_op: bool, **fields: Any) -> Any:
    options = kind()
    options.asyncOp = async_op
    for name, value in fields.items():
        setattr(options, name, value)
    return options


@overridable("tensor")
def broadcast(
    tensor: Any, src: int | None = None, group: Any = None, async_op: bool = False, group_src: int | None = None
) -> Any:
    """Copy the tensor of a rank to all.

    >>> import torch.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> x = torch.tensor([1.0, 2.0])
    >>> dist.broadcast(x, src=0)
    >>> x
    tensor([1., 2.])
    >>> dist.destroy_process_group()
    """
    group = _group_or_default_group(group)
    group_src = _canonicalize_group_rank(group, src, group_src, return_global=False)
    _check_single_tensor(tensor, "tensor")
    if _rank_not_in_group(group):
        return _warn_not_in_group("broadcast")
    options = _options(BroadcastOptions, async_op, rootRank=group_src)
    return finished(begin(group, "broadcast", [real(tensor)], options), async_op)


@overridable("tensor")
def all_reduce(tensor: Any, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False) -> Any:
    """Reduce the tensors of all, in place.

    >>> import torch.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> x = torch.tensor([1.0, 2.0])
    >>> dist.all_reduce(x)
    >>> x
    tensor([1., 2.])
    >>> dist.destroy_process_group()
    """
    _check_single_tensor(tensor, "tensor")
    if _rank_not_in_group(group):
        return _warn_not_in_group("all_reduce")
    if tensor.is_complex():
        if not supports_complex(op):
            raise ValueError(f"all_reduce does not support {op} on complex tensors")
        tensor = real(tensor)
    options = _options(AllreduceOptions, async_op, reduceOp=op)
    group = _working_group(group)
    collected, result = collect(group, all_reduce, tensor, None, op, async_op)
    if collected:
        return result
    return finished(begin(group, "allreduce", [tensor], options), async_op)


@overridable("tensors")
def all_reduce_coalesced(tensors: Any, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False) -> Any:
    """Reduce several tensors at once. Deprecated in torch.

    >>> import torch.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> x = [torch.ones(1), torch.zeros(2)]
    >>> dist.all_reduce_coalesced(x)
    >>> x
    [tensor([1.]), tensor([0., 0.])]
    >>> dist.destroy_process_group()
    """
    _deprecated("all_reduce_coalesced", _REVISIT)
    tensors = [tensors] if isinstance(tensors, mindtorch.Tensor) else tensors
    _check_tensor_list(tensors, "tensor")
    _ensure_all_tensors_same_dtype(tensors)
    if _rank_not_in_group(group):
        return _warn_not_in_group("all_reduce_coalesced")
    if not tensors:
        raise missing_tensors("c10d::allreduce_coalesced_", ["CPU", "Meta", "NPU"])
    if any(t.is_complex() for t in tensors) and not supports_complex(op):
        raise ValueError(f"all_reduce does not support {op} on complex tensors")
    options = _options(AllreduceCoalescedOptions, async_op, reduceOp=op)
    work = _working_group(group).allreduce_coalesced(reals(tensors), options)
    return work.get_future() if async_op else finished(work, False)


@overridable("tensor")
def reduce(
    tensor: Any,
    dst: int | None = None,
    op: Any = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Any:
    """Reduce the tensors of all into that of a rank.

    >>> import torch.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> x = torch.tensor([1.0, 2.0])
    >>> dist.reduce(x, dst=0, op=dist.ReduceOp.MAX)
    >>> x
    tensor([1., 2.])
    >>> dist.destroy_process_group()
    """
    group = _group_or_default_group(group)
    group_dst = _canonicalize_group_rank(group, dst, group_dst, return_global=False)
    _check_single_tensor(tensor, "tensor")
    if _rank_not_in_group(group):
        return _warn_not_in_group("reduce")
    if tensor.is_complex():
        _check_complex("reduce", op)
        tensor = real(tensor)
    options = _options(ReduceOptions, async_op, reduceOp=op, rootRank=group_dst)
    return finished(begin(group, "reduce", [tensor], options), async_op)


_PRIVATE = "is a private function and will be deprecated. Please use `torch.distributed.{}` instead."


@overridable("output")
def reduce_scatter(
    output: Any, input_list: Any, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Any:
    """Reduce the lists of all, and give each rank its tensor.

    >>> import torch.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> x = torch.zeros(2)
    >>> dist.reduce_scatter(x, [torch.tensor([1.0, 2.0])])
    >>> x
    tensor([1., 2.])
    >>> dist.destroy_process_group()
    """
    _check_single_tensor(output, "output")
    _check_tensor_list(input_list, "input_list")
    _ensure_all_tensors_same_dtype(output, input_list)
    if _rank_not_in_group(group):
        return _warn_not_in_group("reduce_scatter")
    if output.is_complex():
        _check_complex("all_reduce", op)
    options, given = _options(ReduceScatterOptions, async_op, reduceOp=op), reals(input_list)
    return finished(begin(_working_group(group), "reduce_scatter", [real(output)], [given], options), async_op)


@overridable("input")
def reduce_scatter_single(
    output: Any, input: Any, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Any:
    """Reduce the tensors of all, and give each rank its part.

    >>> import torch.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> x = torch.zeros(2)
    >>> dist.reduce_scatter_single(x, torch.tensor([1.0, 2.0]))
    >>> x
    tensor([1., 2.])
    >>> dist.destroy_process_group()
    """
    _check_single_tensor(output, "output")
    _check_single_tensor(input, "input")
    if _rank_not_in_group(group):
        return _warn_not_in_group("reduce_scatter_single")
    if input.is_complex():
        _check_complex("all_reduce", op)
    options = _options(ReduceScatterOptions, async_op, reduceOp=op)
    group = _working_group(group)
    collected, result = collect(group, reduce_scatter_single, input, output, op, async_op)
    if collected:
        return result
    return finished(begin(group, "reduce_scatter_single", real(output), real(input), options), async_op)


def reduce_scatter_tensor(
    output: Any, input: Any, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Any:
    """`reduce_scatter_single` by its former name.

    >>> import torch.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> x = torch.zeros(2)
    >>> dist.reduce_scatter_tensor(x, torch.tensor([1.0, 2.0]))
    >>> x
    tensor([1., 2.])
    >>> dist.destroy_process_group()
    """
    _deprecated("reduce_scatter_tensor", "is deprecated. Please use `torch.distributed.reduce_scatter_single` instead.")
    return reduce_scatter_single(output, input, op, group, async_op)


def _reduce_scatter_base(
    output: Any, input: Any, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Any:
    _deprecated("_reduce_scatter_base", _PRIVATE.format("reduce_scatter_single"))
    return reduce_scatter_single(output, input, op, group, async_op)


def barrier(group: Any = None, async_op: bool = False, device_ids: Any = None, timeout: Any = None) -> Any:
    """Return when all are here.

    >>> import torch.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> print(dist.barrier())
    None
    >>> dist.destroy_process_group()
    """
    if _rank_not_in_group(group):
        return _warn_not_in_group("barrier")
    group = _working_group(group)
    options = _options(BarrierOptions, async_op)
    if timeout is not None:
        options.timeout = timeout
    return finished(group.barrier(opts=options), async_op)


def monitored_barrier(group: Any = None, timeout: Any = None, wait_all_ranks: bool = False) -> Any:
    """Return when all are here; rank 0's error names who is not.

    >>> import torch.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> print(dist.monitored_barrier())
    None
    >>> dist.destroy_process_group()
    """
    if _rank_not_in_group(group):
        return _warn_not_in_group("monitored_barrier")
    if get_backend(group) != Backend.GLOO:
        raise ValueError("monitored_barrier is only implemented for GLOO backend.")
    if timeout is None:
        timeout = _get_default_timeout(get_backend(group))
    elif isinstance(timeout, float):
        warnings.warn(
            "Please specify timeout arg as a timedelta. "
            f"Converting current value of {timeout} assuming it represents seconds",
            stacklevel=2,
        )
        timeout = mindtorch.distributed.constants.timedelta(seconds=timeout)
    _check_valid_timeout(timeout)
    return _group_or_default_group(group).monitored_barrier(timeout, wait_all_ranks=wait_all_ranks)

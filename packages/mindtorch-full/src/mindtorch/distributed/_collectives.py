"""Collectives on tensors."""

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
    AllgatherOptions,
    AllreduceCoalescedOptions,
    AllreduceOptions,
    AllToAllOptions,
    BarrierOptions,
    BroadcastOptions,
    GatherOptions,
    ReduceOptions,
    ReduceScatterOptions,
    ScatterOptions,
)
from mindtorch.distributed._reduce_op import ReduceOp, type_of
from mindtorch.distributed._told import begin
from mindtorch.distributed._world import (
    _canonicalize_group_rank,
    _check_valid_timeout,
    _get_default_timeout,
    _group_or_default_group,
    _rank_not_in_group,
    _rank_of_root,
    _warn_not_in_group,
    _working_group,
    get_backend,
)
from mindtorch.tensor.tensor import Tensor
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
    """Copy the tensor of a rank to all."""
    group = _group_or_default_group(group)
    group_src = _canonicalize_group_rank(group, src, group_src, return_global=False)
    _check_single_tensor(tensor, "tensor")
    if _rank_not_in_group(group):
        return _warn_not_in_group("broadcast")
    options = _options(BroadcastOptions, async_op, rootRank=group_src)
    return finished(begin(group, "broadcast", [real(tensor)], options), async_op)


@overridable("tensor")
def all_reduce(tensor: Any, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False) -> Any:
    """Reduce the tensors of all, in place."""
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
    """Reduce several tensors at once. Deprecated in torch."""
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
    """Reduce the tensors of all into that of a rank."""
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


@overridable("tensor")
def all_gather(tensor_list: Any, tensor: Any, group: Any = None, async_op: bool = False) -> Any:
    """Fill the list with the tensors of all."""
    _check_tensor_list(tensor_list, "tensor_list")
    _check_single_tensor(tensor, "tensor")
    _ensure_all_tensors_same_dtype(tensor_list, tensor)
    if _rank_not_in_group(group):
        return _warn_not_in_group("all_gather")
    options = _options(AllgatherOptions, async_op)
    group = _working_group(group)
    return finished(begin(group, "allgather", [reals(tensor_list)], [real(tensor)], options), async_op)


@overridable("input_tensor")
def all_gather_single(output_tensor: Any, input_tensor: Any, group: Any = None, async_op: bool = False) -> Any:
    """Fill one tensor with the tensors of all, one behind the other."""
    _check_single_tensor(input_tensor, "input_tensor")
    _check_single_tensor(output_tensor, "output_tensor")
    if _rank_not_in_group(group):
        return _warn_not_in_group("all_gather_single")
    output, given = real(output_tensor), real(input_tensor)
    group = _working_group(group)
    collected, result = collect(group, all_gather_single, given, output, None, async_op)
    if collected:
        return result
    return finished(begin(group, "all_gather_single", output, given, _options(AllgatherOptions, async_op)), async_op)


def all_gather_into_tensor(output_tensor: Any, input_tensor: Any, group: Any = None, async_op: bool = False) -> Any:
    """`all_gather_single` by its former name."""
    _deprecated("all_gather_into_tensor", "is deprecated. Please use `torch.distributed.all_gather_single` instead.")
    return all_gather_single(output_tensor, input_tensor, group, async_op)


_PRIVATE = "is a private function and will be deprecated. Please use `torch.distributed.{}` instead."


def _all_gather_base(output_tensor: Any, input_tensor: Any, group: Any = None, async_op: bool = False) -> Any:
    _deprecated("_all_gather_base", _PRIVATE.format("all_gather_single"))
    return all_gather_single(output_tensor, input_tensor, group, async_op)


@overridable("input_tensor_list")
def all_gather_coalesced(
    output_tensor_lists: Any, input_tensor_list: Any, group: Any = None, async_op: bool = False
) -> Any:
    """`all_gather` of several tensors at once. Deprecated in torch."""
    _deprecated("all_gather_coalesced", _REVISIT)
    if _rank_not_in_group(group):
        return _warn_not_in_group("all_gather_coalesced")
    _check_tensor_list(input_tensor_list, "input_tensor_list")
    _ensure_all_tensors_same_dtype(input_tensor_list)
    if not isinstance(output_tensor_lists, list):
        raise TypeError("Invalid function argument: output_tensor_lists should be a list")
    for outputs in output_tensor_lists:
        _check_tensor_list(outputs, "output_tensor_lists")
        _ensure_all_tensors_same_dtype(outputs)
    lists = [reals(outputs) for outputs in output_tensor_lists]
    options = _options(AllgatherOptions, async_op)
    work = _working_group(group).allgather_coalesced(lists, reals(input_tensor_list), options)
    return work.get_future() if async_op else finished(work, False)


def _validate_output_list_for_rank(my_rank: int, dst: int, gather_list: Any) -> None:
    if dst == my_rank:
        if not gather_list:
            raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
    elif gather_list:
        raise ValueError("Argument ``gather_list`` must NOT be specified on non-destination ranks.")


@overridable("tensor")
def gather(
    tensor: Any,
    gather_list: Any = None,
    dst: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Any:
    """Fill the list of a rank with the tensors of all."""
    _check_single_tensor(tensor, "tensor")
    if gather_list:
        _check_tensor_list(gather_list, "gather_list")
    else:
        gather_list = []
    _ensure_all_tensors_same_dtype(tensor, gather_list)
    group = _group_or_default_group(group)
    if _rank_not_in_group(group):
        return _warn_not_in_group("gather")
    group_dst = _rank_of_root(group, dst, group_dst)
    _validate_output_list_for_rank(group.rank(), group_dst, gather_list)
    outputs = [gather_list] if group_dst == group.rank() else []
    options = _options(GatherOptions, async_op, rootRank=group_dst)
    return finished(begin(group, "gather", outputs, [tensor], options), async_op)


@overridable("tensor")
def scatter(
    tensor: Any,
    scatter_list: Any = None,
    src: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Any:
    """Give each rank its tensor of a rank's list."""
    _check_single_tensor(tensor, "tensor")
    if scatter_list:
        _check_tensor_list(scatter_list, "scatter_list")
    else:
        scatter_list = []
    _ensure_all_tensors_same_dtype(tensor, scatter_list)
    group = _group_or_default_group(group)
    group_src = _rank_of_root(group, src, group_src)
    if _rank_not_in_group(group):
        return _warn_not_in_group("scatter")
    given = reals(scatter_list)
    if group_src == group.rank() and not given:
        raise ValueError("Argument ``scatter_list`` must be specified on source rank.")
    if group_src != group.rank() and given:
        raise ValueError("Argument ``scatter_list`` must NOT be specified on non-source ranks.")
    options = _options(ScatterOptions, async_op, rootRank=group_src)
    return finished(begin(group, "scatter", [real(tensor)], [given] if given else [], options), async_op)


@overridable("output")
def reduce_scatter(
    output: Any, input_list: Any, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Any:
    """Reduce the lists of all, and give each rank its tensor."""
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
    """Reduce the tensors of all, and give each rank its part."""
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
    """`reduce_scatter_single` by its former name."""
    _deprecated("reduce_scatter_tensor", "is deprecated. Please use `torch.distributed.reduce_scatter_single` instead.")
    return reduce_scatter_single(output, input, op, group, async_op)


def _reduce_scatter_base(
    output: Any, input: Any, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Any:
    _deprecated("_reduce_scatter_base", _PRIVATE.format("reduce_scatter_single"))
    return reduce_scatter_single(output, input, op, group, async_op)


def _splits(given: Any) -> list[Any]:
    return [] if given is None else given.tolist() if isinstance(given, Tensor) else list(given)


@overridable("input")
def all_to_all_single(
    output: Any,
    input: Any,
    output_split_sizes: Any = None,
    input_split_sizes: Any = None,
    group: Any = None,
    async_op: bool = False,
) -> Any:
    """Give each rank its rows of the tensor."""
    if _rank_not_in_group(group):
        return _warn_not_in_group("all_to_all_single")
    _check_single_tensor(output, "output")
    _check_single_tensor(input, "input")
    _ensure_all_tensors_same_dtype(output, input)
    options = _options(AllToAllOptions, async_op)
    work = _working_group(group).all_to_all_single(
        real(output), real(input), _splits(output_split_sizes), _splits(input_split_sizes), options
    )
    return finished(work, async_op)


@overridable("input_tensor_list")
def all_to_all(output_tensor_list: Any, input_tensor_list: Any, group: Any = None, async_op: bool = False) -> Any:
    """Give each rank its tensor of the list."""
    if _rank_not_in_group(group):
        return _warn_not_in_group("all_to_all")
    _check_tensor_list(output_tensor_list, "output_tensor_list")
    _check_tensor_list(input_tensor_list, "input_tensor_list")
    _ensure_all_tensors_same_dtype(output_tensor_list, input_tensor_list)
    options = _options(AllToAllOptions, async_op)
    group = _working_group(group)
    return finished(begin(group, "alltoall", reals(output_tensor_list), reals(input_tensor_list), options), async_op)


def barrier(group: Any = None, async_op: bool = False, device_ids: Any = None, timeout: Any = None) -> Any:
    """Return when all are here."""
    if _rank_not_in_group(group):
        return _warn_not_in_group("barrier")
    group = _working_group(group)
    options = _options(BarrierOptions, async_op)
    if timeout is not None:
        options.timeout = timeout
    return finished(group.barrier(opts=options), async_op)


def monitored_barrier(group: Any = None, timeout: Any = None, wait_all_ranks: bool = False) -> Any:
    """Return when all are here; rank 0's error names who is not."""
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

"""Collectives that hand tensors from rank to rank, without arithmetic."""

from __future__ import annotations

from typing import Any

from mindtorch.distributed._arguments import (
    _check_single_tensor,
    _check_tensor_list,
    _ensure_all_tensors_same_dtype,
    finished,
    overridable,
    real,
    reals,
)
from mindtorch.distributed._coalescing import collect
from mindtorch.distributed._collectives import _PRIVATE, _REVISIT, _deprecated, _options
from mindtorch.distributed._options import (
    AllgatherOptions,
    AllToAllOptions,
    GatherOptions,
    ScatterOptions,
)
from mindtorch.distributed._told import begin
from mindtorch.distributed._world import (
    _group_or_default_group,
    _rank_not_in_group,
    _rank_of_root,
    _warn_not_in_group,
    _working_group,
)
from mindtorch.tensor.tensor import Tensor


@overridable("tensor")
def all_gather(tensor_list: Any, tensor: Any, group: Any = None, async_op: bool = False) -> Any:
    """Fill the list with the tensors of all.

    >>> import torch.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> found = [torch.zeros(2)]
    >>> dist.all_gather(found, torch.tensor([1.0, 2.0]))
    >>> found
    [tensor([1., 2.])]
    >>> dist.destroy_process_group()
    """
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
    """Fill one tensor with the tensors of all, one behind the other.

    >>> import torch.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> found = torch.zeros(2)
    >>> dist.all_gather_single(found, torch.tensor([1.0, 2.0]))
    >>> found
    tensor([1., 2.])
    >>> dist.destroy_process_group()
    """
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
    """`all_gather_single` by its former name.

    >>> import torch.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> found = torch.zeros(2)
    >>> dist.all_gather_into_tensor(found, torch.tensor([1.0, 2.0]))
    >>> found
    tensor([1., 2.])
    >>> dist.destroy_process_group()
    """
    _deprecated("all_gather_into_tensor", "is deprecated. Please use `torch.distributed.all_gather_single` instead.")
    return all_gather_single(output_tensor, input_tensor, group, async_op)


def _all_gather_base(output_tensor: Any, input_tensor: Any, group: Any = None, async_op: bool = False) -> Any:
    _deprecated("_all_gather_base", _PRIVATE.format("all_gather_single"))
    return all_gather_single(output_tensor, input_tensor, group, async_op)


@overridable("input_tensor_list")
def all_gather_coalesced(
    output_tensor_lists: Any, input_tensor_list: Any, group: Any = None, async_op: bool = False
) -> Any:
    """`all_gather` of several tensors at once. Deprecated in torch.

    >>> import torch.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> found = [[torch.zeros(2)]]
    >>> dist.all_gather_coalesced(found, [torch.tensor([1.0, 2.0])])
    >>> found
    [[tensor([1., 2.])]]
    >>> dist.destroy_process_group()
    """
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
    """Fill the list of a rank with the tensors of all.

    >>> import torch.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> found = [torch.zeros(2)]
    >>> dist.gather(torch.tensor([1.0, 2.0]), found, dst=0)
    >>> found
    [tensor([1., 2.])]
    >>> dist.destroy_process_group()
    """
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
    """Give each rank its tensor of a rank's list.

    >>> import torch.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> x = torch.zeros(2)
    >>> dist.scatter(x, [torch.tensor([1.0, 2.0])], src=0)
    >>> x
    tensor([1., 2.])
    >>> dist.destroy_process_group()
    """
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
    """Give each rank its rows of the tensor.

    >>> import torch.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> found = torch.zeros(2)
    >>> dist.all_to_all_single(found, torch.tensor([1.0, 2.0]))
    >>> found
    tensor([1., 2.])
    >>> dist.destroy_process_group()
    """
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
    """Give each rank its tensor of the list.

    >>> import torch.distributed as dist
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> found = [torch.zeros(2)]
    >>> dist.all_to_all(found, [torch.tensor([1.0, 2.0])])
    >>> found
    [tensor([1., 2.])]
    >>> dist.destroy_process_group()
    """
    if _rank_not_in_group(group):
        return _warn_not_in_group("all_to_all")
    _check_tensor_list(output_tensor_list, "output_tensor_list")
    _check_tensor_list(input_tensor_list, "input_tensor_list")
    _ensure_all_tensors_same_dtype(output_tensor_list, input_tensor_list)
    options = _options(AllToAllOptions, async_op)
    group = _working_group(group)
    return finished(begin(group, "alltoall", reals(output_tensor_list), reals(input_tensor_list), options), async_op)

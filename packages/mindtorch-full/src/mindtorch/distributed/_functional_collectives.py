"""Collectives that return new tensors and have gradients. Their results wait when they are used."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import mindtorch
from mindtorch import distributed as dist
from mindtorch._naming import adopt
from mindtorch.distributed import _finished_collectives as finished
from mindtorch.distributed._async_collective_tensor import (
    AsyncCollectiveTensor,
    _are_we_tracing,
    _maybe_wrap_tensor,
    wait_tensor,
)
from mindtorch.distributed._world import _get_group_tag
from mindtorch.distributed.device_mesh import DeviceMesh

RANK_TYPES = list[int] | list[list[int]] | dist.ProcessGroup | DeviceMesh | tuple[DeviceMesh, int] | str
"""What says which ranks take part."""


def _resolve_group(group: Any, tag: str = "") -> Any:
    """The group that ranks, a mesh, a mesh and a dimension, a name or a group mean."""
    if isinstance(group, list) and not _are_we_tracing():
        warnings.warn(
            "The combination of ranks + tag as process group identifier has been deprecated. Please switch to "
            "using ProcessGroup, DeviceMesh, or group name instead.",
            FutureWarning,
            stacklevel=3,
        )
    return finished.resolve_group(group, tag)


def _resolve_group_name(group: Any, tag: str = "") -> str:
    return str(_resolve_group(group, tag).group_name)


def _expand_group(group: Any, tag: str = "") -> tuple[str, list[int], int]:
    """The tag, all ranks and the size of the group that ranks, a group, a mesh, or a mesh and a dimension mean."""
    if isinstance(group, list):
        rows = group if isinstance(group[0], list) else [group]
        for row in rows:
            if len(row) != len(rows[0]):
                raise ValueError(f"group sizes must be identical found {len(rows[0])} and {len(row)}")
        return tag, [rank for row in rows for rank in row], len(rows[0])
    if isinstance(group, tuple) and not (
        len(group) == 2 and hasattr(group[0], "get_group") and isinstance(group[1], int)
    ):
        raise ValueError("Invalid tuple for group must be (DeviceMesh, int)")
    if not isinstance(group, (dist.ProcessGroup, tuple)) and not hasattr(group, "get_group"):
        raise ValueError("Invalid type for group, must be one of List, Processgroup, DeviceMesh or (DeviceMesh, int).")
    found = finished.resolve_group(group)
    return tag or _get_group_tag(found), list(dist.get_process_group_ranks(found)), found.size()


def _ready(tensor: Any) -> Any:
    """What a collective takes: it waits for the one before."""
    return wait_tensor(tensor) if isinstance(tensor, AsyncCollectiveTensor) else tensor


def broadcast(self: Any, src: int, group: Any, tag: str = "") -> Any:
    """A copy of the tensor of rank `src`."""
    group = _resolve_group(group, tag)
    if finished.is_seen():
        tensor = mindtorch.ops._c10d_functional.broadcast(self, src, group.group_name)
    else:
        tensor = finished.broadcast_copy(_ready(self), src, group, True)
    return _maybe_wrap_tensor(tensor)


def all_reduce(self: Any, reduceOp: str, group: Any, tag: str = "") -> Any:
    """The reduced tensors of all."""
    group, reduceOp = _resolve_group(group, tag), reduceOp.lower()
    if finished.is_seen():
        tensor = mindtorch.ops._c10d_functional.all_reduce(self, reduceOp, group.group_name)
    elif self.is_meta:
        tensor = mindtorch.empty_like(self)
    else:
        tensor = finished.AllReduce.apply(reduceOp, group, _ready(self), True)
    return _maybe_wrap_tensor(tensor)


def all_gather_single(self: Any, gather_dim: int, group: Any, tag: str = "") -> Any:
    """The tensors of all, one behind the other along a dimension."""
    group = _resolve_group(group, tag)
    if finished.is_seen():
        tensor = mindtorch.ops._c10d_functional.all_gather_into_tensor(self, group.size(), group.group_name)
    else:
        tensor = finished.AllGather.apply(group, _ready(self), True)
    if _are_we_tracing():
        res = mindtorch.ops._c10d_functional.wait_tensor(tensor)  # graphs have the name of this variable
    else:
        res = _maybe_wrap_tensor(tensor)
    if gather_dim != 0:
        if isinstance(res, AsyncCollectiveTensor):
            res = res.wait()
        res = mindtorch.cat(mindtorch.chunk(res, group.size(), dim=0), dim=gather_dim)
    return res


def reduce_scatter_single(self: Any, reduceOp: str, scatter_dim: int, group: Any, tag: str = "") -> Any:
    """This rank's part, along a dimension, of the reduced tensors of all."""
    group, reduceOp = _resolve_group(group, tag), reduceOp.lower()
    if self.size(scatter_dim) % group.size() != 0:
        raise AssertionError(f"input dimension 0 ({self.size(0)} must be a multiple of group_size {group.size()})")
    if scatter_dim != 0:
        self = mindtorch.cat(mindtorch.chunk(self, group.size(), dim=scatter_dim))
    if finished.is_seen():
        tensor = mindtorch.ops._c10d_functional.reduce_scatter_tensor(self, reduceOp, group.size(), group.group_name)
    else:
        tensor = finished.ReduceScatter.apply(reduceOp, group, _ready(self), True)
    if _are_we_tracing():
        res = mindtorch.ops._c10d_functional.wait_tensor(tensor)  # graphs have the name of this variable
    else:
        res = _maybe_wrap_tensor(tensor)
    return res


def _check_splits(output_split_sizes: Any, input_split_sizes: Any) -> None:
    for name, sizes in (("output_split_sizes", output_split_sizes), ("input_split_sizes", input_split_sizes)):
        if sizes is not None and not all(isinstance(size, (int, mindtorch.SymInt)) for size in sizes):
            raise AssertionError(f"All {name} must be int or SymInt, got {sizes}")


def all_to_all_single(self: Any, output_split_sizes: Any, input_split_sizes: Any, group: Any, tag: str = "") -> Any:
    """This rank's rows of the tensors of all."""
    _check_splits(output_split_sizes, input_split_sizes)
    group = _resolve_group(group, tag)
    if (output_split_sizes is None) != (input_split_sizes is None):
        raise AssertionError(
            "output_split_sizes and input_split_sizes must either be specified together or both set to None"
        )
    if finished.is_seen():
        even = [self.shape[0] // group.size()] * group.size()
        given = (self, output_split_sizes or even, input_split_sizes or even, group.group_name)
        tensor = mindtorch.ops._c10d_functional.all_to_all_single(*given)
    else:
        tensor = finished.AllToAll.apply(group, output_split_sizes, input_split_sizes, _ready(self), True)
    return _maybe_wrap_tensor(tensor)


all_gather_single_autograd = all_gather_single
reduce_scatter_single_autograd = reduce_scatter_single
all_to_all_single_autograd = all_to_all_single


def all_reduce_coalesced(self: list[Any], reduceOp: str, group: Any, tag: str = "") -> list[Any]:
    """`all_reduce` of each."""
    group = _resolve_group(group, tag)
    if finished.is_seen():
        tensors = mindtorch.ops._c10d_functional.all_reduce_coalesced(self, reduceOp.lower(), group.group_name)
        return [_maybe_wrap_tensor(tensor) for tensor in tensors]
    return [all_reduce(tensor, reduceOp, group) for tensor in self]


def all_gather_single_coalesced(self: list[Any], group: Any, tag: str = "") -> list[Any]:
    """`all_gather_single` of each, along the first dimension."""
    group = _resolve_group(group, tag)
    if finished.is_seen():
        operators = mindtorch.ops._c10d_functional
        tensors = operators.all_gather_into_tensor_coalesced(self, group.size(), group.group_name)
        return [_maybe_wrap_tensor(tensor) for tensor in tensors]
    return [all_gather_single(tensor, 0, group) for tensor in self]


def reduce_scatter_single_coalesced(
    inputs: list[Any], reduceOp: str, scatter_dim: list[int], group: Any, tag: str = ""
) -> list[Any]:
    """`reduce_scatter_single` of each."""
    group = _resolve_group(group, tag)
    size = group.size()
    if len(scatter_dim) != len(inputs):
        raise AssertionError(f"Length of scatter_dim ({len(scatter_dim)}) must equal length of inputs ({len(inputs)})")
    for place, (dim, tensor) in enumerate(zip(scatter_dim, inputs, strict=True)):
        if tensor.size(dim) % size != 0:
            raise AssertionError(
                f"input dimension {dim} ({tensor.size(dim)} must be a multiple of group_size {size} for tensor at "
                f"index {place}"
            )
    pairs = zip(inputs, scatter_dim, strict=True)
    if finished.is_seen():
        given = [mindtorch.cat(mindtorch.chunk(t, size, dim=dim)) if dim else t for t, dim in pairs]
        operators = mindtorch.ops._c10d_functional
        tensors = operators.reduce_scatter_tensor_coalesced(given, reduceOp.lower(), size, group.group_name)
        return [_maybe_wrap_tensor(tensor) for tensor in tensors]
    return [reduce_scatter_single(tensor, reduceOp, dim, group) for tensor, dim in pairs]


def _renamed(old: str, new: Callable[..., Any], name: str) -> Callable[..., Any]:
    """The function of an older name, which warns."""

    def function(*args: Any, **kwargs: Any) -> Any:
        if not mindtorch.compiler.is_compiling():
            home = "torch.distributed._functional_collectives"
            text = f"`{home}.{old}` is deprecated. Please use `{home}.{name}` instead."
            warnings.warn(text, FutureWarning, stacklevel=2)
        return new(*args, **kwargs)

    function.__name__ = function.__qualname__ = old
    function.__wrapped__ = new  # type: ignore[attr-defined] # its parameters
    return function


all_gather_tensor = _renamed("all_gather_tensor", all_gather_single, "all_gather_single")
all_gather_tensor_autograd = _renamed("all_gather_tensor_autograd", all_gather_single, "all_gather_single_autograd")
reduce_scatter_tensor = _renamed("reduce_scatter_tensor", reduce_scatter_single, "reduce_scatter_single")
reduce_scatter_tensor_autograd = _renamed(
    "reduce_scatter_tensor_autograd", reduce_scatter_single, "reduce_scatter_single_autograd"
)
all_gather_into_tensor_coalesced = _renamed(
    "all_gather_into_tensor_coalesced", all_gather_single_coalesced, "all_gather_single_coalesced"
)
reduce_scatter_tensor_coalesced = _renamed(
    "reduce_scatter_tensor_coalesced", reduce_scatter_single_coalesced, "reduce_scatter_single_coalesced"
)


def permute_tensor(self: Any, src_dst: list[int], group: Any, tag: str = "") -> Any:
    """Send this rank's tensor of one dimension to rank `src_dst[rank]`, and return what comes."""
    group = _resolve_group(group, tag)
    sent, received = [0] * group.size(), [0] * group.size()
    for source, target in enumerate(src_dst):
        if source == dist.get_rank(group):
            sent[target] = self.numel()
        if target == dist.get_rank(group):
            received[source] = self.numel()
    return all_to_all_single(self, received, sent, group)


def _world_for(group: Any, async_op: bool) -> Any:
    if async_op:
        raise AssertionError("Can't remap async version of inplace op to functional collective")
    return group or dist.group.WORLD


def all_gather_tensor_inplace(
    output_tensor: Any, input_tensor: Any, group: Any = None, async_op: bool = False, tag: str = "", gather_dim: int = 0
) -> Any:
    """`all_gather_single` into a tensor."""
    return output_tensor.copy_(all_gather_single(input_tensor, gather_dim, _world_for(group, async_op), tag))


def reduce_scatter_tensor_inplace(
    output: Any,
    input: Any,
    op: Any = "sum",
    group: Any = None,
    async_op: bool = False,
    scatter_dim: int = 0,
    tag: str = "",
) -> Any:
    """`reduce_scatter_single` into a tensor."""
    group, op = _world_for(group, async_op), finished.operation_name(op)
    return output.copy_(reduce_scatter_single(input, op, scatter_dim, group, tag))


def all_reduce_inplace(tensor: Any, op: Any = "sum", group: Any = None, async_op: bool = False, tag: str = "") -> Any:
    """`all_reduce` into its tensor."""
    group, op = _world_for(group, async_op), finished.operation_name(op)
    return tensor.copy_(all_reduce(tensor, op, group, tag))


def all_to_all_inplace(
    output: Any,
    input: Any,
    output_split_sizes: Any = None,
    input_split_sizes: Any = None,
    group: Any = None,
    async_op: bool = False,
    tag: str = "",
) -> Any:
    """`all_to_all_single` into a tensor."""
    group = _world_for(group, async_op)
    return output.copy_(all_to_all_single(input, output_split_sizes, input_split_sizes, group, tag))


def all_gather_inplace(
    tensor_list: list[Any], tensor: Any, group: Any = None, async_op: bool = False, tag: str = ""
) -> list[Any]:
    """`all_gather_single` into a list of tensors."""
    group = _world_for(group, async_op)
    if tensor.dim() and any(one.size(0) != tensor.size(0) for one in tensor_list):
        raise AssertionError("Remapping variable size all_gather is not yet supported")
    output, offset, parts = all_gather_single(tensor if tensor.dim() else tensor.reshape(1), 0, group, tag), 0, []
    for one in tensor_list:
        rows = one.size(0) if one.dim() else 1
        out = output[offset : offset + rows] if one.dim() else output[offset]
        parts.append(out)
        offset += rows
    for one, part in zip(tensor_list, parts, strict=True):
        one.copy_(part)
    return tensor_list


def _peer(group: Any, rank: int, group_rank: int, name: str) -> int:
    """The global rank that a rank, or a rank in the group, means."""
    if group_rank == -1:
        return rank
    if rank is not None:
        raise ValueError(f"Cannot specify both '{name}' and 'group_{name}' args as per eager impl")
    return int(dist.get_global_rank(group, group_rank))


def isend_inplace(tensor: Any, dst: int, tag: int = 0, group: Any = None, group_dst: int = -1) -> Any:
    """Start to send a tensor; return an empty one that waits until it is sent."""
    group = group or dist.group.WORLD
    target = _peer(group, dst, group_dst, "dst")
    tensor = mindtorch.ops._c10d_functional.isend(tensor, target, tag, group.group_name)
    return tensor if _are_we_tracing() else _maybe_wrap_tensor(tensor)


def irecv_inplace(tensor: Any, src: int, tag: int = 0, group: Any = None, group_src: int = -1) -> Any:
    """Start to receive into a tensor; return one around it that waits until it is there."""
    group = group or dist.group.WORLD
    source = _peer(group, src, group_src, "src")
    tensor = mindtorch.ops._c10d_functional.irecv(tensor, source, tag, group.group_name)
    return _maybe_wrap_tensor(tensor)


def batch_p2p_ops_inplace(
    op_list: list[str], peer_list: list[int], tag_list: list[int], tensors: list[Any], group_name: Any
) -> list[Any]:
    """Start messages, each `isend` or `irecv`; return what these return."""
    if not dist.is_initialized():
        raise AssertionError("torch.distributed must be initialized")
    name = _resolve_group_name(group_name or dist.group.WORLD)
    tensors = mindtorch.ops._c10d_functional.batch_p2p_ops(op_list, peer_list, tag_list, tensors, name)
    if _are_we_tracing():
        return [_maybe_wrap_tensor(t) if op == "irecv" else t for op, t in zip(op_list, tensors, strict=True)]
    return [_maybe_wrap_tensor(tensor) for tensor in tensors]


IN_PLACE: dict[str, Callable[..., Any]] = {
    "all_gather": all_gather_inplace,
    "all_gather_single": all_gather_tensor_inplace,
    "all_reduce": all_reduce_inplace,
    "all_to_all_single": all_to_all_inplace,
    "reduce_scatter_single": reduce_scatter_tensor_inplace,
}
"""What graphs have in place of the collectives of `torch.distributed`."""


adopt(globals())

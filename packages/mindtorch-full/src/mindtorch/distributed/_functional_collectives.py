"""Collectives that return new tensors and have gradients.

torch returns tensors that wait when they are used. Here a collective is done when it returns: `wait_tensor` has nothing
to wait for, and no tensor is an `AsyncCollectiveTensor`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mindtorch
from mindtorch import distributed as dist
from mindtorch._naming import adopt
from mindtorch.autograd import Function
from mindtorch.distributed._reduce_op import RedOpType, type_of
from mindtorch.distributed._world import _get_group_tag, _resolve_process_group
from mindtorch.utils._python_dispatch import _get_current_dispatch_mode_stack
from mindtorch_autograd.function import recorder

REDUCE_OP_TO_STR = {
    RedOpType.SUM: "sum",
    RedOpType.AVG: "avg",
    RedOpType.PRODUCT: "product",
    RedOpType.MIN: "min",
    RedOpType.MAX: "max",
    RedOpType.BAND: "band",
    RedOpType.BOR: "bor",
    RedOpType.BXOR: "bxor",
}
_BY_NAME = {name: kind for kind, name in REDUCE_OP_TO_STR.items()}


class AsyncCollectiveTensor(mindtorch.Tensor):
    """torch's tensor that waits for a collective when it is used; none is made here."""


def _resolve_group(group: Any, tag: str = "") -> Any:
    """The group that ranks, a mesh, a mesh and a dimension, a name or a group mean."""
    if isinstance(group, dist.ProcessGroup):
        return group
    if isinstance(group, str):
        return _resolve_process_group(group)
    if isinstance(group, list):
        ranks = sorted(group if not isinstance(group[0], list) else next(g for g in group if dist.get_rank() in g))
        found = dist.distributed_c10d._find_pg_by_ranks_and_tag(tag, ranks)
        if found is None:
            raise ValueError("")
        return found
    if isinstance(group, tuple):
        if len(group) != 2 or not isinstance(group[1], int) or not hasattr(group[0], "get_group"):
            kinds = (type(group[0]), type(group[1]))
            raise ValueError(f"Invalid tuple for group must be (DeviceMesh, int). Instead got {kinds}")
        return group[0].get_group(group[1])
    if hasattr(group, "get_group"):
        if group.ndim != 1:
            raise AssertionError("Only 1D mesh is supported, pass in (DeviceMesh, int) together if mesh > 1D")
        return group.get_group()
    raise ValueError(f"Unsupported group type: {type(group)}, {group}")


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
    found = _resolve_group(group)
    return tag or _get_group_tag(found), list(dist.get_process_group_ranks(found)), found.size()


def _recorded() -> bool:
    """Whether a mode is told of operators, or a graph is made of them."""
    return recorder.apply is not None or bool(_get_current_dispatch_mode_stack())


def _by_operator(name: str, group: Any, *args: Any) -> Any:
    """The result of a collective that is told of by its operator, and of the one that waits for it."""
    operators = mindtorch.ops._c10d_functional
    tensor = getattr(operators, name)(*args, group.group_name)  # graphs have the name of this variable
    return operators.wait_tensor(tensor)


def _operation_name(op: Any) -> str:
    return op.lower() if isinstance(op, str) else REDUCE_OP_TO_STR[type_of(op)]


def _operation(name: Any) -> Any:
    if not isinstance(name, str):
        return name
    if name.lower() not in _BY_NAME:
        raise RuntimeError(f"Unrecognized reduce_op: {name}")
    return _BY_NAME[name.lower()]


def _only_sum(function: str, name: Any) -> None:
    shown = name if isinstance(name, str) else REDUCE_OP_TO_STR[type_of(name)]
    if shown != "sum":
        raise RuntimeError(f"{function} backward only supports 'sum' reduction, got '{shown}'")


class _AllReduce(Function):
    @staticmethod
    def forward(ctx: Any, op: Any, group: Any, tensor: Any) -> Any:
        ctx.op, ctx.group = op, group
        result = tensor.clone(memory_format=mindtorch.contiguous_format)
        dist.all_reduce(result, op=_operation(op), group=group)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        _only_sum("all_reduce", ctx.op)
        return None, None, _AllReduce.apply("sum", ctx.group, grad)


class _AllGather(Function):
    @staticmethod
    def forward(ctx: Any, group: Any, tensor: Any) -> Any:
        ctx.group = group
        given = tensor.contiguous()
        result = mindtorch.empty(
            (given.shape[0] * group.size(), *given.shape[1:]), dtype=given.dtype, device=given.device
        )
        dist.all_gather_single(result, given, group=group)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return None, _ReduceScatter.apply("sum", ctx.group, grad)


class _ReduceScatter(Function):
    @staticmethod
    def forward(ctx: Any, op: Any, group: Any, tensor: Any) -> Any:
        ctx.op, ctx.group = op, group
        given = tensor.contiguous()
        result = mindtorch.empty(
            (given.shape[0] // group.size(), *given.shape[1:]), dtype=given.dtype, device=given.device
        )
        dist.reduce_scatter_single(result, given, op=_operation(op), group=group)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        _only_sum("reduce_scatter_tensor", ctx.op)
        return None, None, _AllGather.apply(ctx.group, grad)


class _AllToAll(Function):
    @staticmethod
    def forward(ctx: Any, group: Any, received: Any, sent: Any, tensor: Any) -> Any:
        ctx.group, ctx.received, ctx.sent = group, received, sent
        given = tensor.contiguous()
        rows = given.shape[0] if received is None else sum(received)
        result = mindtorch.empty((rows, *given.shape[1:]), dtype=given.dtype, device=given.device)
        dist.all_to_all_single(result, given, received, sent, group=group)
        return result

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        return None, None, None, _AllToAll.apply(ctx.group, ctx.sent, ctx.received, grad)


def wait_tensor(tensor: Any) -> Any:
    """The tensor: its collective is done."""
    return tensor


def broadcast(self: Any, src: int, group: Any, tag: str = "") -> Any:
    """A copy of the tensor of rank `src`."""
    if _recorded():
        return _by_operator("broadcast", _resolve_group(group, tag), self, src)
    result = self.clone(memory_format=mindtorch.contiguous_format)
    dist.broadcast(result, src, group=_resolve_group(group, tag))
    return result


def all_reduce(self: Any, reduceOp: Any, group: Any, tag: str = "") -> Any:
    """The reduced tensors of all."""
    if self.is_meta:
        return mindtorch.empty_like(self)
    if _recorded():
        return _by_operator("all_reduce", _resolve_group(group, tag), self, _operation_name(reduceOp))
    return _AllReduce.apply(reduceOp, _resolve_group(group, tag), self)


def all_gather_single(self: Any, gather_dim: int, group: Any, tag: str = "") -> Any:
    """The tensors of all, one behind the other along a dimension."""
    group = _resolve_group(group, tag)
    if _recorded():
        tensor = mindtorch.ops._c10d_functional.all_gather_into_tensor(self, group.size(), group.group_name)
        res = mindtorch.ops._c10d_functional.wait_tensor(tensor)
    else:
        res = _AllGather.apply(group, self)
    return res if gather_dim == 0 else mindtorch.cat(mindtorch.chunk(res, group.size(), dim=0), dim=gather_dim)


def reduce_scatter_single(self: Any, reduceOp: Any, scatter_dim: int, group: Any, tag: str = "") -> Any:
    """This rank's part, along a dimension, of the reduced tensors of all."""
    group = _resolve_group(group, tag)
    if self.size(scatter_dim) % group.size() != 0:
        raise AssertionError(
            f"input dimension {scatter_dim} ({self.size(scatter_dim)} must be a multiple of group_size {group.size()})"
        )
    if scatter_dim != 0:
        self = mindtorch.cat(mindtorch.chunk(self, group.size(), dim=scatter_dim))
    if _recorded():
        operators, operation = mindtorch.ops._c10d_functional, _operation_name(reduceOp)
        tensor = operators.reduce_scatter_tensor(self, operation, group.size(), group.group_name)
        res = operators.wait_tensor(tensor)
        return res
    return _ReduceScatter.apply(reduceOp, group, self)


def all_to_all_single(self: Any, output_split_sizes: Any, input_split_sizes: Any, group: Any, tag: str = "") -> Any:
    """This rank's rows of the tensors of all."""
    group = _resolve_group(group, tag)
    if _recorded():
        even = [self.shape[0] // group.size()] * group.size()
        return _by_operator("all_to_all_single", group, self, output_split_sizes or even, input_split_sizes or even)
    return _AllToAll.apply(group, output_split_sizes, input_split_sizes, self)


all_gather_tensor = all_gather_single_autograd = all_gather_tensor_autograd = all_gather_single
reduce_scatter_tensor = reduce_scatter_single_autograd = reduce_scatter_tensor_autograd = reduce_scatter_single
all_to_all_single_autograd = all_to_all_single


def all_reduce_coalesced(self: list[Any], reduceOp: Any, group: Any, tag: str = "") -> list[Any]:
    """`all_reduce` of each."""
    return [all_reduce(tensor, reduceOp, group, tag) for tensor in self]


def all_gather_single_coalesced(self: list[Any], group: Any, tag: str = "") -> list[Any]:
    """`all_gather_single` of each, along the first dimension."""
    return [all_gather_single(tensor, 0, group, tag) for tensor in self]


all_gather_into_tensor_coalesced = all_gather_single_coalesced


def reduce_scatter_single_coalesced(
    inputs: list[Any], reduceOp: Any, scatter_dim: list[int], group: Any, tag: str = ""
) -> list[Any]:
    """`reduce_scatter_single` of each."""
    pairs = zip(inputs, scatter_dim, strict=True)
    return [reduce_scatter_single(tensor, reduceOp, dim, group, tag) for tensor, dim in pairs]


reduce_scatter_tensor_coalesced = reduce_scatter_single_coalesced


def permute_tensor(self: Any, src_dst: list[int], group: Any, tag: str = "") -> Any:
    """Send this rank's tensor to rank `src_dst[rank]`, and return what comes."""
    group = _resolve_group(group, tag)
    sent, received = [0] * group.size(), [0] * group.size()
    for source, target in enumerate(src_dst):
        if source == dist.get_rank(group):
            sent[target] = self.numel()
        if target == dist.get_rank(group):
            received[source] = self.numel()
    return all_to_all_single(self.reshape(-1), received, sent, group).reshape(self.shape)


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
    return output.copy_(reduce_scatter_single(input, op, scatter_dim, _world_for(group, async_op), tag))


def all_reduce_inplace(tensor: Any, op: Any = "sum", group: Any = None, async_op: bool = False, tag: str = "") -> Any:
    """`all_reduce` into its tensor."""
    return tensor.copy_(all_reduce(tensor, op, _world_for(group, async_op), tag))


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


IN_PLACE: dict[str, Callable[..., Any]] = {
    "all_gather": all_gather_inplace,
    "all_gather_single": all_gather_tensor_inplace,
    "all_reduce": all_reduce_inplace,
    "all_to_all_single": all_to_all_inplace,
    "reduce_scatter_single": reduce_scatter_tensor_inplace,
}
"""What graphs have in place of the collectives of `torch.distributed`."""


adopt(globals())

"""Functional collectives that are done when they return, and the nodes of the graph that give them gradients.

The tensors of `torch.distributed.tensor` are made of these. Users have those of `_functional_collectives`, whose results
wait when they are used: these start the same nodes, with `later`.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import mindtorch
from mindtorch import distributed as dist
from mindtorch.autograd import Function
from mindtorch.distributed._reduce_op import RedOpType, type_of
from mindtorch.distributed._world import _resolve_process_group
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
_works: WeakKeyDictionary[Any, Any] = WeakKeyDictionary()
"""What a collective that was started writes to: its storage, and its work."""


def remember(tensor: Any, work: Any) -> None:
    """Have `finish` of a tensor, or of a view of it, wait for a work; None where nothing was started."""
    if work is not None:
        _works[tensor.untyped_storage()] = work


def finish(tensor: Any) -> Any:
    """Return the tensor, when the collective that writes it is done."""
    if _works and not tensor.is_meta:
        work = _works.pop(tensor.untyped_storage(), None)
        if work is not None:
            work.wait()
    return tensor


def resolve_group(group: Any, tag: str = "") -> Any:
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


def is_seen() -> bool:
    """Whether a mode is told of operators, or a graph is made of them."""
    return recorder.apply is not None or bool(_get_current_dispatch_mode_stack())


def _by_operator(name: str, group: Any, *args: Any) -> Any:
    operators = mindtorch.ops._c10d_functional
    tensor = getattr(operators, name)(*args, group.group_name)  # graphs have the name of this variable
    return operators.wait_tensor(tensor)


def operation_name(op: Any) -> str:
    """A reduction's name, in small letters."""
    return op.lower() if isinstance(op, str) else REDUCE_OP_TO_STR[type_of(op)]


def operation(name: Any) -> Any:
    """The reduction of a name."""
    if not isinstance(name, str):
        return name
    if name.lower() not in _BY_NAME:
        raise RuntimeError(f"Unrecognized reduce_op: {name}")
    return _BY_NAME[name.lower()]


def only_sum(function: str, name: Any) -> None:
    """RuntimeError for the gradient of another reduction."""
    shown = operation_name(name)
    if shown != "sum":
        raise RuntimeError(f"{function} backward only supports 'sum' reduction, got '{shown}'")


class AllReduce(Function):
    """The reduced tensors of all."""

    @staticmethod
    def forward(ctx: Any, op: Any, group: Any, tensor: Any, later: bool = False) -> Any:
        """Reduce a copy."""
        ctx.op, ctx.group = op, group
        result = tensor.clone(memory_format=mindtorch.contiguous_format)
        remember(result, dist.all_reduce(result, op=operation(op), group=group, async_op=later))
        return result

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        """The sum of the gradients of all."""
        only_sum("all_reduce", ctx.op)
        return None, None, AllReduce.apply("sum", ctx.group, grad), None


class AllGather(Function):
    """The tensors of all, one behind the other."""

    @staticmethod
    def forward(ctx: Any, group: Any, tensor: Any, later: bool = False) -> Any:
        """Gather along the first dimension."""
        ctx.group = group
        given = tensor.contiguous()
        shape = (group.size() * (given.shape[0] if given.dim() else 1), *given.shape[1:])
        result = mindtorch.empty(shape, dtype=given.dtype, device=given.device)
        remember(result, dist.all_gather_single(result, given, group=group, async_op=later))
        return result

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        """This rank's part of the sum."""
        return None, ReduceScatter.apply("sum", ctx.group, grad), None


class ReduceScatter(Function):
    """This rank's part of the reduced tensors of all."""

    @staticmethod
    def forward(ctx: Any, op: Any, group: Any, tensor: Any, later: bool = False) -> Any:
        """Reduce, and keep a part of the first dimension."""
        ctx.op, ctx.group = op, group
        given = tensor.contiguous()
        shape = (given.shape[0] // group.size(), *given.shape[1:])
        result = mindtorch.empty(shape, dtype=given.dtype, device=given.device)
        remember(result, dist.reduce_scatter_single(result, given, op=operation(op), group=group, async_op=later))
        return result

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        """The gradients of all parts."""
        only_sum("reduce_scatter_tensor", ctx.op)
        return None, None, AllGather.apply(ctx.group, grad), None


class AllToAll(Function):
    """This rank's rows of the tensors of all."""

    @staticmethod
    def forward(ctx: Any, group: Any, received: Any, sent: Any, tensor: Any, later: bool = False) -> Any:
        """Send rows, and return those that come."""
        ctx.group, ctx.received, ctx.sent = group, received, sent
        given = tensor.contiguous()
        rows = given.shape[0] if received is None else sum(received)
        result = mindtorch.empty((rows, *given.shape[1:]), dtype=given.dtype, device=given.device)
        remember(result, dist.all_to_all_single(result, given, received, sent, group=group, async_op=later))
        return result

    @staticmethod
    def backward(ctx: Any, grad: Any) -> Any:
        """The rows go back."""
        return None, None, None, AllToAll.apply(ctx.group, ctx.sent, ctx.received, grad), None


def broadcast_copy(tensor: Any, src: int, group: Any, later: bool = False) -> Any:
    """A copy of the tensor of rank `src`."""
    result = tensor.clone(memory_format=mindtorch.contiguous_format)
    remember(result, dist.broadcast(result, src, group=group, async_op=later))
    return result


def all_reduce(self: Any, reduceOp: Any, group: Any) -> Any:
    """The reduced tensors of all."""
    if self.is_meta:
        return mindtorch.empty_like(self)
    if is_seen():
        return _by_operator("all_reduce", resolve_group(group), self, operation_name(reduceOp))
    return AllReduce.apply(reduceOp, resolve_group(group), self)


def all_gather_single(self: Any, gather_dim: int, group: Any) -> Any:
    """The tensors of all, one behind the other along a dimension."""
    group = resolve_group(group)
    if is_seen():
        tensor = mindtorch.ops._c10d_functional.all_gather_into_tensor(self, group.size(), group.group_name)
        res = mindtorch.ops._c10d_functional.wait_tensor(tensor)
    else:
        res = AllGather.apply(group, self)
    return res if gather_dim == 0 else mindtorch.cat(mindtorch.chunk(res, group.size(), dim=0), dim=gather_dim)


def reduce_scatter_single(self: Any, reduceOp: Any, group: Any) -> Any:
    """This rank's part, along the first dimension, of the reduced tensors of all."""
    group = resolve_group(group)
    if is_seen():
        operators, operation = mindtorch.ops._c10d_functional, operation_name(reduceOp)
        tensor = operators.reduce_scatter_tensor(self, operation, group.size(), group.group_name)
        res = operators.wait_tensor(tensor)
        return res
    return ReduceScatter.apply(reduceOp, group, self)


def all_to_all_single(self: Any, output_split_sizes: Any, input_split_sizes: Any, group: Any) -> Any:
    """This rank's rows of the tensors of all."""
    group = resolve_group(group)
    if is_seen():
        return _by_operator("all_to_all_single", group, self, output_split_sizes, input_split_sizes)
    return AllToAll.apply(group, output_split_sizes, input_split_sizes, self)

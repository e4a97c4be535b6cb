"""`torch.ops._c10d_functional`, `c10d_functional`, `_c10d_functional_autograd` and `c10d`: collectives as operators.

Importing this defines them. A functional collective takes the name of a group or the group itself; the older ones of
`c10d_functional` take a tag and ranks. Those of `c10d` are the methods of a group, with what they write beside their work.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import mindtorch
from mindtorch import distributed as dist
from mindtorch.distributed import _functional_collectives as functional
from mindtorch.distributed import _options as options
from mindtorch.library import Library, register_autograd

_GROUP = "__torch__.torch.classes.c10d.ProcessGroup process_group"
_WORK = "__torch__.torch.classes.c10d.Work"
_REDUCED = f"{_GROUP}, __torch__.torch.classes.c10d.ReduceOp reduce_op"
_TAIL = "bool async_op=True, int timeout=-1"
_RANKS = "str tag, int[] ranks, int group_size"
_SPLITS = "SymInt[] output_split_sizes, SymInt[] input_split_sizes"


def _reduced(name: Any, group: Any, tensor: Any) -> Any:
    dist.all_reduce(tensor, op=functional._operation(name), group=group)
    return tensor


def _all_reduce(input: Any, reduce_op: str, group_name: Any) -> Any:
    return functional.all_reduce(input, reduce_op, group_name)


def _all_reduce_into(input: Any, reduce_op: str, group_name: Any) -> Any:
    return _reduced(reduce_op, functional._resolve_group(group_name), input)


def _all_reduce_each(inputs: list[Any], reduce_op: str, group_name: Any) -> list[Any]:
    return [_all_reduce(tensor, reduce_op, group_name) for tensor in inputs]


def _all_reduce_into_each(inputs: list[Any], reduce_op: str, group_name: Any) -> list[Any]:
    return [_all_reduce_into(tensor, reduce_op, group_name) for tensor in inputs]


def _sized(group_size: int, group_name: Any) -> Any:
    """The group; an error when it has another size than the call says."""
    group = functional._resolve_group(group_name)
    if group.size() != group_size:
        raise RuntimeError(f"the group has {group.size()} ranks, the call says {group_size}")
    return group


def _gather(input: Any, group_size: int, group_name: Any) -> Any:
    return functional._AllGather.apply(_sized(group_size, group_name), input)


def _gather_out(input: Any, group_size: int, group_name: Any, *, out: Any) -> Any:
    dist.all_gather_single(out, input.contiguous(), group=_sized(group_size, group_name))
    return out


def _gather_each(inputs: list[Any], group_size: int, group_name: Any) -> list[Any]:
    return [_gather(tensor, group_size, group_name) for tensor in inputs]


def _reduce_scatter(input: Any, reduce_op: str, group_size: int, group_name: Any) -> Any:
    return functional._ReduceScatter.apply(reduce_op, _sized(group_size, group_name), input)


def _reduce_scatter_out(input: Any, reduce_op: str, group_size: int, group_name: Any, *, out: Any) -> Any:
    group = _sized(group_size, group_name)
    dist.reduce_scatter_single(out, input.contiguous(), op=functional._operation(reduce_op), group=group)
    return out


def _reduce_scatter_each(inputs: list[Any], reduce_op: str, group_size: int, group_name: Any) -> list[Any]:
    return [_reduce_scatter(tensor, reduce_op, group_size, group_name) for tensor in inputs]


def _all_to_all(input: Any, output_split_sizes: Any, input_split_sizes: Any, group_name: Any) -> Any:
    return functional.all_to_all_single(input, output_split_sizes, input_split_sizes, group_name)


def _broadcast(input: Any, src: int, group_name: Any) -> Any:
    return functional.broadcast(input, src, group_name)


def _broadcast_into(input: Any, src: int, group_name: Any) -> Any:
    dist.broadcast(input, src, group=functional._resolve_group(group_name))
    return input


FUNCTIONAL: dict[str, Callable[..., Any]] = {
    "all_reduce(Tensor input, str reduce_op, Any group_name) -> Tensor": _all_reduce,
    "all_reduce_(Tensor(a!) input, str reduce_op, Any group_name) -> Tensor(a!)": _all_reduce_into,
    "all_reduce_coalesced(Tensor[] inputs, str reduce_op, Any group_name) -> Tensor[]": _all_reduce_each,
    "all_reduce_coalesced_(Tensor[](a!) inputs, str reduce_op, Any group_name) -> Tensor[](a!)": _all_reduce_into_each,
    "all_gather_into_tensor(Tensor input, int group_size, Any group_name) -> Tensor": _gather,
    "all_gather_into_tensor_out(Tensor input, int group_size, Any group_name, *, Tensor(a!) out) -> Tensor(a!)": _gather_out,
    "all_gather_into_tensor_coalesced(Tensor[] inputs, int group_size, Any group_name) -> Tensor[]": _gather_each,
    "reduce_scatter_tensor(Tensor input, str reduce_op, int group_size, Any group_name) -> Tensor": _reduce_scatter,
    "reduce_scatter_tensor_out(Tensor input, str reduce_op, int group_size, Any group_name, *, Tensor(a!) out) -> "
    "Tensor(a!)": _reduce_scatter_out,
    "reduce_scatter_tensor_coalesced(Tensor[] inputs, str reduce_op, int group_size, Any group_name) -> "
    "Tensor[]": _reduce_scatter_each,
    f"all_to_all_single(Tensor input, {_SPLITS}, Any group_name) -> Tensor": _all_to_all,
    "broadcast(Tensor input, int src, Any group_name) -> Tensor": _broadcast,
    "broadcast_(Tensor(a!) input, int src, Any group_name) -> Tensor(a!)": _broadcast_into,
    "wait_tensor(Tensor tensor) -> Tensor": functional.wait_tensor,
    "_wrap_tensor_autograd(Tensor input) -> Tensor": functional.wait_tensor,
}
WITH_GRADIENTS: dict[str, Callable[..., Any]] = {
    "all_gather_into_tensor(Tensor input, int group_size, Any group_name) -> Tensor": _gather,
    "reduce_scatter_tensor(Tensor input, str reduce_op, int group_size, Any group_name) -> Tensor": _reduce_scatter,
    f"all_to_all_single(Tensor input, {_SPLITS}, Any group_name) -> Tensor": _all_to_all,
}


def _ranked(collective: Callable[..., Any], sized: bool) -> Callable[..., Any]:
    """The collective of a tag and ranks: `sized` where it takes the group's size too."""

    def run(*args: Any) -> Any:
        *given, tag, ranks, size = args
        group = functional._resolve_group(list(ranks), tag)
        return collective(*given, size, group) if sized else collective(*given, group)

    return run


RANKED: dict[str, Callable[..., Any]] = {
    f"all_reduce(Tensor self, str reduceOp, {_RANKS}) -> Tensor": _ranked(_all_reduce, False),
    f"all_reduce_coalesced(Tensor[] self, str reduceOp, {_RANKS}) -> Tensor[]": _ranked(_all_reduce_each, False),
    f"all_gather_into_tensor(Tensor shard, {_RANKS}) -> Tensor": _ranked(_gather, True),
    f"all_gather_into_tensor_coalesced(Tensor[] input, {_RANKS}) -> Tensor[]": _ranked(_gather_each, True),
    f"reduce_scatter_tensor(Tensor input, str reduceOp, {_RANKS}) -> Tensor": _ranked(_reduce_scatter, True),
    f"reduce_scatter_tensor_coalesced(Tensor[] inputs, str reduceOp, {_RANKS}) -> Tensor[]": _ranked(
        _reduce_scatter_each, True
    ),
    f"all_to_all_single(Tensor input, SymInt[]? output_split_sizes, SymInt[]? input_split_sizes, {_RANKS}) -> "
    "Tensor": _ranked(_all_to_all, False),
    f"broadcast(Tensor self, int src, {_RANKS}) -> Tensor": _ranked(_broadcast, False),
    "wait_tensor(Tensor self) -> Tensor": functional.wait_tensor,
}


def _filled(kind: str, async_op: bool, timeout: int, **values: Any) -> Any:
    """The options of a method of groups; `timeout` is in milliseconds, none below 0."""
    made = getattr(options, f"{kind}Options")()
    made.asyncOp = async_op
    if timeout >= 0:
        made.timeout = timedelta(milliseconds=timeout)
    for name, value in values.items():
        setattr(made, name, value)
    return made


def _group_all_reduce(tensors: Any, group: Any, op: Any, indices: Any, async_op: bool = True, timeout: int = -1) -> Any:
    return tensors, group.allreduce(tensors, _filled("Allreduce", async_op, timeout, reduceOp=op))


def _group_broadcast(
    tensors: Any, group: Any, root: int, root_tensor: int, async_op: bool = True, timeout: int = -1
) -> Any:
    filled = _filled("Broadcast", async_op, timeout, rootRank=root, rootTensor=root_tensor)
    return tensors, group.broadcast(tensors, filled)


def _group_reduce(
    tensors: Any, group: Any, op: Any, root: int, root_tensor: int, async_op: bool = True, timeout: int = -1
) -> Any:
    return group.reduce(
        tensors, _filled("Reduce", async_op, timeout, reduceOp=op, rootRank=root, rootTensor=root_tensor)
    )


def _group_all_gather(outputs: Any, inputs: Any, group: Any, async_op: bool = True, timeout: int = -1) -> Any:
    return outputs, group.allgather(outputs, inputs, _filled("Allgather", async_op, timeout))


def _group_gather_single(output: Any, tensor: Any, group: Any, async_op: bool = True, timeout: int = -1) -> Any:
    return output, group.all_gather_single(output, tensor, _filled("Allgather", async_op, timeout))


def _group_gather(outputs: Any, inputs: Any, group: Any, root: int, async_op: bool = True, timeout: int = -1) -> Any:
    return group.gather(outputs, inputs, _filled("Gather", async_op, timeout, rootRank=root))


def _group_scatter(outputs: Any, inputs: Any, group: Any, root: int, async_op: bool = True, timeout: int = -1) -> Any:
    return outputs, group.scatter(outputs, inputs, _filled("Scatter", async_op, timeout, rootRank=root))


def _group_reduce_scatter(
    outputs: Any, inputs: Any, group: Any, op: Any, async_op: bool = True, timeout: int = -1
) -> Any:
    return outputs, group.reduce_scatter(outputs, inputs, _filled("ReduceScatter", async_op, timeout, reduceOp=op))


def _group_reduce_scatter_single(
    output: Any, tensor: Any, group: Any, op: Any, async_op: bool = True, timeout: int = -1
) -> Any:
    filled = _filled("ReduceScatter", async_op, timeout, reduceOp=op)
    return output, group.reduce_scatter_single(output, tensor, filled)


def _group_all_to_all(outputs: Any, inputs: Any, group: Any, async_op: bool = True, timeout: int = -1) -> Any:
    return outputs, group.alltoall(outputs, inputs, _filled("AllToAll", async_op, timeout))


def _group_barrier(tensor: Any, group: Any, devices: Any, async_op: bool = True, timeout: int = -1) -> Any:
    return group.barrier(_filled("Barrier", async_op, timeout))


OF_GROUPS: dict[str, Callable[..., Any]] = {
    f"allreduce_(Tensor[] tensors, {_REDUCED}, Tensor? sparse_indices, {_TAIL}) -> (Tensor[], {_WORK})": _group_all_reduce,
    f"broadcast_(Tensor[] tensors, {_GROUP}, int root_rank, int root_tensor, {_TAIL}) -> "
    f"(Tensor[], {_WORK})": _group_broadcast,
    f"reduce_(Tensor[] tensors, {_REDUCED}, int root_rank, int root_tensor, {_TAIL}) -> {_WORK}": _group_reduce,
    f"allgather_(Tensor[][] output_tensors, Tensor[] input_tensors, {_GROUP}, {_TAIL}) -> "
    f"(Tensor[][], {_WORK})": _group_all_gather,
    f"_allgather_base_(Tensor output_tensor, Tensor input_tensor, {_GROUP}, {_TAIL}) -> "
    f"(Tensor, {_WORK})": _group_gather_single,
    f"gather_(Tensor[][] output_tensors, Tensor[] input_tensors, {_GROUP}, int root_rank, {_TAIL}) -> "
    f"{_WORK}": _group_gather,
    f"scatter_(Tensor[] output_tensors, Tensor[][] input_tensors, {_GROUP}, int root_rank, {_TAIL}) -> "
    f"(Tensor[], {_WORK})": _group_scatter,
    f"reduce_scatter_(Tensor[] output_tensors, Tensor[][] input_tensors, {_REDUCED}, {_TAIL}) -> "
    f"(Tensor[], {_WORK})": _group_reduce_scatter,
    f"_reduce_scatter_base_(Tensor output_tensor, Tensor input_tensor, {_REDUCED}, {_TAIL}) -> "
    f"(Tensor, {_WORK})": _group_reduce_scatter_single,
    f"alltoall_(Tensor[] output_tensors, Tensor[] input_tensors, {_GROUP}, {_TAIL}) -> "
    f"(Tensor[], {_WORK})": _group_all_to_all,
    f"barrier(Tensor tensor, {_GROUP}, int[] device_ids, {_TAIL}) -> {_WORK}": _group_barrier,
}


def _define(namespace: str, operators: dict[str, Callable[..., Any]]) -> Library:
    """Define a namespace's operators; each is made of collectives that have their own gradients."""
    library = Library(namespace, "DEF")
    for schema, kernel in operators.items():
        name = schema.partition("(")[0]
        library.define(schema)
        recorded = namespace == "_c10d_functional" and name in _BACKWARD
        library.impl(name, kernel, "CompositeExplicitAutograd" if recorded else "CompositeImplicitAutograd")
        if recorded:  # a graph has these as they are
            register_autograd(f"{namespace}::{name}", _backward_of(_BACKWARD[name]), setup_context=_remember)
    return library


def _remember(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
    ctx.arguments = inputs[1:]


def _backward_of(backward: Callable[..., Any]) -> Callable[..., Any]:
    def run(ctx: Any, grad: Any) -> Any:
        return (backward(grad, *ctx.arguments), *[None] * len(ctx.arguments))

    return run


def _summed(function: str, reduce_op: str) -> None:
    functional._only_sum(function, reduce_op)


def _all_reduce_backward(grad: Any, reduce_op: str, group_name: Any) -> Any:
    _summed("all_reduce", reduce_op)
    return functional.all_reduce(grad, reduce_op, group_name)


def _gather_backward(grad: Any, group_size: int, group_name: Any) -> Any:
    return functional.reduce_scatter_single(grad, "sum", 0, group_name)


def _reduce_scatter_backward(grad: Any, reduce_op: str, group_size: int, group_name: Any) -> Any:
    _summed("reduce_scatter_tensor", reduce_op)
    return functional.all_gather_single(grad, 0, group_name)


def _all_to_all_backward(grad: Any, output_split_sizes: Any, input_split_sizes: Any, group_name: Any) -> Any:
    return functional.all_to_all_single(grad, input_split_sizes, output_split_sizes, group_name)


def _same(grad: Any) -> Any:
    return grad


_BACKWARD: dict[str, Callable[..., Any]] = {
    "all_reduce": _all_reduce_backward,
    "all_gather_into_tensor": _gather_backward,
    "reduce_scatter_tensor": _reduce_scatter_backward,
    "all_to_all_single": _all_to_all_backward,
    "wait_tensor": _same,
}
"""The gradients of the functional collectives that take a tensor and return one."""


LIBRARIES = [
    _define("_c10d_functional", FUNCTIONAL),
    _define("_c10d_functional_autograd", WITH_GRADIENTS),
    _define("c10d_functional", RANKED),
    _define("c10d", OF_GROUPS),
]
LIBRARIES[0]._register_fake("wait_tensor", mindtorch.empty_like)  # graphs tell what is waited for from what comes of it

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
from mindtorch.distributed import _collective_gradients as gradients
from mindtorch.distributed import _finished_collectives as finished
from mindtorch.distributed import _options as options
from mindtorch.distributed._async_collective_tensor import AsyncCollectiveTensor
from mindtorch.library import Library, register_autograd

_GROUP = "__torch__.torch.classes.c10d.ProcessGroup process_group"
_WORK = "__torch__.torch.classes.c10d.Work"
_REDUCED = f"{_GROUP}, __torch__.torch.classes.c10d.ReduceOp reduce_op"
_TAIL = "bool async_op=True, int timeout=-1"
_RANKS = "str tag, int[] ranks, int group_size"
_SPLITS = "SymInt[] output_split_sizes, SymInt[] input_split_sizes"


def _all_reduce(input: Any, reduce_op: str, group_name: Any) -> Any:
    return finished.AllReduce.apply(reduce_op, finished.resolve_group(group_name), input, True)


def _all_reduce_into(input: Any, reduce_op: str, group_name: Any) -> Any:
    group = finished.resolve_group(group_name)
    finished.remember(input, dist.all_reduce(input, op=finished.operation(reduce_op), group=group, async_op=True))
    return input


def _all_reduce_each(inputs: list[Any], reduce_op: str, group_name: Any) -> list[Any]:
    return [_all_reduce(tensor, reduce_op, group_name) for tensor in inputs]


def _all_reduce_into_each(inputs: list[Any], reduce_op: str, group_name: Any) -> list[Any]:
    return [_all_reduce_into(tensor, reduce_op, group_name) for tensor in inputs]


def _sized(group_size: int, group_name: Any) -> Any:
    """The group; an error when it has another size than the call says."""
    group = finished.resolve_group(group_name)
    if group.size() != group_size:
        raise RuntimeError(f"the group has {group.size()} ranks, the call says {group_size}")
    return group


def _gather(input: Any, group_size: int, group_name: Any) -> Any:
    return finished.AllGather.apply(_sized(group_size, group_name), input, True)


def _gather_out(input: Any, group_size: int, group_name: Any, *, out: Any) -> Any:
    group = _sized(group_size, group_name)
    finished.remember(out, dist.all_gather_single(out, input.contiguous(), group=group, async_op=True))
    return out


def _gather_each(inputs: list[Any], group_size: int, group_name: Any) -> list[Any]:
    return [_gather(tensor, group_size, group_name) for tensor in inputs]


def _reduce_scatter(input: Any, reduce_op: str, group_size: int, group_name: Any) -> Any:
    return finished.ReduceScatter.apply(reduce_op, _sized(group_size, group_name), input, True)


def _reduce_scatter_out(input: Any, reduce_op: str, group_size: int, group_name: Any, *, out: Any) -> Any:
    group, operation = _sized(group_size, group_name), finished.operation(reduce_op)
    work = dist.reduce_scatter_single(out, input.contiguous(), op=operation, group=group, async_op=True)
    finished.remember(out, work)
    return out


def _reduce_scatter_each(inputs: list[Any], reduce_op: str, group_size: int, group_name: Any) -> list[Any]:
    return [_reduce_scatter(tensor, reduce_op, group_size, group_name) for tensor in inputs]


def _all_to_all(input: Any, output_split_sizes: Any, input_split_sizes: Any, group_name: Any) -> Any:
    group = finished.resolve_group(group_name)
    return finished.AllToAll.apply(group, output_split_sizes, input_split_sizes, input, True)


def _broadcast(input: Any, src: int, group_name: Any) -> Any:
    return finished.broadcast_copy(input, src, finished.resolve_group(group_name), True)


def _broadcast_into(input: Any, src: int, group_name: Any) -> Any:
    finished.remember(input, dist.broadcast(input, src, group=finished.resolve_group(group_name), async_op=True))
    return input


def _send(tensor: Any, dst: int, tag: int, group_name: Any) -> Any:
    token = tensor.new_empty(0)
    finished.remember(token, dist.isend(tensor, dst, finished.resolve_group(group_name), tag))
    return token


def _receive(tensor: Any, src: int, tag: int, group_name: Any) -> Any:
    finished.remember(tensor, dist.irecv(tensor, src, finished.resolve_group(group_name), tag))
    return tensor


_MESSAGES = {"isend": _send, "irecv": _receive}


def _batch(op_list: list[str], peer_list: list[int], tag_list: list[int], tensors: list[Any], group_name: str) -> Any:
    if not len(op_list) == len(peer_list) == len(tag_list) == len(tensors):
        raise RuntimeError("")
    for op in op_list:
        if op not in _MESSAGES:
            raise RuntimeError(f"Unsupported async op {op}")
    rows = zip(op_list, tensors, peer_list, tag_list, strict=True)
    return [_MESSAGES[op](tensor, peer, tag, group_name) for op, tensor, peer, tag in rows]


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
    "wait_tensor(Tensor tensor) -> Tensor": finished.finish,
    "isend(Tensor tensor, int dst, int tag, str group_name) -> Tensor": _send,
    "irecv(Tensor tensor, int src, int tag, str group_name) -> Tensor": _receive,
    "batch_p2p_ops(str[] op_list, int[] peer_list, int[] tag_list, Tensor[] tensors, str group_name) -> Tensor[]": _batch,
    "_wrap_tensor_autograd(Tensor input) -> Tensor": AsyncCollectiveTensor,
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
        group = finished.resolve_group(list(ranks), tag)
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
    "wait_tensor(Tensor self) -> Tensor": finished.finish,
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


_GRADIENTS = tuple(
    "all_reduce all_reduce_coalesced all_gather_into_tensor all_gather_into_tensor_coalesced reduce_scatter_tensor "
    "reduce_scatter_tensor_coalesced all_to_all_single wait_tensor _wrap_tensor_autograd".split()
)


def _define(namespace: str, operators: dict[str, Callable[..., Any]]) -> Library:
    """Define a namespace's operators; those of `_GRADIENTS` are in graphs as they are."""
    library = Library(namespace, "DEF")
    for schema, kernel in operators.items():
        name = schema.partition("(")[0]
        library.define(schema)
        recorded = namespace == "_c10d_functional" and name in _GRADIENTS
        library.impl(name, kernel, "CompositeExplicitAutograd" if recorded else "CompositeImplicitAutograd")
        if recorded:
            backward, setup = (getattr(gradients, f"{name}_{part}") for part in ("backward", "setup_context"))
            register_autograd(f"{namespace}::{name}", backward, setup_context=setup)
    return library


LIBRARIES = [
    _define("_c10d_functional", FUNCTIONAL),
    _define("_c10d_functional_autograd", WITH_GRADIENTS),
    _define("c10d_functional", RANKED),
    _define("c10d", OF_GROUPS),
]
LIBRARIES[0]._register_fake("wait_tensor", mindtorch.empty_like)  # graphs tell what is waited for from what comes of it

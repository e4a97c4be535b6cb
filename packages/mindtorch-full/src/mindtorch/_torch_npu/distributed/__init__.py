"""`torch_npu.distributed`: collectives of unequal parts, and torch's packages under torch_npu's names."""

from __future__ import annotations

from collections.abc import Sequence

import mindtorch as torch
import mindtorch.distributed as dist
from mindtorch._submodules import offer
from mindtorch._torch_npu._absent import placeholders
from mindtorch.distributed.fsdp import fully_shard
from mindtorch.distributed.pipelining import pipeline
from mindtorch.tensor.tensor import Tensor

__all__ = [
    "all_gather_into_tensor_uneven", "is_available", "is_hccl_available", "reduce_scatter_tensor_uneven",
    "reinit_process_group",
]  # fmt: skip

globals().update(placeholders("torch_npu.distributed"))


def is_available() -> bool:
    """Return whether processes can work together."""
    return bool(dist.is_available())


def is_hccl_available() -> bool:
    """Return whether processes can work together on Ascend devices: wherever they can at all, hccl is a backend."""
    return is_available()


def _parts(whole: Tensor, sizes: Sequence[int] | None, group: dist.ProcessGroup | None) -> list[int]:
    count = dist.get_world_size(group)
    found = list(sizes) if sizes else [whole.shape[0] // count] * count
    if len(found) != count or sum(found) != whole.shape[0]:
        raise ValueError(f"sizes must be one for each of {count} ranks, {whole.shape[0]} in all, but got {found}")
    return found


def _waits(name: str, async_op: bool) -> None:
    if async_op:
        raise NotImplementedError(f"torch_npu.distributed.{name}: async_op is not supported")


def reduce_scatter_tensor_uneven(
    output: Tensor, input: Tensor, input_split_sizes: Sequence[int] | None = None,
    op: dist.ReduceOp | None = None, group: dist.ProcessGroup | None = None, async_op: bool = False,
) -> None:  # fmt: skip
    """Write the reduced part of this rank; parts are rows of the input, as many as its sizes say."""
    _waits("reduce_scatter_tensor_uneven", async_op)
    sizes = _parts(input, input_split_sizes, group)
    whole = input.clone()
    dist.all_reduce(whole, op=dist.ReduceOp.SUM if op is None else op, group=group)
    output.copy_(whole.split(sizes)[dist.get_rank(group)])


def all_gather_into_tensor_uneven(
    output: Tensor, input: Tensor, output_split_sizes: Sequence[int] | None = None,
    group: dist.ProcessGroup | None = None, async_op: bool = False,
) -> None:  # fmt: skip
    """Write what every rank has, as many rows as its size says, one behind the other."""
    _waits("all_gather_into_tensor_uneven", async_op)
    sizes = _parts(output, output_split_sizes, group)
    largest = max(sizes)
    own = input.new_zeros(largest, *output.shape[1:])
    own[: input.shape[0]] = input
    found = [torch.empty_like(own) for _ in sizes]
    dist.all_gather(found, own, group=group)
    output.copy_(torch.cat([one[:size] for one, size in zip(found, sizes, strict=True)]))


offer(
    globals(),
    {
        "distributed_c10d": "is_hccl_available reinit_process_group",
        "fsdp": {"fully_shard": fully_shard},
        "pipelining": {"pipeline": pipeline},
        "rpc.options": placeholders("torch_npu.distributed.rpc.options"),
    },
)

"""How parts are gathered and gradients reduced: large tensors one by one where they lie, small ones packed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import mindtorch as torch
from mindtorch import distributed as dist
from mindtorch.distributed._reduce_op import RedOpType
from mindtorch.distributed._work import Work
from mindtorch.distributed.fsdp._fully_shard._fsdp_api import AllGather, ReduceScatter
from mindtorch.tensor.tensor import Tensor

_SMALL = 1 << 16
"""Parts with fewer bytes are packed."""

Pending = list[tuple[Work | None, Callable[[], None] | None]]


def _split(tensors: Sequence[Tensor]) -> tuple[list[int], dict[torch.dtype, list[int]]]:
    """Return which tensors go alone, and which go together, by dtype."""
    alone: list[int] = []
    packed: dict[torch.dtype, list[int]] = {}
    for index, tensor in enumerate(tensors):
        if tensor.numel() * tensor.element_size() >= _SMALL:
            alone.append(index)
        else:
            packed.setdefault(tensor.dtype, []).append(index)
    for dtype, indices in list(packed.items()):
        if len(indices) == 1:
            alone += packed.pop(dtype)
    return alone, packed


def all_gather(inputs: Sequence[Tensor], outputs: Sequence[Tensor], group: dist.ProcessGroup) -> Pending:
    """Begin to gather; what is returned is to be waited for in order."""
    pending: Pending = []
    alone, packed = _split(inputs)
    for index in alone:
        pending.append((dist.all_gather_single(outputs[index], inputs[index], group=group, async_op=True), None))
    for dtype, indices in packed.items():
        given = torch.cat([inputs[index] for index in indices])
        whole = torch.empty(given.numel() * group.size(), dtype=dtype, device=given.device)
        work = dist.all_gather_single(whole, given, group=group, async_op=True)
        pending.append((work, _unpacker(whole, [outputs[index] for index in indices], group.size())))
    return pending


def all_gather_by(
    comm: AllGather, inputs: Sequence[Tensor], outputs: Sequence[Tensor], group: dist.ProcessGroup, async_op: bool
) -> Pending:
    """Begin to gather as a program does it: everything at once, as bytes where dtypes differ."""
    dtype = inputs[0].dtype
    if any(given.dtype != dtype for given in inputs):
        dtype = torch.uint8
        inputs, outputs = [given.view(dtype) for given in inputs], [output.view(dtype) for output in outputs]
    length = sum(given.numel() for given in inputs)
    whole = comm.allocate((length * group.size(),), dtype=dtype, device=inputs[0].device)
    own = whole.narrow(0, length * group.rank(), length)
    own.copy_(torch.cat(list(inputs)))
    work = comm(output_tensor=whole, input_tensor=own, group=group, async_op=async_op)
    return [(work if isinstance(work, Work) else None, _unpacker(whole, outputs, group.size()))]


def reduce_scatter_by(
    comm: ReduceScatter, inputs: Sequence[Tensor], group: dist.ProcessGroup, op: RedOpType
) -> list[Tensor]:
    """Reduce as a program does it: everything at once."""
    size, length = group.size(), sum(given.numel() for given in inputs)
    dtype, device = inputs[0].dtype, inputs[0].device
    packed = comm.allocate((length,), dtype=dtype, device=device)
    packed.view(size, -1).copy_(torch.cat([given.view(size, -1) for given in inputs], dim=1))
    output = comm.allocate((length // size,), dtype=dtype, device=device)
    comm(output_tensor=output, input_tensor=packed, group=group, op=op)
    return list(output.split([given.numel() // size for given in inputs]))


def _unpacker(whole: Tensor, outputs: Sequence[Tensor], size: int) -> Callable[[], None]:
    def unpack() -> None:
        rows = whole.view(size, -1)
        start = 0
        for output in outputs:
            width = output.numel() // size
            output.view(size, width).copy_(rows.narrow(1, start, width))
            start += width

    return unpack


def finish(pending: Pending) -> None:
    """Wait for what was begun."""
    for work, after in pending:
        if work is not None:
            work.wait()
        if after is not None:
            after()
    pending.clear()


def divide_factors(
    dtype: torch.dtype, size: int, factor: float | None, only_sums: bool
) -> tuple[float | None, float | None, RedOpType]:
    """Return by what gradients are divided before and after a reduction, and the reduction."""
    risky = dtype not in (torch.float32, torch.bfloat16)
    if not risky and not only_sums and factor is None:
        return None, None, dist.ReduceOp.SUM if size == 1 else dist.ReduceOp.AVG
    total = float(size) if factor is None else factor
    if not risky:
        return None, total, dist.ReduceOp.SUM
    before = 1
    while total % before == 0 and total / before > before:
        before *= 2
    return float(before), total / before, dist.ReduceOp.SUM


def reduce_scatter(inputs: Sequence[Tensor], group: dist.ProcessGroup, op: object) -> list[Tensor]:
    """Return this process's part of each reduced tensor."""
    size = group.size()
    outputs: list[Tensor | None] = [None] * len(inputs)
    alone, packed = _split(inputs)
    works = []
    for index in alone:
        given = inputs[index]
        output = outputs[index] = torch.empty(given.numel() // size, dtype=given.dtype, device=given.device)
        works.append(dist.reduce_scatter_single(output, given, op=op, group=group, async_op=True))
    for indices in packed.values():
        rows = torch.cat([inputs[index].view(size, -1) for index in indices], dim=1)
        result = torch.empty(rows.shape[1], dtype=rows.dtype, device=rows.device)
        works.append(dist.reduce_scatter_single(result, rows.view(-1), op=op, group=group, async_op=True))
        parts = result.split([inputs[index].numel() // size for index in indices])
        for index, part in zip(indices, parts, strict=True):
            outputs[index] = part
    for work in works:
        if work is not None:
            work.wait()
    return [output for output in outputs if output is not None]

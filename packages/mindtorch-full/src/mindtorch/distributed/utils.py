"""What modules over processes share: equal shapes, equal states."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import mindtorch as torch
from mindtorch import distributed as dist
from mindtorch._naming import adopt

__all__: list[str] = []


def _verify_param_shape_across_processes(process_group: Any, tensors: list[Any], logger: Any = None) -> None:
    """Raise when this process's parameters are not as many, or not of the shapes, as another's."""
    if process_group.size() == 1:
        return
    device, rank = tensors[0].device, process_group.rank()
    counts = [torch.zeros(1, dtype=torch.int64, device=device) for _ in range(process_group.size())]
    dist.all_gather(counts, torch.tensor([len(tensors)], device=device), group=process_group)
    for other, count in enumerate(counts):
        if int(count) != len(tensors):
            raise RuntimeError(
                f"DDP expects same model across all ranks, but Rank {rank} has {len(tensors)} params, while rank "
                f"{other} has inconsistent {int(count)} params."
            )
    dims = [tensor.dim() for tensor in tensors]
    shared = torch.tensor(dims, device=device)
    dist.broadcast(shared, group=process_group, group_src=0)
    sizes = [size for tensor in tensors for size in (*tensor.shape, *tensor.stride())]
    theirs = torch.zeros(2 * int(shared.sum()), dtype=torch.int64, device=device)
    if rank == 0:
        theirs = torch.tensor(sizes, dtype=torch.int64, device=device)
    dist.broadcast(theirs, group=process_group, group_src=0)
    expected, start = theirs.tolist(), 0
    for index, (tensor, dim) in enumerate(zip(tensors, shared.tolist(), strict=True)):
        lengths, strides = expected[start : start + dim], expected[start + dim : start + 2 * dim]
        start += 2 * dim
        for kind, own, wanted in (("sizes", tensor.shape, lengths), ("strides", tensor.stride(), strides)):
            if list(own) != wanted:
                raise RuntimeError(
                    f"[{rank}]: params[{index}] in this process with {kind} "
                    f"{list(own)} appears not to match {kind} of the same param in process 0."
                )


def _broadcast_one(process_group: Any, tensor: Any, src: int) -> None:
    """Give every process one tensor, by the group itself: it may be a program's own, whose works want a timeout."""
    options = dist.BroadcastOptions()
    options.rootRank = src
    process_group.broadcast([tensor], options).wait(timedelta(0))


def _broadcast_together(process_group: Any, tensors: Iterable[Any], limit: int, src: int) -> None:
    """Give every process the tensors of one of them, as few messages."""
    groups: dict[Any, list[list[Any]]] = {}
    for tensor in tensors:
        bunches = groups.setdefault((tensor.dtype, tensor.device), [[]])
        if sum(held.nbytes for held in bunches[-1]) >= limit:
            bunches.append([])
        bunches[-1].append(tensor)
    for bunch in (bunch for bunches in groups.values() for bunch in bunches):
        flat = torch.cat([tensor.reshape(-1) for tensor in bunch])
        _broadcast_one(process_group, flat, src)
        if process_group.rank() != src:
            for tensor, part in zip(bunch, flat.split([tensor.numel() for tensor in bunch]), strict=True):
                tensor.copy_(part.view(tensor.shape))


def _sync_module_states(
    module: Any,
    process_group: Any,
    broadcast_bucket_size: int,
    src: int,
    params_and_buffers_to_ignore: Iterable[str] = (),
    broadcast_buffers: bool = True,
) -> None:
    """Give every process the parameters and buffers of one of them."""
    ignored = set(params_and_buffers_to_ignore)
    states = [parameter.detach() for name, parameter in module.named_parameters() if name not in ignored]
    if broadcast_buffers:
        states += [buffer.detach() for name, buffer in module.named_buffers() if name not in ignored]
    if states:
        _broadcast_together(process_group, states, broadcast_bucket_size, src)


adopt(globals())

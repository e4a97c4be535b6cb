"""Averaging among all processes at first, later only within a group of them."""

from __future__ import annotations

from typing import Any

from mindtorch import distributed as dist
from mindtorch._naming import adopt
from mindtorch.distributed.algorithms.ddp_comm_hooks import default_hooks as default

__all__ = ["PostLocalSGDState", "post_localSGD_hook"]


class PostLocalSGDState:
    """The groups, and the iteration from which on the smaller one is used.

    >>> from torch.distributed.algorithms.ddp_comm_hooks.post_localSGD_hook import PostLocalSGDState
    >>> state = PostLocalSGDState(None, None, start_localSGD_iter=100)
    >>> state.start_localSGD_iter, state.iter
    (100, 0)
    """

    __slots__ = ["iter", "post_local_gradient_allreduce", "process_group", "start_localSGD_iter", "subgroup"]

    def __init__(
        self,
        process_group: Any,
        subgroup: Any,
        start_localSGD_iter: int,
        post_local_gradient_allreduce: bool = True,
    ) -> None:
        self.process_group = process_group
        self.subgroup = subgroup
        self.start_localSGD_iter = start_localSGD_iter
        self.post_local_gradient_allreduce = post_local_gradient_allreduce
        self.iter = 0

    def maybe_increase_iter(self, bucket: Any) -> None:
        """Count an iteration at its last bucket."""
        if bucket.is_last():
            self.iter += 1


def post_localSGD_hook(state: PostLocalSGDState, bucket: Any) -> Any:
    """Average a bucket as the state says.

    >>> import torch.distributed as dist
    >>> from torch.distributed.algorithms.ddp_comm_hooks.post_localSGD_hook import (
    ...     PostLocalSGDState,
    ...     post_localSGD_hook,
    ... )
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1))
    >>> model.register_comm_hook(PostLocalSGDState(None, None, start_localSGD_iter=100), post_localSGD_hook)
    >>> model(torch.ones(2, 1)).sum().backward()
    >>> model.module.bias.grad
    tensor([2.])
    >>> dist.destroy_process_group()
    """
    world = state.process_group if state.process_group is not None else dist.group.WORLD
    buffer = bucket.buffer()
    if state.iter < state.start_localSGD_iter:
        state.maybe_increase_iter(bucket)
        return default._allreduce_fut(world, buffer)
    if not state.post_local_gradient_allreduce:
        done: Any = default.torch.futures.Future()
        done.set_result(buffer)
        return done
    if state.subgroup is None:
        state.subgroup, _ = dist.new_subgroups()
    return default._allreduce_fut(state.subgroup, buffer)


adopt(globals())

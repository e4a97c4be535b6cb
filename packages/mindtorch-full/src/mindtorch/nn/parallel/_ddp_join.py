"""What a process without inputs left does while others still train."""

from __future__ import annotations

from typing import Any

import mindtorch as torch
from mindtorch import distributed as dist
from mindtorch.distributed.algorithms.join import Join, Joinable, JoinHook
from mindtorch.distributed.utils import _broadcast_together, _sync_module_states


class DDPJoinHook(JoinHook):
    """Shadows the communication of `DistributedDataParallel`."""

    def __init__(self, ddp: Any, divide_by_initial_world_size: bool) -> None:
        self.ddp = ddp
        ddp.reducer.divide_by_initial = divide_by_initial_world_size
        super().__init__()

    def main_hook(self) -> None:
        """Shadow one iteration."""
        ddp = self.ddp
        ddp._rebuild_buckets()
        ddp._check_and_sync_module_buffers()
        ddp.require_forward_param_sync = ddp._check_global_requires_backward_grad_sync(is_joined_rank=True)
        if not ddp.require_forward_param_sync:
            return
        ddp.reducer.shadow_backward()
        if ddp.find_unused_parameters and not ddp.static_graph:
            ddp.reducer.shadow_used()
        ddp.reducer.push_all_rebuilt()

    def post_hook(self, is_last_joiner: bool) -> None:
        """Give all processes the model of the one that trained longest."""
        self.ddp._sync_final_model(is_last_joiner)


class UnevenInputs(Joinable):
    """What `DistributedDataParallel` can do for processes with different numbers of inputs."""

    device: Any
    process_group: Any
    module: Any
    modules_buffers: Any
    broadcast_bucket_size: int
    parameters_to_ignore: Any
    forward_sync_buffers: bool
    require_backward_grad_sync: bool

    def _check_and_sync_module_buffers(self) -> None:
        if self._check_sync_bufs_pre_fwd():
            source = self._find_common_rank(self.process_group.rank(), False)
            with torch.no_grad():
                _broadcast_together(self.process_group, self.modules_buffers, self.broadcast_bucket_size, source)

    def _check_global_requires_backward_grad_sync(self, is_joined_rank: bool) -> bool | None:
        mine = not is_joined_rank and self.require_backward_grad_sync
        wanted = torch.tensor([float(mine)], device=self.device)
        work = dist.all_reduce(wanted, group=self.process_group, async_op=True)
        if not is_joined_rank:
            return None
        work.wait()
        return bool(wanted.item() != 0)

    def _sync_final_model(self, is_last_joiner: bool) -> None:
        self._authoritative_rank = self._find_common_rank(self.process_group.rank(), is_last_joiner)
        _sync_module_states(
            self.module,
            self.process_group,
            self.broadcast_bucket_size,
            self._authoritative_rank,
            self.parameters_to_ignore,
            broadcast_buffers=self.forward_sync_buffers,
        )

    def join(
        self,
        divide_by_initial_world_size: bool = True,
        enable: bool = True,
        throw_on_early_termination: bool = False,
    ) -> Join:
        """Return a block in which processes may have different numbers of inputs."""
        return Join(
            [self], enable, throw_on_early_termination, divide_by_initial_world_size=divide_by_initial_world_size
        )

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """Return what a joined process does."""
        return DDPJoinHook(self, kwargs.get("divide_by_initial_world_size", True))

    @property
    def join_device(self) -> Any:
        """The device of the parameters."""
        return self.device

    @property
    def join_process_group(self) -> Any:
        """The group over which gradients are averaged."""
        return self.process_group

    def _find_common_rank(self, input_rank: int, rank_cond: bool) -> int:
        """Return the greatest rank of those for which the condition holds."""
        chosen = torch.tensor([input_rank if rank_cond else -1], device=self.device)
        dist.all_reduce(chosen, op=dist.ReduceOp.MAX, group=self.process_group)
        return int(chosen.item())

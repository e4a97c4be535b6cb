"""What a process without inputs left does while others still train."""

from __future__ import annotations

from typing import Any

from mindtorch.distributed.algorithms.join import JoinHook


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

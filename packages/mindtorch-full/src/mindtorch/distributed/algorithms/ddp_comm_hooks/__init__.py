"""Hooks that say how `DistributedDataParallel` averages a bucket of gradients."""

from __future__ import annotations

from enum import Enum
from typing import Any

from mindtorch._naming import adopt
from mindtorch.distributed.algorithms.ddp_comm_hooks import (
    debugging_hooks,
    default_hooks,
    post_localSGD_hook,
    quantization_hooks,
)
from mindtorch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook as powerSGD

__all__ = ["DDPCommHookType", "register_ddp_comm_hook"]


_PLAIN: dict[str, int] = {}


class DDPCommHookType(Enum):
    """Hooks by name.

    >>> from torch.distributed.algorithms.ddp_comm_hooks import DDPCommHookType
    >>> [one.name for one in DDPCommHookType][:2]
    ['ALLREDUCE', 'FP16_COMPRESS']
    """

    ALLREDUCE = (default_hooks.allreduce_hook, _PLAIN)
    FP16_COMPRESS = (default_hooks.fp16_compress_hook, _PLAIN)
    BF16_COMPRESS = (default_hooks.bf16_compress_hook, _PLAIN)
    QUANTIZE_PER_TENSOR = (quantization_hooks.quantization_pertensor_hook, _PLAIN)
    QUANTIZE_PER_CHANNEL = (quantization_hooks.quantization_perchannel_hook, _PLAIN)
    POWER_SGD = (powerSGD.powerSGD_hook, {"matrix_approximation_rank": 1})
    POWER_SGD_RANK2 = (powerSGD.powerSGD_hook, {"matrix_approximation_rank": 2})
    BATCHED_POWER_SGD = (powerSGD.batched_powerSGD_hook, {"matrix_approximation_rank": 1})
    BATCHED_POWER_SGD_RANK2 = (powerSGD.batched_powerSGD_hook, {"matrix_approximation_rank": 2})
    POST_LOCAL_SGD = (post_localSGD_hook.post_localSGD_hook, _PLAIN)
    NOOP = (debugging_hooks.noop_hook, _PLAIN)


def register_ddp_comm_hook(comm_hook_type: DDPCommHookType, model: Any, state: Any = None) -> None:
    """Register a hook by name.

    >>> import torch.distributed as dist
    >>> from torch.distributed.algorithms.ddp_comm_hooks import DDPCommHookType, register_ddp_comm_hook
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1))
    >>> register_ddp_comm_hook(DDPCommHookType.FP16_COMPRESS, model)
    >>> model(torch.ones(2, 1)).sum().backward()
    >>> model.module.bias.grad
    tensor([2.])
    >>> dist.destroy_process_group()
    """
    hook, made_with = comm_hook_type.value
    if made_with:
        state = powerSGD.PowerSGDState(process_group=state, **made_with)
    model.register_comm_hook(state, hook)


adopt(globals())

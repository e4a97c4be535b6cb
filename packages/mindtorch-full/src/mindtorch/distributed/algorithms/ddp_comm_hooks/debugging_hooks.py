"""A hook for measuring what communication costs."""

from __future__ import annotations

from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt

__all__ = ["noop_hook"]


def noop_hook(_: Any, bucket: Any) -> torch.futures.Future[torch.Tensor]:
    """Leave each process its own gradients: nothing is sent.

    >>> import torch.distributed as dist
    >>> from torch.distributed.algorithms.ddp_comm_hooks.debugging_hooks import noop_hook
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1))
    >>> model.register_comm_hook(None, noop_hook)
    >>> model(torch.ones(2, 1)).sum().backward()
    >>> model.module.bias.grad
    tensor([2.])
    >>> dist.destroy_process_group()
    """
    done: torch.futures.Future[torch.Tensor] = torch.futures.Future()
    done.set_result(bucket.buffer())
    return done


adopt(globals())

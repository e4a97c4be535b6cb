"""When parameters are averaged."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any

from mindtorch import distributed as dist
from mindtorch._naming import adopt
from mindtorch.distributed.algorithms.model_averaging import utils

__all__ = ["ModelAverager", "PeriodicModelAverager"]


class ModelAverager(ABC):
    """Base of averagers; `step` counts the calls.

    >>> import torch.distributed as dist
    >>> from torch.distributed.algorithms.model_averaging.averagers import ModelAverager, PeriodicModelAverager
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> isinstance(PeriodicModelAverager(period=2), ModelAverager)
    True
    >>> dist.destroy_process_group()
    """

    def __init__(self, process_group: Any = None) -> None:
        self.process_group = process_group if process_group is not None else dist.group.WORLD
        self.step = 0

    @abstractmethod
    def average_parameters(self, params: Iterable[Any]) -> None:
        """Average, if it is time."""
        raise NotImplementedError


class PeriodicModelAverager(ModelAverager):
    """Averages at every `period`-th step after the first `warmup_steps`.

    >>> import torch.distributed as dist
    >>> from torch.distributed.algorithms.model_averaging.averagers import PeriodicModelAverager
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> averager = PeriodicModelAverager(period=2, warmup_steps=0)
    >>> weight = torch.nn.Parameter(torch.ones(1))
    >>> weight.grad = torch.ones(1)
    >>> averager.average_parameters([weight])
    >>> averager.step
    1
    >>> dist.destroy_process_group()
    """

    def __init__(self, period: int, warmup_steps: int = 0, process_group: Any = None) -> None:
        super().__init__(process_group)
        if warmup_steps < 0:
            raise ValueError("Arg ``warmup_steps`` must be a non-negative number.")
        self.warmup_steps = warmup_steps
        if period < 1:
            raise ValueError("Arg ``period`` must be a positive value.")
        if period == 1:
            warnings.warn(
                "When period is 1, no need to use model averaging because the communication cost "
                "of all-reducing parameters will be no less than the cost of all-reducing gradients "
                "by DistributedDataParallel in the backward pass. Therefore, only "
                "DistributedDataParallel should be used for this case.",
                stacklevel=2,
            )
        self.period = period

    def average_parameters(self, params: Iterable[Any]) -> None:
        """Average, if it is time, and count a step."""
        since = self.step - self.warmup_steps
        if since >= 0 and since % self.period == 0:
            utils.average_parameters_or_parameter_groups(params, self.process_group)
        self.step += 1


adopt(globals())

"""Averages of parameters over processes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import mindtorch as torch
from mindtorch import distributed as dist
from mindtorch._naming import adopt

__all__ = ["average_parameters", "average_parameters_or_parameter_groups", "get_params_to_average"]


def average_parameters(params: Iterator[Any], process_group: Any) -> None:
    """Average all parameters by one reduction.

    >>> import torch.distributed as dist
    >>> from torch.distributed.algorithms.model_averaging.utils import average_parameters
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> weight = torch.nn.Parameter(torch.tensor([2.0]))
    >>> average_parameters(iter([weight]), dist.group.WORLD)
    >>> weight.detach()
    tensor([2.])
    >>> dist.destroy_process_group()
    """
    group = process_group if process_group is not None else dist.group.WORLD
    if dist._rank_not_in_group(group):
        return
    given = list(params)
    flat = torch.cat([parameter.data.reshape(-1) for parameter in given])
    flat /= group.size()
    dist.all_reduce(flat, group=group)
    for parameter, part in zip(given, flat.split([parameter.numel() for parameter in given]), strict=True):
        parameter.data.copy_(part.view_as(parameter))


def get_params_to_average(params: Iterable[Any]) -> list[Any]:
    """Return the parameters, or those of parameter groups, that have gradients.

    >>> from torch.distributed.algorithms.model_averaging.utils import get_params_to_average
    >>> used, unused = torch.nn.Parameter(torch.ones(1)), torch.nn.Parameter(torch.ones(1))
    >>> used.grad = torch.ones(1)
    >>> len(get_params_to_average([used, unused]))
    1
    """
    found = []
    for entry in params:
        if isinstance(entry, torch.nn.Parameter):
            found.append(entry)
        elif isinstance(entry, dict):
            found += entry["params"]
        else:
            raise NotImplementedError(f"Parameter input of type {type(entry)} is not supported")
    return [parameter for parameter in found if parameter.grad is not None]


def average_parameters_or_parameter_groups(params: Iterable[Any], process_group: Any) -> None:
    """Average those that have gradients.

    >>> import torch.distributed as dist
    >>> from torch.distributed.algorithms.model_averaging.utils import average_parameters_or_parameter_groups
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> weight = torch.nn.Parameter(torch.tensor([2.0]))
    >>> weight.grad = torch.ones(1)
    >>> average_parameters_or_parameter_groups([{"params": [weight]}], dist.group.WORLD)
    >>> weight.detach()
    tensor([2.])
    >>> dist.destroy_process_group()
    """
    average_parameters(iter(get_params_to_average(params)), process_group)


adopt(globals())

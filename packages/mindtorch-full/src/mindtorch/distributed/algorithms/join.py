"""Processes that have fewer inputs than others take part in what the others still communicate."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from types import TracebackType
from typing import Any, NamedTuple

import mindtorch as torch
from mindtorch._naming import adopt

__all__ = ["Join", "JoinHook", "Joinable"]

_MUCH_SKEW = 1000


class JoinHook:
    """What a joined process does in place of an iteration, and once when all have joined.

    >>> from torch.distributed.algorithms import JoinHook
    >>> print(JoinHook().main_hook(), JoinHook().post_hook(is_last_joiner=True))
    None None
    """

    def main_hook(self) -> None:
        """Shadow one iteration's communication."""

    def post_hook(self, is_last_joiner: bool) -> None:
        """Run when all processes have joined."""


class _JoinConfig(NamedTuple):
    enable: bool
    throw_on_early_termination: bool
    is_first_joinable: bool

    @staticmethod
    def construct_disabled_join_config() -> _JoinConfig:
        """Return the configuration outside of a `Join` block."""
        return _JoinConfig(enable=False, throw_on_early_termination=False, is_first_joinable=False)


class Joinable(ABC):
    """What can be joined: a module or an optimizer that communicates in every iteration.

    >>> import torch.distributed as dist
    >>> from torch.distributed.algorithms import Joinable
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1))
    >>> isinstance(model, Joinable), model.join_device
    (True, device(type='cpu'))
    >>> dist.destroy_process_group()
    """

    @abstractmethod
    def __init__(self) -> None:
        super().__init__()
        self._join_config = _JoinConfig.construct_disabled_join_config()

    @abstractmethod
    def join_hook(self, **kwargs: Any) -> JoinHook:
        """Return its hook."""

    @property
    @abstractmethod
    def join_device(self) -> Any:
        """The device of what is communicated."""

    @property
    @abstractmethod
    def join_process_group(self) -> Any:
        """The processes that join."""


class Join:
    """A block in which processes may have different numbers of inputs.

    >>> import torch.distributed as dist
    >>> from torch.distributed.algorithms import Join
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(1, 1))
    >>> with Join([model]):
    ...     for x in torch.ones(3, 1, 1):
    ...         model(x).sum().backward()
    >>> model.module.bias.grad
    tensor([3.])
    >>> dist.destroy_process_group()
    """

    def __init__(
        self,
        joinables: list[Joinable],
        enable: bool = True,
        throw_on_early_termination: bool = False,
        **kwargs: Any,
    ) -> None:
        if len(joinables) == 0:
            raise ValueError("The join context manager requires at least one joinable")
        self._joinables = joinables
        self._join_hooks = [joinable.join_hook(**kwargs) for joinable in joinables]
        self._enable = enable
        self._throw_on_early_termination = throw_on_early_termination
        for index, joinable in enumerate(joinables):
            joinable._join_config = _JoinConfig(enable, throw_on_early_termination, index == 0)
        self._process_group = joinables[0].join_process_group
        if any(joinable.join_process_group != self._process_group for joinable in joinables):
            raise ValueError("Using join context manager with multiple process groups")
        self._device = joinables[0].join_device
        self._rank = torch.distributed.get_rank(self._process_group)

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, type: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if not self._enable or type:
            return
        is_last_joiner, iterations = True, 0
        warnings.simplefilter("once")
        while self._get_num_nonjoined_procs():
            if iterations > _MUCH_SKEW:
                warnings.warn(
                    f"Detected uneven input skew of greater than {_MUCH_SKEW}. This means that rank {self._rank} has at "
                    f"least {_MUCH_SKEW} fewer inputs than other currently-active ranks. This level of skew could lead "
                    "to performance degradation during training.",
                    stacklevel=2,
                )
            if self._throw_on_early_termination:
                torch.distributed.all_reduce(torch.ones(1, device=self._device), group=self._process_group)
                raise RuntimeError(f"Rank {self._rank} exhausted all inputs.")
            for hook in self._join_hooks:
                hook.main_hook()
            is_last_joiner = False
            iterations += 1
        for hook in self._join_hooks:
            hook.post_hook(is_last_joiner)

    def _get_num_nonjoined_procs(self) -> int:
        counted = torch.zeros(1, device=self._device)
        torch.distributed.all_reduce(counted, group=self._process_group)
        return int(counted.item())

    @staticmethod
    def notify_join_context(joinable: Joinable) -> Any:
        """Tell joined processes that this one still has inputs; return the work, for the first joinable only."""
        if not hasattr(joinable, "_join_config"):
            raise AssertionError(f"Check that the {type(joinable)} constructor calls the ``Joinable`` constructor")
        config = joinable._join_config
        if not config.is_first_joinable or not config.enable:
            return None
        device, group = joinable.join_device, joinable.join_process_group
        counted = torch.ones(1, device=device)
        work = torch.distributed.all_reduce(counted, group=group, async_op=True)
        if config.throw_on_early_termination:
            ended = torch.zeros(1, device=device)
            torch.distributed.all_reduce(ended, group=group)
            if ended.item():
                raise RuntimeError("Detected at least one rank that exhausted inputs. Throwing across all ranks.")
        joinable._join_count = counted  # type: ignore[attr-defined]
        return work


adopt(globals())

"""Averages of a model's weights over training, and the schedule used while averaging."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable
from copy import deepcopy
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.nn import Module
from mindtorch.nn.modules.batchnorm import _BatchNorm

from ._values import get_value
from .lr_scheduler import LRScheduler
from .lr_scheduler._base import per_group

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable[..., None]:
    """An exponential moving average of whole lists of tensors, in place.

    >>> averages = [torch.zeros(1)]
    >>> torch.optim.swa_utils.get_ema_multi_avg_fn(0.5)(averages, [torch.ones(1)], 1)
    >>> averages
    [tensor([0.5000])]
    """
    _check_decay(decay)

    @torch.no_grad()
    def ema_update(ema_param_list: list[Any], current_param_list: list[Any], _: Any) -> None:
        for averaged, current in zip(ema_param_list, current_param_list, strict=True):
            if averaged.dtype.is_floating_point or averaged.dtype.is_complex:
                averaged.lerp_(current, 1 - decay)
            else:
                averaged.copy_(averaged * decay + current * (1 - decay))

    return ema_update


def get_swa_multi_avg_fn() -> Callable[..., None]:
    """The plain average of whole lists of tensors, in place.

    >>> averages = [torch.zeros(1)]
    >>> torch.optim.swa_utils.get_swa_multi_avg_fn()(averages, [torch.ones(1)], torch.tensor(1))
    >>> averages
    [tensor([0.5000])]
    """

    @torch.no_grad()
    def swa_update(averaged_param_list: list[Any], current_param_list: list[Any], num_averaged: Any) -> None:
        for averaged, current in zip(averaged_param_list, current_param_list, strict=True):
            if averaged.dtype.is_floating_point or averaged.dtype.is_complex:
                averaged.lerp_(current, get_value(1 / (num_averaged + 1)))
            else:
                averaged.add_((current - averaged) / (num_averaged + 1))

    return swa_update


def get_ema_avg_fn(decay: float = 0.999) -> Callable[..., Any]:
    """An exponential moving average of one tensor.

    >>> torch.optim.swa_utils.get_ema_avg_fn(0.5)(torch.zeros(1), torch.ones(1), 1)
    tensor([0.5000])
    """
    _check_decay(decay)

    @torch.no_grad()
    def ema_update(ema_param: Any, current_param: Any, num_averaged: Any) -> Any:
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_avg_fn() -> Callable[..., Any]:
    """The plain average of one tensor.

    >>> torch.optim.swa_utils.get_swa_avg_fn()(torch.zeros(1), torch.ones(1), torch.tensor(1))
    tensor([0.5000])
    """

    @torch.no_grad()
    def swa_update(averaged_param: Any, current_param: Any, num_averaged: Any) -> Any:
        return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


def _check_decay(decay: float) -> None:
    if decay < 0.0 or decay > 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


class AveragedModel(Module):
    """A copy of a model whose parameters are the running average of those given to ``update_parameters``.

    >>> model = torch.nn.Linear(1, 1)
    >>> averaged = torch.optim.swa_utils.AveragedModel(model)
    >>> averaged.update_parameters(model)
    >>> averaged.n_averaged
    tensor(1)
    """

    n_averaged: Any

    def __init__(
        self,
        model: Any,
        device: Any = None,
        avg_fn: Callable[..., Any] | None = None,
        multi_avg_fn: Callable[..., None] | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", torch.tensor(0, dtype=torch.long, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Run the averaged model."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Any) -> None:
        """Take the model's current parameters into the average."""
        averaged, current = self._paired(model)
        if self.n_averaged == 0:
            for old, new in zip(averaged, current, strict=True):
                old.copy_(new)
        elif self.multi_avg_fn is not None:
            for olds, news in _by_kind(averaged, current):
                self.multi_avg_fn(olds, news, self.n_averaged.to(olds[0].device))
        else:
            average = self.avg_fn if self.avg_fn is not None else get_swa_avg_fn()
            for old, new in zip(averaged, current, strict=True):
                old.copy_(average(old, new, self.n_averaged.to(old.device)))
        if not self.use_buffers:
            # Buffers that are not averaged follow the model.
            for old, new in zip(self.module.buffers(), model.buffers(), strict=True):
                old.detach().copy_(new.detach().to(old.device))
        self.n_averaged += 1

    def _paired(self, model: Any) -> tuple[list[Any], list[Any]]:
        def entries(owner: Any) -> Iterable[Any]:
            return itertools.chain(owner.parameters(), owner.buffers()) if self.use_buffers else owner.parameters()

        averaged = [tensor.detach() for tensor in entries(self.module)]
        current = [tensor.detach() for tensor in entries(model)]
        return averaged, [new.to(old.device) for old, new in zip(averaged, current, strict=True)]


def _by_kind(averaged: list[Any], current: list[Any]) -> list[tuple[list[Any], list[Any]]]:
    """The same pairs, grouped by device and dtype."""
    groups: dict[Any, tuple[list[Any], list[Any]]] = {}
    for old, new in zip(averaged, current, strict=True):
        olds, news = groups.setdefault((old.device, old.dtype), ([], []))
        olds.append(old)
        news.append(new)
    return list(groups.values())


@torch.no_grad()
def update_bn(loader: Iterable[Any], model: Any, device: Any = None) -> None:
    """Recompute the running statistics of all batch-norm layers with one pass over ``loader``.

    >>> model = torch.nn.Sequential(torch.nn.BatchNorm1d(1))
    >>> torch.optim.swa_utils.update_bn([torch.ones(4, 1)], model)
    >>> model[0].running_mean
    tensor([1.])
    """
    momenta = {}
    for module in model.modules():
        if isinstance(module, _BatchNorm):
            module.reset_running_stats()
            momenta[module] = module.momentum
    if not momenta:
        return
    was_training = model.training
    model.train()
    for module in momenta:
        module.momentum = None  # cumulative average
    for batch in loader:
        first = batch[0] if isinstance(batch, (list, tuple)) else batch
        model(first if device is None else first.to(device))
    for module, momentum in momenta.items():
        module.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """Moves the rate to ``swa_lr`` in ``anneal_epochs`` epochs, then keeps it.

    >>> optimizer = torch.optim.SGD([torch.nn.Parameter(torch.ones(1))], lr=1.0)
    >>> torch.optim.swa_utils.SWALR(optimizer, swa_lr=0.1).get_last_lr()
    [1.0]
    """

    def __init__(
        self,
        optimizer: Any,
        swa_lr: Any,
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        for swa, group in zip(per_group("swa_lr", optimizer, swa_lr), optimizer.param_groups, strict=True):
            group["swa_lr"] = swa
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._set_anneal_func(anneal_strategy)
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    @staticmethod
    def _linear_anneal(t: float) -> float:
        return t

    @staticmethod
    def _cosine_anneal(t: float) -> float:
        return (1 - math.cos(math.pi * t)) / 2

    @staticmethod
    def _get_initial_lr(lr: Any, swa_lr: Any, alpha: float) -> Any:
        """The rate before annealing, from the rate at weight ``alpha``."""
        return swa_lr if alpha == 1 else (lr - alpha * swa_lr) / (1 - alpha)

    def get_lr(self) -> list[Any]:
        """The rates for this epoch."""
        self._check_caller()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        span = max(1, self.anneal_epochs)
        before = self.anneal_func(max(0, min(1, (step - 1) / span)))
        alpha = self.anneal_func(max(0, min(1, step / span)))
        lrs = []
        for group in self.optimizer.param_groups:
            start = self._get_initial_lr(group["lr"], group["swa_lr"], before)
            lrs.append(group["swa_lr"] * alpha + start * (1 - alpha))
        return lrs

    def _set_anneal_func(self, anneal_strategy: str) -> None:
        self._anneal_strategy = anneal_strategy
        self.anneal_func = self._cosine_anneal if anneal_strategy == "cos" else self._linear_anneal

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer and the function."""
        return {key: value for key, value in self.__dict__.items() if key not in ("optimizer", "anneal_func")}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore what :meth:`state_dict` returned."""
        self.__dict__.update(state_dict)
        self._set_anneal_func(self._anneal_strategy)


adopt(globals())

"""Rates that cycle between two bounds."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any
from weakref import WeakMethod

from ._base import LRScheduler, callable_state, check_optimizer, per_group, set_group_value


def momentum_users(optimizer: Any) -> bool:
    """Whether the optimizer's momentum is the first beta; refuse optimizers without momentum."""
    if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
        raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
    return "betas" in optimizer.defaults


def set_momentum(group: dict[str, Any], value: Any, use_beta1: bool) -> None:
    """Write the momentum of a group, wherever the algorithm keeps it."""
    if use_beta1:
        group["betas"] = (value, *group["betas"][1:])
    else:
        group["momentum"] = value


class CyclicLR(LRScheduler):
    """The rate goes up and down between ``base_lr`` and ``max_lr``; momentum moves the other way.

    >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0, momentum=0.9)
    >>> scheduler = torch.optim.lr_scheduler.CyclicLR(optimizer, base_lr=0.5, max_lr=1.0, step_size_up=2)
    >>> optimizer.step()
    >>> scheduler.step()
    >>> scheduler.get_last_lr()
    [0.75]
    """

    def __init__(
        self,
        optimizer: Any,
        base_lr: Any,
        max_lr: Any,
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: float = 0.8,
        max_momentum: float = 0.9,
        last_epoch: int = -1,
    ) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        base_lrs = per_group("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for lr, group in zip(base_lrs, optimizer.param_groups, strict=True):
                set_group_value(group, "lr", lr)
        self.max_lrs = per_group("max_lr", optimizer, max_lr)
        up = float(step_size_up)
        down = float(step_size_down) if step_size_down is not None else up
        self.total_size = up + down
        self.step_ratio = up / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode
        self._init_scale_fn()
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._init_momentum(base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def _init_momentum(self, base_momentum: Any, max_momentum: Any, last_epoch: int) -> None:
        self.use_beta1 = momentum_users(self.optimizer)
        self.base_momentums = per_group("base_momentum", self.optimizer, base_momentum)
        self.max_momentums = per_group("max_momentum", self.optimizer, max_momentum)
        if last_epoch != -1:
            return
        for high, low, group in zip(self.max_momentums, self.base_momentums, self.optimizer.param_groups, strict=True):
            set_momentum(group, high, self.use_beta1)
            group["max_momentum"] = high
            group["base_momentum"] = low

    def _init_scale_fn(self) -> None:
        """Choose how the height of a cycle shrinks. A weak reference keeps the schedule free of a cycle on itself."""
        if self._scale_fn_custom is not None:
            return
        if self.mode == "triangular":
            self._scale_fn_ref: Any = self._triangular_scale_fn
            self.scale_mode = "cycle"
        elif self.mode == "triangular2":
            self._scale_fn_ref = self._triangular2_scale_fn
            self.scale_mode = "cycle"
        elif self.mode == "exp_range":
            self._scale_fn_ref = WeakMethod(self._exp_range)
            self.scale_mode = "iterations"

    def scale_fn(self, x: float) -> float:
        """The height of the cycle (or at the iteration) ``x``, relative to the first."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        function = self._scale_fn_ref() if isinstance(self._scale_fn_ref, WeakMethod) else self._scale_fn_ref
        return function(x)

    @staticmethod
    def _triangular_scale_fn(x: float) -> float:
        return 1.0

    @staticmethod
    def _triangular2_scale_fn(x: float) -> float:
        return 1 / (2.0 ** (x - 1))

    @staticmethod
    def _exp_range_scale_fn(gamma: float, x: float) -> float:
        return gamma**x

    def _exp_range(self, x: float) -> float:
        return self._exp_range_scale_fn(self.gamma, x)

    def get_lr(self) -> list[Any]:
        """The rates at this point of the cycle; writes the momentum too."""
        self._check_caller()
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        height = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        scale_at = cycle if self.scale_mode == "cycle" else self.last_epoch
        lrs = []
        for low, high in zip(self.base_lrs, self.max_lrs, strict=True):
            lrs.append(low + (high - low) * height * self.scale_fn(scale_at))
        if self.cycle_momentum:
            momentums = []
            for low, high in zip(self.base_momentums, self.max_momentums, strict=True):
                momentums.append(high - (high - low) * height * self.scale_fn(scale_at))
            for group, value in zip(self.optimizer.param_groups, momentums, strict=True):
                set_momentum(group, value, self.use_beta1)
        return lrs

    def state_dict(self) -> dict[str, Any]:
        """The schedule without its functions; of a callable object, its attributes."""
        state = super().state_dict()
        state.pop("_scale_fn_ref", None)
        state["_scale_fn_custom"] = callable_state(state.pop("_scale_fn_custom"))
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore the schedule, and the attributes of a callable object."""
        attributes = state_dict.pop("_scale_fn_custom")
        super().load_state_dict(state_dict)
        if attributes is not None:
            self._scale_fn_custom.__dict__.update(attributes)  # type: ignore[union-attr]
        self._init_scale_fn()

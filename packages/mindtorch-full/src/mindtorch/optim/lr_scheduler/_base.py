"""What every schedule shares: epochs, the learning rates it wrote last, warnings about call order."""

from __future__ import annotations

import types
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial, wraps
from typing import Any
from weakref import ref

import mindtorch as torch
from mindtorch.optim._values import to_scalar
from mindtorch.optim.optimizer import Optimizer
from mindtorch_dispatch.interface.native import native_path

EPOCH_DEPRECATION_WARNING = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being "
    "deprecated where possible. Please use `scheduler.step()` to step the "
    "scheduler. During the deprecation, if epoch is different from None, the "
    "closed form is used instead of the new chainable form, where available. "
    "Please open an issue if you are unable to replicate your use case: "
    "https://github.com/pytorch/pytorch/issues/new/choose."
)
_ORDER_PAGE = "See more details at https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"


def check_optimizer(optimizer: Any) -> None:
    """Refuse anything that is not an optimizer."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")


def group_values(optimizer: Any, key: str) -> list[Any]:
    """One option of every group; tensors are copied, so later writes do not show."""
    values = [group[key] for group in optimizer.param_groups]
    return [value.clone() if isinstance(value, torch.Tensor) else value for value in values]


def set_group_value(group: dict[str, Any], key: str, value: Any) -> None:
    """Write an option; a tensor is filled, so a captured step sees the new value."""
    if isinstance(group[key], torch.Tensor):
        group[key].fill_(to_scalar(value))
    else:
        group[key] = value


def per_group(name: str, optimizer: Any, value: Any) -> list[Any]:
    """A list of one value per group, from one value or such a list."""

    def copy(item: Any) -> Any:
        return item.clone() if isinstance(item, torch.Tensor) else item

    if not isinstance(value, (list, tuple)):
        return [copy(value) for _ in optimizer.param_groups]
    if len(value) != len(optimizer.param_groups):
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. "
            f"{name} has {len(value)} values, param_groups has {len(optimizer.param_groups)}."
        )
    return [copy(item) for item in value]


@contextmanager
def _flag(owner: Any, name: str) -> Iterator[None]:
    """Raise a flag on a scheduler for a while."""
    setattr(owner, name, True)
    try:
        yield
    finally:
        setattr(owner, name, False)


def computing_lr(scheduler: LRScheduler) -> Any:
    """The scheduler itself calls ``get_lr``: the only caller its result is meant for."""
    return _flag(scheduler, "_get_lr_called_within_step")


class LRScheduler:
    """Base of all schedules. A subclass defines ``get_lr``, from the current rates, for ``last_epoch``.

    >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    >>> scheduler = torch.optim.lr_scheduler.StepLR(optimizer, step_size=3)
    >>> isinstance(scheduler, torch.optim.lr_scheduler.LRScheduler)
    True
    """

    _get_lr_called_within_step: bool = False
    _is_initial: bool = False

    def __init__(self, optimizer: Any, last_epoch: int = -1) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        self._init_base_lrs(last_epoch)
        self.last_epoch = last_epoch
        self._watch_optimizer_step(optimizer)
        self._initial_step()

    def _init_base_lrs(self, last_epoch: int) -> None:
        if last_epoch == -1:
            for group in self.optimizer.param_groups:
                first = group["lr"]
                group.setdefault("initial_lr", first.clone() if isinstance(first, torch.Tensor) else first)
        else:
            for index, group in enumerate(self.optimizer.param_groups):
                if "initial_lr" not in group:
                    raise KeyError(
                        f"param 'initial_lr' is not specified in param_groups[{index}] when resuming scheduler "
                        "with last_epoch >= 0.\nThis typically happens when:\n1. You're trying to resume training "
                        "from a checkpoint but haven't properly loaded the optimizer state\n2. You're using "
                        "last_epoch >= 0 for a fresh training run (not recommended)"
                    )
        self.base_lrs: list[Any] = group_values(self.optimizer, "initial_lr")

    @staticmethod
    def _watch_optimizer_step(optimizer: Any) -> None:
        """Note on the optimizer that it stepped, to warn when the schedule moves first."""
        if hasattr(optimizer.step, "_wrapped_by_lr_sched"):
            return
        step = optimizer.step
        owner = ref(optimizer)
        plain = step.__func__

        @wraps(plain)
        def wrapper(*args: Any, **kwargs: Any) -> Any:
            live = owner()
            live._opt_called = True
            return plain.__get__(live, live.__class__)(*args, **kwargs)

        wrapper._wrapped_by_lr_sched = True  # type: ignore[attr-defined]
        optimizer.step = wrapper

    def _initial_step(self) -> None:
        """Write the first learning rates."""
        self._step_count = 0
        with _flag(self, "_is_initial"):
            self.step()

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimizer."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore what :meth:`state_dict` returned."""
        self.__dict__.update(state_dict)

    def get_last_lr(self) -> list[float | torch.Tensor]:
        """The learning rates written last, one per group."""
        return self._last_lr

    def get_lr(self) -> list[Any]:
        """The learning rates for ``last_epoch``, one per group."""
        raise NotImplementedError

    def _check_caller(self) -> None:
        """Warn a user who asks ``get_lr`` for the current rate: it computes the next one."""
        if not self._get_lr_called_within_step:
            warnings.warn(
                "To get the last learning rate computed by the scheduler, please use `get_last_lr()`.",
                UserWarning,
                stacklevel=3,
            )

    def step(self, epoch: int | None = None) -> None:
        """Move to the next epoch (or to ``epoch``) and write its learning rates."""
        if self._step_count == 1:
            self._check_order()
        self._step_count += 1
        if epoch is not None:
            warnings.warn(EPOCH_DEPRECATION_WARNING, UserWarning, stacklevel=2)
        self._update_lr(epoch)

    def _check_order(self) -> None:
        if not hasattr(self.optimizer.step, "_wrapped_by_lr_sched"):
            warnings.warn(
                "Seems like `optimizer.step()` has been overridden after learning rate scheduler "
                "initialization. Please, make sure to call `optimizer.step()` before "
                f"`lr_scheduler.step()`. {_ORDER_PAGE}",
                UserWarning,
                stacklevel=3,
            )
        elif not getattr(self.optimizer, "_opt_called", False):
            warnings.warn(
                "Detected call of `lr_scheduler.step()` before `optimizer.step()`. "
                "In PyTorch 1.1.0 and later, you should call them in the opposite order: "
                "`optimizer.step()` before `lr_scheduler.step()`.  Failure to do this "
                "will result in PyTorch skipping the first value of the learning rate schedule. "
                f"{_ORDER_PAGE}",
                UserWarning,
                stacklevel=3,
            )

    def _update_lr(self, epoch: int | None = None) -> None:
        with computing_lr(self):
            if epoch is None:
                self.last_epoch += 1
                values = self.get_lr()
            else:
                self.last_epoch = epoch
                closed_form = getattr(self, "_get_closed_form_lr", None)
                values = closed_form() if closed_form is not None else self.get_lr()
        self._write(values)

    def _write(self, values: list[Any]) -> None:
        """Give every group its learning rate and remember them."""
        for group, value in zip(self.optimizer.param_groups, values, strict=False):
            set_group_value(group, "lr", value)
        self._last_lr: list[Any] = group_values(self.optimizer, "lr")

    def _current(self) -> list[Any]:
        return group_values(self.optimizer, "lr")


class _LRScheduler(LRScheduler):
    """The older name of the base class, for ``isinstance`` checks of older programs."""


def callable_state(function: Any) -> Any:
    """What can be saved of a user's function: the attributes of a callable object, nothing of plain functions."""
    if function is None or isinstance(function, (*native_path.types, types.BuiltinFunctionType, partial)):
        return None
    return function.__dict__.copy()

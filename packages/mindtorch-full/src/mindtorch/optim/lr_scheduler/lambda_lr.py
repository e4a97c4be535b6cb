"""Learning rates as a function of the epoch."""

from __future__ import annotations

from typing import Any

from ._base import LRScheduler, callable_state, check_optimizer


class _PerGroupFunctions(LRScheduler):
    """One function of the epoch per group."""

    def __init__(self, optimizer: Any, lr_lambda: Any, last_epoch: int = -1) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        groups = len(optimizer.param_groups)
        if not isinstance(lr_lambda, (list, tuple)):
            self.lr_lambdas = [lr_lambda] * groups
        else:
            if len(lr_lambda) != groups:
                raise ValueError(f"Expected {groups} lr_lambdas, but got {len(lr_lambda)}")
            self.lr_lambdas = list(lr_lambda)
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """The schedule without its functions; of callable objects, their attributes."""
        state = {key: value for key, value in self.__dict__.items() if key not in ("optimizer", "lr_lambdas")}
        state["lr_lambdas"] = [callable_state(function) for function in self.lr_lambdas]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore the schedule, and the attributes of callable objects."""
        functions, saved = self.lr_lambdas, state_dict["lr_lambdas"]
        self.__dict__.update(state_dict, lr_lambdas=functions)
        for function, attributes in zip(functions, saved, strict=False):
            if attributes is not None:
                function.__dict__.update(attributes)


class LambdaLR(_PerGroupFunctions):
    """The initial rate times a function of the epoch.

    >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    >>> scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda epoch: 0.5**epoch)
    >>> optimizer.step()
    >>> scheduler.step()
    >>> scheduler.get_last_lr()
    [0.5]
    """

    def get_lr(self) -> list[Any]:
        """The rates for this epoch."""
        self._check_caller()
        return [base * function(self.last_epoch) for function, base in zip(self.lr_lambdas, self.base_lrs, strict=True)]


class MultiplicativeLR(_PerGroupFunctions):
    """The previous rate times a function of the epoch.

    >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    >>> scheduler = torch.optim.lr_scheduler.MultiplicativeLR(optimizer, lambda epoch: 0.5)
    >>> optimizer.step()
    >>> scheduler.step()
    >>> scheduler.get_last_lr()
    [0.5]
    """

    def get_lr(self) -> list[Any]:
        """The rates for this epoch."""
        self._check_caller()
        if self._is_initial:
            return self._current()
        return [lr * function(self.last_epoch) for function, lr in zip(self.lr_lambdas, self._current(), strict=True)]

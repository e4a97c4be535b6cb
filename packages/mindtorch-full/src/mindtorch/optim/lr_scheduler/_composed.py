"""What schedules made of schedules share."""

from __future__ import annotations

from typing import Any

from ._base import LRScheduler
from .reduce_lr_on_plateau import ReduceLROnPlateau


def check_schedulers(owner: LRScheduler, schedulers: Any, optimizer: Any) -> None:
    """Every part must drive the same optimizer, and step without arguments."""
    name = type(owner).__name__
    for index, scheduler in enumerate(schedulers):
        if not hasattr(scheduler, "optimizer"):
            raise TypeError(f"{name} at index {index} should have `optimizer` as its attribute.")
        if isinstance(scheduler, ReduceLROnPlateau):
            raise ValueError(
                f"{name} does not support `ReduceLROnPlateau` scheduler as it requires additional kwargs to be "
                f"specified when calling `step`, but got one at index {index} in the given schedulers sequence."
            )
        if optimizer != scheduler.optimizer:
            raise ValueError(
                f"{name} expects all schedulers to belong to the same optimizer, but got scheduler "
                f"{type(scheduler).__name__} at index {index} has {scheduler.optimizer}, "
                f"which is different from {type(optimizer).__name__}."
            )


class ComposedScheduler(LRScheduler):
    """A schedule whose state is its own plus that of its parts."""

    _schedulers: list[Any]

    def state_dict(self) -> dict[str, Any]:
        """The state of this schedule and of its parts."""
        state = {key: value for key, value in self.__dict__.items() if key not in ("optimizer", "_schedulers")}
        state["_schedulers"] = [scheduler.state_dict() for scheduler in self._schedulers]
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore this schedule and its parts."""
        schedulers, parts = self._schedulers, state_dict["_schedulers"]
        self.__dict__.update(state_dict, _schedulers=schedulers)
        for scheduler, part in zip(schedulers, parts, strict=True):
            scheduler.load_state_dict(part)

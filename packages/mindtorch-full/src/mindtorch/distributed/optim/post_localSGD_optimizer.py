"""`PostLocalSGDOptimizer`: an optimizer after whose steps parameters are averaged now and then."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from mindtorch._naming import adopt
from mindtorch.distributed.algorithms.model_averaging.averagers import ModelAverager
from mindtorch.optim.optimizer import Optimizer


class PostLocalSGDOptimizer(Optimizer):
    """Wraps an optimizer; its averager averages after every step in which it wants to."""

    def __init__(self, optim: Optimizer, averager: ModelAverager) -> None:
        self.optim, self.averager = optim, averager
        self.param_groups, self.state = optim.param_groups, optim.state

    def __repr__(self) -> str:
        return repr(self.optim)

    def state_dict(self) -> dict[str, Any]:
        """Return the wrapped optimizer's state, and the averager's step."""
        return {**self.optim.state_dict(), "step": self.averager.step}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Load both; without a step the averager begins anew, which is told."""
        self.optim.load_state_dict(state_dict)
        self.param_groups, self.state = self.optim.param_groups, self.optim.state
        if "step" in state_dict:
            self.averager.step = state_dict["step"]
            return
        warnings.warn(
            "Loaded state dict does not contain a step counter for an averager. Setting step counter to 0.",
            stacklevel=2,
        )
        self.averager.step = 0

    def step(self, closure: Callable[[], float] | None = None) -> None:
        """Take a step and average."""
        if closure is None:
            self.optim.step()
        else:
            self.optim.step(closure)
        self.averager.average_parameters(params=self.param_groups)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Reset gradients."""
        self.optim.zero_grad(set_to_none=set_to_none)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters."""
        self.optim.add_param_group(param_group)


adopt(globals())

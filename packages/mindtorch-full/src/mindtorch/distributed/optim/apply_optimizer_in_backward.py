"""Optimizers that step in the middle of backward, parameter by parameter: a gradient lives no longer than it must."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mindtorch import nn
from mindtorch._naming import adopt
from mindtorch.optim import Optimizer

__all__: list[str] = []


def _apply_optimizer_in_backward(
    optimizer_class: type[Optimizer],
    params: Iterable[nn.Parameter],
    optimizer_kwargs: dict[str, Any],
    register_hook: bool = True,
) -> None:
    """Give every parameter an optimizer of its own that steps when its gradient is there, and drop the gradient then.

    A parameter may get several; they step in the order in which they came. Without `register_hook` nothing steps.
    """
    for param in params:
        own: dict[str, Any] = param.__dict__
        own.setdefault("_in_backward_optimizers", []).append(optimizer_class([param], **optimizer_kwargs))
        own.setdefault("_optimizer_classes", []).append(optimizer_class)
        own.setdefault("_optimizer_kwargs", []).append(optimizer_kwargs)
        if register_hook and "_step_in_backward" not in own:
            own["_step_in_backward"] = param.register_post_accumulate_grad_hook(_step)


def _step(param: Any) -> None:
    for optimizer in param._in_backward_optimizers:
        optimizer.step()
    param.grad = None


def _get_in_backward_optimizers(module: nn.Module) -> list[Optimizer]:
    """Return the optimizers of a module's parameters that step in backward."""
    return [optimizer for param in module.parameters() for optimizer in getattr(param, "_in_backward_optimizers", ())]


adopt(globals())

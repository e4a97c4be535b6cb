"""Hooks after which an optimizer steps at once, while other gradients are still computed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import mindtorch as torch
from mindtorch import distributed as dist
from mindtorch._naming import adopt
from mindtorch.tensor.tensor import Tensor

__all__: list[str] = []

_FUNCTIONAL_OPTIM_STEP_METHOD_NAME = "step_param"


class _OptimizerHookState:
    """An optimizer with a method `step_param`, and the parameters that it is for; all without them."""

    __slots__ = ["functional_optimizer", "params_to_optimize"]

    def __init__(self, functional_optim: Any, params: Iterable[Tensor] | None = None) -> None:
        self.functional_optimizer = functional_optim
        if not hasattr(functional_optim, _FUNCTIONAL_OPTIM_STEP_METHOD_NAME):
            raise ValueError(
                f"Class {type(functional_optim)} must implement method {_FUNCTIONAL_OPTIM_STEP_METHOD_NAME}."
            )
        if params is not None:
            self.params_to_optimize = set(params)


def _hook_then_optimizer(hook: Callable[..., Any], optimizer_state: _OptimizerHookState) -> Callable[..., Any]:
    """Return a hook that calls another one and lets an optimizer step with what that one averaged."""
    chosen: set[Tensor] | None = getattr(optimizer_state, "params_to_optimize", None)

    def hook_then_optimizer_wrapper(hook_state: Any, bucket: Any) -> Any:
        def step(done: Any) -> Tensor:
            done.wait()
            for gradient, parameter in zip(bucket.gradients(), bucket.parameters(), strict=True):
                if chosen is None or parameter in chosen:
                    optimizer_state.functional_optimizer.step_param(parameter, gradient)
            averaged: Tensor = bucket.buffer()
            return averaged

        return hook(hook_state, bucket).then(step)

    return hook_then_optimizer_wrapper


def _apply_optim_in_backward_hook(gradient_is_bucket_view: bool) -> Callable[..., Any]:
    """Return a hook that averages and lets the optimizers step that parameters were given for their backward.

    Its state is a weak reference to the module that is trained, whose reducer ends the gradients of these parameters.
    """

    def apply_optim_in_backward_hook(hook_state: Any, bucket: Any) -> torch.futures.Future[torch.Tensor]:
        group = hook_state().process_group
        dist.all_reduce(bucket.buffer(), group=group)
        bucket.buffer().div_(group.size())
        for parameter, gradient in zip(bucket.parameters(), bucket.gradients(), strict=True):
            optimizers = getattr(parameter, "_in_backward_optimizers", ())
            if optimizers and not gradient_is_bucket_view:
                parameter.grad = gradient
            for optimizer in optimizers:
                optimizer.step()
        done: torch.futures.Future[torch.Tensor] = torch.futures.Future()
        done.set_result(bucket.buffer())
        return done

    return apply_optim_in_backward_hook


adopt(globals())

"""RMSprop."""

from __future__ import annotations

from typing import Any, ClassVar

from mindtorch._naming import adopt

from ._per_parameter import PerParameterOptimizer, step_each, zeros_like_param
from ._values import ascent, check_capturable, check_lr, check_not_negative, real_views, to_scalar

__all__ = ["RMSprop", "rmsprop"]


class RMSprop(PerParameterOptimizer):
    """Steps divided by a running root mean square of the gradient, optionally centred, optionally with momentum."""

    _older_groups: ClassVar[dict[str, Any]] = {
        "momentum": 0,
        "centered": False,
        "foreach": None,
        "maximize": False,
        "differentiable": False,
        "capturable": False,
    }

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        alpha: float = 0.99,
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum: float = 0,
        centered: bool = False,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        check_not_negative("learning rate", lr)
        check_not_negative("epsilon value", eps)
        check_not_negative("momentum value", momentum)
        check_not_negative("weight_decay value", weight_decay)
        check_not_negative("alpha value", alpha)
        defaults = {
            "lr": lr,
            "momentum": momentum,
            "alpha": alpha,
            "eps": eps,
            "centered": centered,
            "weight_decay": weight_decay,
            "capturable": capturable,
            "foreach": foreach,
            "maximize": maximize,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _create_state(self, param: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        state["step"] = self._counter(0.0, param, group)
        state["square_avg"] = zeros_like_param(param)
        if group["momentum"] > 0:
            state["momentum_buffer"] = zeros_like_param(param)
        if group["centered"]:
            state["grad_avg"] = zeros_like_param(param)

    def _update(self, param: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        check_capturable(group, param, ("params and state_steps", "params and state_steps"), xla="always")  # type: ignore[arg-type]
        state["step"] += 1
        alpha, lr = group["alpha"], to_scalar(group["lr"])
        grad = ascent(grad, group)
        if group["weight_decay"] != 0:
            grad = grad.add(param, alpha=group["weight_decay"])
        param, grad, square_avg, mean, buffer = real_views(
            param,
            grad,
            state["square_avg"],
            state["grad_avg"] if group["centered"] else None,
            state["momentum_buffer"] if group["momentum"] > 0 else None,
        )
        square_avg.mul_(alpha).addcmul_(grad, grad, value=1 - alpha)
        if mean is not None:
            mean.lerp_(grad, 1 - alpha)
            root = square_avg.addcmul(mean, mean, value=-1).sqrt_()
        else:
            root = square_avg.sqrt()
        root = root.add(group["eps"]) if group["differentiable"] else root.add_(group["eps"])
        if buffer is not None:
            buffer.mul_(group["momentum"]).addcdiv_(grad, root)
            param.add_(buffer, alpha=-lr)
        else:
            param.addcdiv_(grad, root, value=-lr)


def rmsprop(
    params: list[Any],
    grads: list[Any],
    square_avgs: list[Any],
    grad_avgs: list[Any],
    momentum_buffer_list: list[Any],
    state_steps: list[Any],
    foreach: bool | None = None,
    maximize: bool = False,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    *,
    lr: float,
    alpha: float,
    eps: float,
    weight_decay: float,
    momentum: float,
    centered: bool,
) -> None:
    """One RMSprop step of each parameter, with the state given as lists."""
    group = {
        "foreach": foreach,
        "maximize": maximize,
        "differentiable": differentiable,
        "capturable": capturable,
        "lr": lr,
        "alpha": alpha,
        "eps": eps,
        "weight_decay": weight_decay,
        "momentum": momentum,
        "centered": centered,
    }
    step_each(
        RMSprop,
        params,
        grads,
        {
            "square_avg": square_avgs,
            "grad_avg": grad_avgs,
            "momentum_buffer": momentum_buffer_list,
            "step": state_steps,
        },
        group,
    )


adopt(globals())

"""Adadelta."""

from __future__ import annotations

from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt

from ._per_parameter import CapturableOptimizer, step_each, zeros_like_param
from ._values import ascent, check_capturable, check_lr, check_not_negative, real_views

__all__ = ["Adadelta", "adadelta"]


class Adadelta(CapturableOptimizer):
    """Steps whose size is the ratio of two running root mean squares: of past steps and of gradients.

    >>> parameter = torch.nn.Parameter(torch.tensor([1.0, -2.0]))
    >>> (parameter**2).sum().backward()
    >>> torch.optim.Adadelta([parameter], lr=0.5).step()
    >>> parameter.data
    tensor([ 0.9984, -1.9984])
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1.0,
        rho: float = 0.9,
        eps: float = 1e-6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        capturable: bool = False,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        check_not_negative("learning rate", lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        check_not_negative("epsilon value", eps)
        check_not_negative("weight_decay value", weight_decay)
        defaults: dict[str, Any] = {"lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay}
        defaults |= {"maximize": maximize, "capturable": capturable, "foreach": foreach}
        defaults |= {"differentiable": differentiable}
        super().__init__(params, defaults)

    def _create_state(self, param: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        state["step"] = self._counter(0.0, param, group)
        state["square_avg"] = zeros_like_param(param)
        state["acc_delta"] = zeros_like_param(param)

    def _update(self, param: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        check_capturable(group, param, xla="never")
        state["step"] += 1
        rho, eps = group["rho"], group["eps"]
        grad = ascent(grad, group)
        if group["weight_decay"] != 0:
            grad = grad.add(param, alpha=group["weight_decay"])
        is_complex = param.dtype.is_complex
        grad, square_avg, acc_delta = real_views(grad, state["square_avg"], state["acc_delta"])
        square_avg.mul_(rho).addcmul_(grad, grad, value=1 - rho)
        root = square_avg.add(eps).sqrt_()
        delta = acc_delta.add(eps).sqrt_()
        if group["differentiable"]:
            delta = delta.clone()
        delta.div_(root).mul_(grad)
        acc_delta.mul_(rho).addcmul_(delta, delta, value=1 - rho)
        if is_complex:
            delta = torch.view_as_complex(delta)
        param.add_(delta, alpha=-group["lr"])


def adadelta(
    params: list[Any],
    grads: list[Any],
    square_avgs: list[Any],
    acc_deltas: list[Any],
    state_steps: list[Any],
    capturable: bool = False,
    foreach: bool | None = None,
    differentiable: bool = False,
    has_complex: bool = False,
    *,
    lr: float,
    rho: float,
    eps: float,
    weight_decay: float,
    maximize: bool,
) -> None:
    """One Adadelta step of each parameter, with the state given as lists.

    >>> from torch.optim.adadelta import adadelta
    >>> weight, grad, zeros = torch.tensor([1.0, 2.0]), torch.tensor([0.5, -0.5]), torch.zeros(2)
    >>> adadelta(
    ...     [weight],
    ...     [grad],
    ...     [zeros],
    ...     [zeros.clone()],
    ...     [torch.tensor(0.0)],
    ...     lr=10.0,
    ...     rho=0.9,
    ...     eps=1e-4,
    ...     weight_decay=0.0,
    ...     maximize=False,
    ... )
    >>> weight
    tensor([0.6844, 2.3156])
    """
    group: dict[str, Any] = {"capturable": capturable, "foreach": foreach, "differentiable": differentiable, "lr": lr}
    group |= {"rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize}
    step_each(Adadelta, params, grads, {"square_avg": square_avgs, "acc_delta": acc_deltas, "step": state_steps}, group)


adopt(globals())

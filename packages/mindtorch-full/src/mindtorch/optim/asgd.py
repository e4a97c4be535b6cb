"""Averaged stochastic gradient descent."""

from __future__ import annotations

from typing import Any, ClassVar

import mindtorch as torch
from mindtorch._naming import adopt

from ._per_parameter import CapturableOptimizer, step_each, zeros_like_param
from ._values import (
    ascent,
    check_capturable,
    check_lr,
    check_not_negative,
    get_value,
    real_views,
    scalar_dtype,
    to_scalar,
)

__all__ = ["ASGD", "asgd"]

_NAMES = ("params, mus, etas, and state_steps", "params, mus, etas, and state_steps")


class ASGD(CapturableOptimizer):
    """Gradient descent with a decaying step and a running average of the parameters in ``ax``.

    >>> parameter = torch.nn.Parameter(torch.tensor([1.0, -2.0]))
    >>> (parameter**2).sum().backward()
    >>> torch.optim.ASGD([parameter], lr=0.5).step()
    >>> parameter.data
    tensor([-5.0008e-05,  1.0002e-04])
    """

    _counters: ClassVar[tuple[str, ...]] = ("step", "eta", "mu")

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lambd: float = 1e-4,
        alpha: float = 0.75,
        t0: float = 1e6,
        weight_decay: float = 0,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_lr(lr)
        check_not_negative("learning rate", lr)
        check_not_negative("weight_decay value", weight_decay)
        defaults: dict[str, Any] = {"lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay}
        defaults |= {"foreach": foreach, "maximize": maximize, "differentiable": differentiable}
        defaults |= {"capturable": capturable}
        super().__init__(params, defaults)

    def _create_state(self, param: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        where = {"device": param.device, "dtype": scalar_dtype()}
        state["step"] = torch.zeros((), **where)
        state["eta"] = torch.as_tensor(group["lr"], **where).clone().detach()
        state["mu"] = torch.ones((), **where)
        state["ax"] = zeros_like_param(param)

    def _update(self, param: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        check_capturable(group, param, names=_NAMES)
        lr, lambd, capturable = to_scalar(group["lr"]), group["lambd"], group["capturable"]
        eta, mu = state["eta"], state["mu"]
        state["step"] += 1
        grad = ascent(grad, group)
        if group["weight_decay"] != 0:
            grad = grad.add(param, alpha=group["weight_decay"])
        grad, param, average = real_views(grad, param, state["ax"])
        if capturable:
            param.mul_(1 - lambd * eta)
            param.addcmul_(grad, eta, value=-1)
            average.add_(param.sub(average).mul_(mu))
            step: Any = state["step"]
            eta.copy_(lr / ((1 + lambd * lr * step) ** group["alpha"]))
            mu.copy_(1 / torch.maximum(step - group["t0"], torch.ones_like(step)))
            return
        eta_value = get_value(eta)
        param.mul_(1 - lambd * eta_value)
        param.add_(grad, alpha=-eta_value)
        if mu.item() != 1:
            average.add_(param.sub(average).mul_(mu))
        else:
            average.copy_(param)
        step = get_value(state["step"])
        eta.copy_(torch.as_tensor(lr / ((1 + lambd * lr * step) ** group["alpha"])))
        mu.copy_(torch.as_tensor(1 / max(1, step - group["t0"])))


def asgd(
    params: list[Any],
    grads: list[Any],
    axs: list[Any],
    mus: list[Any],
    etas: list[Any],
    state_steps: list[Any],
    foreach: bool | None = None,
    maximize: bool = False,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    *,
    lambd: float,
    lr: float,
    t0: float,
    alpha: float,
    weight_decay: float,
) -> None:
    """One ASGD step of each parameter, with the state given as lists.

    >>> from torch.optim.asgd import asgd
    >>> weight, grad = torch.tensor([1.0, 2.0]), torch.tensor([0.5, -0.5])
    >>> mean, mu, eta, step = torch.zeros(2), torch.tensor(1.0), torch.tensor(0.1), torch.tensor(0.0)
    >>> asgd(
    ...     [weight],
    ...     [grad],
    ...     [mean],
    ...     [mu],
    ...     [eta],
    ...     [step],
    ...     lambd=1e-4,
    ...     lr=0.1,
    ...     t0=1e6,
    ...     alpha=0.75,
    ...     weight_decay=0.0,
    ... )
    >>> weight
    tensor([0.9500, 2.0500])
    """
    group: dict[str, Any] = {"foreach": foreach, "maximize": maximize, "differentiable": differentiable}
    group |= {"capturable": capturable, "lambd": lambd, "lr": lr, "t0": t0, "alpha": alpha}
    group |= {"weight_decay": weight_decay}
    step_each(ASGD, params, grads, {"ax": axs, "mu": mus, "eta": etas, "step": state_steps}, group, check_steps=False)


adopt(globals())

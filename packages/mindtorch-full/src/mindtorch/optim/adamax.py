"""Adamax: Adam with the infinity norm."""

from __future__ import annotations

from functools import cache
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch_dispatch.execute.chain import Chain, are_numbers

from ._one_pass import Due, counted, entering, entering_numbers, lists_of
from ._per_parameter import CapturableOptimizer, step_each, zeros_like_param
from ._values import ascent, check_adam_options, check_capturable, real_views, to_scalar

__all__ = ["Adamax", "adamax"]


class Adamax(CapturableOptimizer):
    """Adam with a decayed running maximum of gradient magnitudes in place of the mean square.

    >>> parameter = torch.nn.Parameter(torch.tensor([1.0, -2.0]))
    >>> (parameter**2).sum().backward()
    >>> torch.optim.Adamax([parameter], lr=0.5).step()
    >>> parameter.data
    tensor([ 0.5000, -1.5000])
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_adam_options(lr, betas, eps, weight_decay)
        defaults: dict[str, Any] = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        defaults |= {"foreach": foreach, "maximize": maximize, "differentiable": differentiable}
        defaults |= {"capturable": capturable}
        super().__init__(params, defaults)

    def _create_state(self, param: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        state["step"] = self._counter(0.0, param, group)
        state["exp_avg"] = zeros_like_param(param)
        state["exp_inf"] = zeros_like_param(param)

    def _update_in_one_pass(self, due: Due, group: dict[str, Any]) -> bool:
        return counted(due, lambda count: _passed(due, count + 1, group))

    def _update(self, param: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        check_capturable(group, param)
        step = self._count(state, {"capturable": group["capturable"]})
        beta1, beta2 = group["betas"]
        lr = to_scalar(group["lr"])
        grad = ascent(grad, group)
        if group["weight_decay"] != 0:
            grad = grad.add(param, alpha=group["weight_decay"])
        param, grad, exp_avg, exp_inf = real_views(param, grad, state["exp_avg"], state["exp_inf"])
        exp_avg.lerp_(grad, 1 - beta1)
        candidate = (exp_inf.mul_(beta2), grad.abs().add_(group["eps"]))
        if group["differentiable"]:
            # An `out=` result would not be part of the graph.
            exp_inf.copy_(torch.amax(torch.stack(candidate), 0))
        else:
            torch.maximum(*candidate, out=exp_inf)
        if group["capturable"]:
            param.addcdiv_(exp_avg, exp_inf * (beta1**step - 1).div_(lr))
        else:
            param.addcdiv_(exp_avg, exp_inf, value=-(lr / (1 - beta1**step)))


@cache
def _in_one_pass(maximize: bool, decays: bool) -> Chain:
    """The steps of `_update`, in their order."""
    steps, grad = entering(maximize, decays)
    return Chain(
        "param grad exp_avg exp_inf",
        *steps,
        ("lerp", "exp_avg", "exp_avg", grad),
        ("mul_number", "exp_inf", "exp_inf"),
        ("abs", "size", grad),
        ("add_number", "size", "size"),
        ("maximum", "exp_inf", "exp_inf", "size"),
        ("addcdiv", "param", "param", "exp_avg", "exp_inf"),
    )


def _passed(due: Due, step: float, group: dict[str, Any]) -> bool:
    """Make the step in one pass over memory; False, with nothing done, where that cannot be."""
    lr, (beta1, beta2), eps, decay = group["lr"], group["betas"], group["eps"], group["weight_decay"]
    if not are_numbers(lr, beta1, beta2, eps, decay):
        return False
    chain = _in_one_pass(bool(group["maximize"]), decay != 0)
    numbers = (*entering_numbers(group), 1 - beta1, beta2, eps, -(lr / (1 - beta1**step)))
    return chain.run(lists_of(due, "exp_avg", "exp_inf"), numbers)


def adamax(
    params: list[Any],
    grads: list[Any],
    exp_avgs: list[Any],
    exp_infs: list[Any],
    state_steps: list[Any],
    foreach: bool | None = None,
    maximize: bool = False,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    *,
    eps: float,
    beta1: float,
    beta2: float,
    lr: float,
    weight_decay: float,
) -> None:
    """One Adamax step of each parameter, with the state given as lists.

    >>> from torch.optim.adamax import adamax
    >>> weight, grad, zeros = torch.tensor([1.0, 2.0]), torch.tensor([0.5, -0.5]), torch.zeros(2)
    >>> adamax(
    ...     [weight],
    ...     [grad],
    ...     [zeros],
    ...     [zeros.clone()],
    ...     [torch.tensor(0.0)],
    ...     eps=1e-8,
    ...     beta1=0.9,
    ...     beta2=0.999,
    ...     lr=0.1,
    ...     weight_decay=0.0,
    ... )
    >>> weight
    tensor([0.9000, 2.1000])
    """
    group: dict[str, Any] = {"foreach": foreach, "maximize": maximize, "differentiable": differentiable}
    group |= {"capturable": capturable, "eps": eps, "lr": lr, "weight_decay": weight_decay, "betas": (beta1, beta2)}
    step_each(Adamax, params, grads, {"exp_avg": exp_avgs, "exp_inf": exp_infs, "step": state_steps}, group)


adopt(globals())

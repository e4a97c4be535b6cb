"""RAdam: Adam with a rectified variance."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch_dispatch.execute.chain import Chain, are_numbers

from ._one_pass import Due, counted, entering, entering_numbers, lists_of, moments
from ._per_parameter import CapturableOptimizer, step_each, zeros_like_param
from ._values import ascent, check_adam_options, check_capturable, real_views, to_scalar

__all__ = ["RAdam", "radam"]


class RAdam(CapturableOptimizer):
    """Adam that leaves the adaptive scale out until enough steps make its variance tractable.

    >>> parameter = torch.nn.Parameter(torch.tensor([1.0, -2.0]))
    >>> (parameter**2).sum().backward()
    >>> torch.optim.RAdam([parameter], lr=0.5).step()
    >>> parameter.data
    tensor([0., 0.])
    """

    _older_groups: ClassVar[dict[str, Any]] = CapturableOptimizer._older_groups | {"decoupled_weight_decay": False}

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_adam_options(lr, betas, eps, weight_decay)
        defaults: dict[str, Any] = {"lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay}
        defaults |= {"maximize": maximize, "foreach": foreach, "capturable": capturable}
        defaults |= {"decoupled_weight_decay": decoupled_weight_decay, "differentiable": differentiable}
        super().__init__(params, defaults)

    def _create_state(self, param: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        state["step"] = self._counter(0.0, param, group)
        state["exp_avg"] = zeros_like_param(param)
        state["exp_avg_sq"] = zeros_like_param(param)

    def _update_in_one_pass(self, due: Due, group: dict[str, Any]) -> bool:
        return counted(due, lambda count: _passed(due, count + 1, group))

    def _update(self, param: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        check_capturable(group, param)
        step = self._count(state, {"capturable": group["capturable"]})
        (beta1, beta2), lr = group["betas"], to_scalar(group["lr"])
        param, grad, exp_avg, exp_avg_sq = real_views(param, ascent(grad, group), state["exp_avg"], state["exp_avg_sq"])
        if group["weight_decay"] != 0:
            if group["decoupled_weight_decay"]:
                param.mul_(1 - lr * group["weight_decay"])
            else:
                grad = grad.add(param, alpha=group["weight_decay"])
        exp_avg.lerp_(grad, 1 - beta1)
        exp_avg_sq.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        correction1 = 1 - beta1**step
        correction2 = 1 - beta2**step
        corrected = exp_avg / correction1
        longest = 2 / (1 - beta2) - 1
        length = longest - 2 * step * (beta2**step) / correction2
        adaptive = _Adaptive(exp_avg_sq, correction2, group)
        if group["capturable"]:
            scale = torch.where(length > 5.0, adaptive() * _rectification(length, longest), 1.0)
            param.add_(corrected * lr * scale, alpha=-1.0)
        elif length > 5.0:
            param.add_(corrected * lr * adaptive() * _rectification(length, longest), alpha=-1.0)
        else:
            param.add_(corrected * lr, alpha=-1.0)


def _rectification(length: Any, longest: float) -> Any:
    """How far the variance of the adaptive scale is from its limit, as a factor on the step."""
    return ((length - 4) * (length - 2) * longest / ((longest - 4) * (longest - 2) * length)) ** 0.5


class _Adaptive:
    """The adaptive scale, computed only for steps that use it."""

    def __init__(self, exp_avg_sq: Any, correction: Any, group: dict[str, Any]) -> None:
        self.exp_avg_sq = exp_avg_sq
        self.correction = correction
        self.group = group

    def __call__(self) -> Any:
        root = self.exp_avg_sq.sqrt()
        root = root.add(self.group["eps"]) if self.group["differentiable"] else root.add_(self.group["eps"])
        return (self.correction**0.5) / root


@cache
def _in_one_pass(maximize: bool, decays: bool, decoupled: bool, adapts: bool) -> Chain:
    """The steps of `_update`, in their order."""
    steps, grad = entering(maximize, decays, decoupled)
    steps += [
        *moments(grad),
        ("div_number", "corrected", "exp_avg"),
        ("mul_number", "corrected", "corrected"),
    ]
    if adapts:
        steps += [
            ("sqrt", "root", "exp_avg_sq"),
            ("add_number", "root", "root"),
            ("reciprocal", "root", "root"),
            ("mul_number", "root", "root"),
            ("mul", "corrected", "corrected", "root"),
            ("mul_number", "corrected", "corrected"),
        ]
    return Chain("param grad exp_avg exp_avg_sq", *steps, ("add_scaled", "param", "param", "corrected"))


def _passed(due: Due, step: float, group: dict[str, Any]) -> bool:
    """Make the step in one pass over memory; False, with nothing done, where that cannot be."""
    lr, (beta1, beta2), eps, decay = group["lr"], group["betas"], group["eps"], group["weight_decay"]
    if not are_numbers(lr, beta1, beta2, eps, decay):
        return False
    decoupled = bool(group["decoupled_weight_decay"])
    correction2, longest = 1 - beta2**step, 2 / (1 - beta2) - 1
    length = longest - 2 * step * (beta2**step) / correction2
    adapts = length > 5.0
    scale = (eps, correction2**0.5, _rectification(length, longest)) if adapts else ()
    chain = _in_one_pass(bool(group["maximize"]), decay != 0, decoupled, adapts)
    numbers = (*entering_numbers(group), 1 - beta1, beta2, 1 - beta2, 1 - beta1**step, lr, *scale, -1.0)
    return chain.run(lists_of(due, "exp_avg", "exp_avg_sq"), numbers)


def radam(
    params: list[Any],
    grads: list[Any],
    exp_avgs: list[Any],
    exp_avg_sqs: list[Any],
    state_steps: list[Any],
    decoupled_weight_decay: bool = False,
    foreach: bool | None = None,
    differentiable: bool = False,
    capturable: bool = False,
    has_complex: bool = False,
    maximize: bool = False,
    *,
    beta1: float,
    beta2: float,
    lr: float,
    weight_decay: float,
    eps: float,
) -> None:
    """One RAdam step of each parameter, with the state given as lists.

    >>> from torch.optim.radam import radam
    >>> weight, grad, zeros = torch.tensor([1.0, 2.0]), torch.tensor([0.5, -0.5]), torch.zeros(2)
    >>> radam(
    ...     [weight],
    ...     [grad],
    ...     [zeros],
    ...     [zeros.clone()],
    ...     [torch.tensor(0.0)],
    ...     beta1=0.9,
    ...     beta2=0.999,
    ...     lr=0.1,
    ...     weight_decay=0.0,
    ...     eps=1e-8,
    ... )
    >>> weight
    tensor([0.9500, 2.0500])
    """
    group: dict[str, Any] = {"decoupled_weight_decay": decoupled_weight_decay, "foreach": foreach}
    group |= {"differentiable": differentiable, "capturable": capturable, "maximize": maximize, "lr": lr}
    group |= {"weight_decay": weight_decay, "eps": eps, "betas": (beta1, beta2)}
    step_each(RAdam, params, grads, {"exp_avg": exp_avgs, "exp_avg_sq": exp_avg_sqs, "step": state_steps}, group)


adopt(globals())

"""NAdam: Adam with Nesterov momentum."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch_dispatch.execute.chain import Chain, are_numbers

from ._one_pass import Due, common_count, count_all, entering, entering_numbers, lists_of, moments
from ._per_parameter import CapturableOptimizer, step_each, zeros_like_param
from ._values import (
    ascent,
    check_adam_options,
    check_capturable,
    check_not_negative,
    get_value,
    on_device_counters,
    real_views,
    scalar_dtype,
    to_scalar,
)

__all__ = ["NAdam", "nadam"]

_NAMES = ("params, mu_products and state_steps", "params, mu_products, and state_steps")


class NAdam(CapturableOptimizer):
    """Adam whose momentum looks one step ahead, with a momentum that warms up over time.

    >>> parameter = torch.nn.Parameter(torch.tensor([1.0, -2.0]))
    >>> (parameter**2).sum().backward()
    >>> torch.optim.NAdam([parameter], lr=0.5).step()
    >>> parameter.data
    tensor([ 0.4718, -1.4718])
    """

    _older_groups: ClassVar[dict[str, Any]] = CapturableOptimizer._older_groups | {"decoupled_weight_decay": False}
    _counters: ClassVar[tuple[str, ...]] = ("step", "mu_product")

    def __init__(
        self,
        params: Any,
        lr: Any = 2e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        momentum_decay: float = 4e-3,
        decoupled_weight_decay: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_adam_options(lr, betas, eps, weight_decay)
        check_not_negative("momentum_decay value", momentum_decay)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
        }
        super().__init__(params, defaults)

    def _create_state(self, param: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        state["step"] = self._counter(0.0, param, group)
        device = param.device if group["capturable"] else None
        state["mu_product"] = torch.ones((), dtype=scalar_dtype(), device=device)
        state["exp_avg"] = zeros_like_param(param)
        state["exp_avg_sq"] = zeros_like_param(param)

    def _update_in_one_pass(self, due: Due, group: dict[str, Any]) -> bool:
        count, products = common_count(due), {get_value(state["mu_product"]) for _, _, state in due}
        if count is None or len(products) > 1 or not are_numbers(group["betas"][0], group["momentum_decay"]):
            return False
        mu = _momentum(count + 1, group)
        product = get_value(due[0][2]["mu_product"] * mu)
        if not _passed(due, count + 1, product, group):
            return False
        count_all(due)
        for _, _, state in due:
            state["mu_product"] *= mu
        return True

    def _update(self, param: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        check_capturable(group, param, names=_NAMES)
        step = self._count(state, {"capturable": group["capturable"]})
        (beta1, beta2), lr = group["betas"], to_scalar(group["lr"])
        grad = ascent(grad, group)
        grad_in, exp_avg, exp_avg_sq = grad, state["exp_avg"], state["exp_avg_sq"]
        correction2 = 1 - beta2**step
        if group["weight_decay"] != 0:
            if group["decoupled_weight_decay"]:
                param.mul_(1 - lr * group["weight_decay"])
            else:
                grad_in = grad.add(param, alpha=group["weight_decay"])
        param, grad, exp_avg, exp_avg_sq = real_views(param, grad_in, exp_avg, exp_avg_sq)
        mu, mu_next = _momentum(step, group), _momentum(step + 1, group)
        mu_product = state["mu_product"]
        mu_product *= mu
        exp_avg.lerp_(grad, 1 - beta1)
        exp_avg_sq.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
        denominator = exp_avg_sq.div(correction2).sqrt()
        if on_device_counters(group):
            denominator = denominator.add(group["eps"])
            # Factors are multiplied in rather than passed as numbers, so they may be tensors with history.
            param.addcdiv_(grad * (-lr * (1.0 - mu) / (1.0 - mu_product)), denominator)
            param.addcdiv_(exp_avg * (-lr * mu_next / (1.0 - mu_product * mu_next)), denominator)
            return
        product = get_value(mu_product)
        denominator.add_(group["eps"])
        param.addcdiv_(grad, denominator, value=(-lr * (1.0 - mu) / (1.0 - product)))
        param.addcdiv_(exp_avg, denominator, value=(-lr * mu_next) / (1.0 - product * mu_next))


def _momentum(step: Any, group: dict[str, Any]) -> Any:
    """The weight of the running mean at a step."""
    return group["betas"][0] * (1.0 - 0.5 * (0.96 ** (step * group["momentum_decay"])))


@cache
def _in_one_pass(maximize: bool, decays: bool, decoupled: bool) -> Chain:
    """The steps of `_update`, in their order."""
    steps, grad = entering(maximize, decays, decoupled)
    steps += [
        *moments(grad),
        ("div_number", "denominator", "exp_avg_sq"),
        ("sqrt", "denominator", "denominator"),
        ("add_number", "denominator", "denominator"),
        ("addcdiv", "param", "param", grad, "denominator"),
        ("addcdiv", "param", "param", "exp_avg", "denominator"),
    ]
    return Chain("param grad exp_avg exp_avg_sq", *steps)


def _passed(due: Due, step: float, product: float, group: dict[str, Any]) -> bool:
    """Make the step in one pass over memory; False, with nothing done, where that cannot be."""
    lr, (beta1, beta2), eps, decay = group["lr"], group["betas"], group["eps"], group["weight_decay"]
    if not are_numbers(lr, beta1, beta2, eps, decay):
        return False
    decoupled = bool(group["decoupled_weight_decay"])
    mu, mu_next = _momentum(step, group), _momentum(step + 1, group)
    moves = -lr * (1.0 - mu) / (1.0 - product), (-lr * mu_next) / (1.0 - product * mu_next)
    chain = _in_one_pass(bool(group["maximize"]), decay != 0, decoupled)
    numbers = (*entering_numbers(group), 1 - beta1, beta2, 1 - beta2, 1 - beta2**step, eps, *moves)
    return chain.run(lists_of(due, "exp_avg", "exp_avg_sq"), numbers)


def nadam(
    params: list[Any],
    grads: list[Any],
    exp_avgs: list[Any],
    exp_avg_sqs: list[Any],
    mu_products: list[Any],
    state_steps: list[Any],
    decoupled_weight_decay: bool = False,
    foreach: bool | None = None,
    capturable: bool = False,
    differentiable: bool = False,
    has_complex: bool = False,
    maximize: bool = False,
    *,
    beta1: float,
    beta2: float,
    lr: float,
    weight_decay: float,
    momentum_decay: float,
    eps: float,
) -> None:
    """One NAdam step of each parameter, with the state given as lists.

    >>> from torch.optim.nadam import nadam
    >>> weight, grad, zeros = torch.tensor([1.0, 2.0]), torch.tensor([0.5, -0.5]), torch.zeros(2)
    >>> nadam(
    ...     [weight],
    ...     [grad],
    ...     [zeros],
    ...     [zeros.clone()],
    ...     [torch.tensor(1.0)],
    ...     [torch.tensor(0.0)],
    ...     beta1=0.9,
    ...     beta2=0.999,
    ...     lr=0.1,
    ...     weight_decay=0.0,
    ...     momentum_decay=4e-3,
    ...     eps=1e-8,
    ... )
    >>> weight
    tensor([0.8944, 2.1056])
    """
    group: dict[str, Any] = {"decoupled_weight_decay": decoupled_weight_decay, "foreach": foreach}
    group |= {"capturable": capturable, "differentiable": differentiable, "maximize": maximize, "lr": lr}
    group |= {"weight_decay": weight_decay, "momentum_decay": momentum_decay, "eps": eps, "betas": (beta1, beta2)}
    step_each(
        NAdam,
        params,
        grads,
        {"exp_avg": exp_avgs, "exp_avg_sq": exp_avg_sqs, "mu_product": mu_products, "step": state_steps},
        group,
    )


adopt(globals())

"""RMSprop."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar

from mindtorch._naming import adopt
from mindtorch_dispatch.execute.chain import Chain, are_numbers

from ._one_pass import Due, count_all, entering, entering_numbers, lists_of
from ._per_parameter import CapturableOptimizer, step_each, zeros_like_param
from ._values import ascent, check_capturable, check_lr, check_not_negative, real_views, to_scalar

__all__ = ["RMSprop", "rmsprop"]


class RMSprop(CapturableOptimizer):
    """Steps divided by a running root mean square of the gradient, optionally centred, optionally with momentum.

    >>> parameter = torch.nn.Parameter(torch.tensor([1.0, -2.0]))
    >>> (parameter**2).sum().backward()
    >>> torch.optim.RMSprop([parameter], lr=0.5).step()
    >>> parameter.data
    tensor([-4.0000,  3.0000])
    """

    _older_groups: ClassVar[dict[str, Any]] = {"momentum": 0, "centered": False} | CapturableOptimizer._older_groups

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
        defaults: dict[str, Any] = {"lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered}
        defaults |= {"weight_decay": weight_decay, "capturable": capturable, "foreach": foreach, "maximize": maximize}
        defaults |= {"differentiable": differentiable}
        super().__init__(params, defaults)

    def _create_state(self, param: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        state["step"] = self._counter(0.0, param, group)
        state["square_avg"] = zeros_like_param(param)
        if group["momentum"] > 0:
            state["momentum_buffer"] = zeros_like_param(param)
        if group["centered"]:
            state["grad_avg"] = zeros_like_param(param)

    def _update_in_one_pass(self, due: Due, group: dict[str, Any]) -> bool:
        if not _passed(due, group):
            return False
        count_all(due)
        return True

    def _update(self, param: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        check_capturable(group, param, xla="always")
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


@cache
def _in_one_pass(maximize: bool, decays: bool, centered: bool, momentum: bool) -> Chain:
    """The steps of `_update`, in their order."""
    steps, grad = entering(maximize, decays)
    steps.append(("mul_number", "square", "square"))
    steps.append(("addcmul", "square", "square", grad, grad))
    if centered:
        steps.append(("lerp", "mean", "mean", grad))
        steps.append(("addcmul", "root", "square", "mean", "mean"))
        steps.append(("sqrt", "root", "root"))
    else:
        steps.append(("sqrt", "root", "square"))
    steps.append(("add_number", "root", "root"))
    if momentum:
        steps.append(("mul_number", "buffer", "buffer"))
        steps.append(("addcdiv", "buffer", "buffer", grad, "root"))
        steps.append(("add_scaled", "param", "param", "buffer"))
    else:
        steps.append(("addcdiv", "param", "param", grad, "root"))
    return Chain("param grad square" + " mean" * centered + " buffer" * momentum, *steps)


def _passed(due: Due, group: dict[str, Any]) -> bool:
    """Make the step in one pass over memory; False, with nothing done, where that cannot be."""
    lr, alpha, eps, decay, momentum = (group[name] for name in ("lr", "alpha", "eps", "weight_decay", "momentum"))
    if not are_numbers(lr, alpha, eps, decay, momentum):
        return False
    centered, moves = bool(group["centered"]), momentum > 0
    chain = _in_one_pass(bool(group["maximize"]), decay != 0, centered, moves)
    entries = ["square_avg", *["grad_avg"] * centered, *["momentum_buffer"] * moves]
    numbers = [*entering_numbers(group), alpha, 1 - alpha, *[1 - alpha, -1.0] * centered, eps, *[momentum, 1.0] * moves]
    return chain.run(lists_of(due, *entries), (*numbers, -lr))


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
    """One RMSprop step of each parameter, with the state given as lists.

    >>> from torch.optim.rmsprop import rmsprop
    >>> weight, grad = torch.tensor([1.0, 2.0]), torch.tensor([0.5, -0.5])
    >>> rmsprop(
    ...     [weight],
    ...     [grad],
    ...     [torch.zeros(2)],
    ...     [],
    ...     [],
    ...     [torch.tensor(0.0)],
    ...     lr=0.01,
    ...     alpha=0.99,
    ...     eps=1e-8,
    ...     weight_decay=0.0,
    ...     momentum=0.0,
    ...     centered=False,
    ... )
    >>> weight
    tensor([0.9000, 2.1000])
    """
    group: dict[str, Any] = {"foreach": foreach, "maximize": maximize, "differentiable": differentiable}
    group |= {"capturable": capturable, "lr": lr, "alpha": alpha, "eps": eps, "weight_decay": weight_decay}
    group |= {"momentum": momentum, "centered": centered}
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

"""Resilient backpropagation."""

from __future__ import annotations

from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt

from ._per_parameter import CapturableOptimizer, step_each, zeros_like_param
from ._values import ascent, check_capturable, check_lr, check_not_negative, real_views

__all__ = ["Rprop", "rprop"]


class Rprop(CapturableOptimizer):
    """Follows only the sign of the gradient, with a step per element that grows and shrinks with its agreement.

    >>> parameter = torch.nn.Parameter(torch.tensor([1.0, -2.0]))
    >>> (parameter**2).sum().backward()
    >>> torch.optim.Rprop([parameter], lr=0.5).step()
    >>> parameter.data
    tensor([ 0.5000, -1.5000])
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        capturable: bool = False,
        foreach: bool | None = None,
        maximize: bool = False,
        differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        check_not_negative("learning rate", lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        defaults: dict[str, Any] = {"lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach}
        defaults |= {"maximize": maximize, "differentiable": differentiable, "capturable": capturable}
        super().__init__(params, defaults)

    def _create_state(self, param: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        state["step"] = self._counter(0.0, param, group)
        state["prev"] = zeros_like_param(param)
        lr = group["lr"]
        # Both parts of a complex parameter step on their own, so both start from the learning rate.
        fill = complex(lr, lr) if param.dtype.is_complex else lr
        state["step_size"] = torch.full_like(param.grad, fill)

    def _update(self, param: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        check_capturable(group, param, xla="always")
        shrink, grow = group["etas"]
        state["step"] += 1
        grad, previous, param, step_size = real_views(ascent(grad, group), state["prev"], param, state["step_size"])
        sign = grad.mul(previous.clone() if group["differentiable"] else previous).sign()
        if group["capturable"]:
            sign.copy_(torch.where(sign.gt(0), grow, sign))
            sign.copy_(torch.where(sign.lt(0), shrink, sign))
            sign.copy_(torch.where(sign.eq(0), 1, sign))
        else:
            sign[sign.gt(0)] = grow
            sign[sign.lt(0)] = shrink
            sign[sign.eq(0)] = 1
        step_size.mul_(sign).clamp_(*group["step_sizes"])
        # Where the sign flipped the step just shrinks; taking it as zero skips the move and the next comparison.
        grad = grad.clone(memory_format=torch.preserve_format)
        if group["capturable"]:
            grad.copy_(torch.where(sign.eq(shrink), 0, grad))
        else:
            grad[sign.eq(shrink)] = 0
        param.addcmul_(grad.sign(), step_size, value=-1)
        previous.copy_(grad)


def rprop(
    params: list[Any],
    grads: list[Any],
    prevs: list[Any],
    step_sizes: list[Any],
    state_steps: list[Any],
    foreach: bool | None = None,
    capturable: bool = False,
    maximize: bool = False,
    differentiable: bool = False,
    has_complex: bool = False,
    *,
    step_size_min: float,
    step_size_max: float,
    etaminus: float,
    etaplus: float,
) -> None:
    """One Rprop step of each parameter, with the state given as lists.

    >>> from torch.optim.rprop import rprop
    >>> weight, grad, last = torch.tensor([1.0, 2.0]), torch.tensor([0.5, -0.5]), torch.tensor([0.1, 0.1])
    >>> steps = torch.full((2,), 0.1)
    >>> rprop(
    ...     [weight],
    ...     [grad],
    ...     [last],
    ...     [steps],
    ...     [torch.tensor(0.0)],
    ...     step_size_min=1e-6,
    ...     step_size_max=50.0,
    ...     etaminus=0.5,
    ...     etaplus=1.2,
    ... )
    >>> weight, steps
    (tensor([0.8800, 2.0000]), tensor([0.1200, 0.0500]))
    """
    group: dict[str, Any] = {"foreach": foreach, "capturable": capturable, "maximize": maximize}
    group |= {"differentiable": differentiable, "etas": (etaminus, etaplus)}
    group |= {"step_sizes": (step_size_min, step_size_max)}
    step_each(Rprop, params, grads, {"prev": prevs, "step_size": step_sizes, "step": state_steps}, group)


adopt(globals())

"""Stochastic gradient descent."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar

from mindtorch._naming import adopt
from mindtorch_dispatch.execute.chain import Chain, are_numbers

from ._one_pass import Due, entering, entering_numbers, has_passes, lists_of
from ._per_parameter import PerParameterOptimizer
from ._values import ascent, check_fused, check_lr, is_tensor, to_scalar

__all__ = ["SGD", "sgd"]


class SGD(PerParameterOptimizer):
    """Gradient descent with optional momentum (plain or Nesterov) and weight decay.

    >>> parameter = torch.nn.Parameter(torch.tensor([1.0, -2.0]))
    >>> (parameter**2).sum().backward()
    >>> torch.optim.SGD([parameter], lr=0.5).step()
    >>> parameter.data
    tensor([0., 0.])
    """

    _older_groups: ClassVar[dict[str, Any]] = {
        "nesterov": False,
        "maximize": False,
        "foreach": None,
        "differentiable": False,
        "fused": False,
    }

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        momentum: float = 0,
        dampening: float = 0,
        weight_decay: Any = 0,
        nesterov: bool = False,
        *,
        maximize: bool = False,
        foreach: bool | None = None,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_lr(lr)
        # Unlike the other optimizers' checks, torch's let nan pass here.
        for label, value in (("learning rate", lr), ("momentum value", momentum), ("weight_decay value", weight_decay)):
            if value < 0.0:
                raise ValueError(f"Invalid {label}: {value}")
        defaults: dict[str, Any] = {"lr": lr, "momentum": momentum, "dampening": dampening}
        defaults |= {"weight_decay": weight_decay, "nesterov": nesterov, "maximize": maximize, "foreach": foreach}
        defaults |= {"differentiable": differentiable, "fused": fused}
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, defaults)
        check_fused(fused, foreach, differentiable)
        if fused:
            self._step_supports_amp_scaling = True

    def _check_gradient(self, param: Any, grad: Any, group: dict[str, Any]) -> None:
        """Sparse gradients are fine: every operation below accepts them."""

    def _state_of(self, param: Any, group: dict[str, Any]) -> dict[str, Any]:
        """Only momentum needs any; without it nothing is kept, and nothing is saved."""
        return self.state[param] if group["momentum"] != 0 else {}

    def _check_modes(self, group: dict[str, Any], param: Any) -> None:
        """Refuse nothing: torch's SGD leaves ``differentiable`` with ``foreach`` to autograd's own errors."""

    def _update_together(self, due: Due, group: dict[str, Any]) -> bool:
        return has_passes(due) and _passed(due, group)

    def _update(self, param: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        buffer = _update_sgd(param, grad, state.get("momentum_buffer"), group)
        if group["momentum"] != 0:
            state["momentum_buffer"] = buffer


@cache
def _in_one_pass(maximize: bool, decays: bool, momentum: bool, nesterov: bool) -> Chain:
    """The steps of `_update_sgd`, in their order."""
    steps, grad = entering(maximize, decays)
    if momentum:
        steps.append(("mul_number", "buffer", "buffer"))
        steps.append(("add_scaled", "buffer", "buffer", grad))
        if nesterov:
            steps.append(("add_scaled", "ahead", grad, "buffer"))
        grad = "ahead" if nesterov else "buffer"
    steps.append(("add_scaled", "param", "param", grad))
    return Chain("param grad" + " buffer" * momentum, *steps)


def _passed(due: Due, group: dict[str, Any]) -> bool:
    """Make the step in one pass over memory where the device has one; False, with nothing done, where it has not."""
    lr, momentum, decay = group["lr"], group["momentum"], group["weight_decay"]
    if not are_numbers(lr, momentum, decay, group["dampening"]):
        return False
    numbers = [*entering_numbers(group)]
    entries: tuple[str, ...] = ()
    if momentum != 0:
        if any(state.get("momentum_buffer") is None for _, _, state in due):
            return False
        numbers += [momentum, 1 - group["dampening"]] + [momentum] * bool(group["nesterov"])
        entries = ("momentum_buffer",)
    chain = _in_one_pass(bool(group["maximize"]), decay != 0, momentum != 0, bool(group["nesterov"]))
    return chain.run(lists_of(due, *entries), (*numbers, -lr))


def _update_sgd(param: Any, grad: Any, buffer: Any, group: dict[str, Any]) -> Any:
    """One step; returns the momentum buffer, which the first step creates."""
    if _passed(((param, grad, {"momentum_buffer": buffer}),), group):
        return buffer
    grad = ascent(grad, group)
    lr, momentum, weight_decay = to_scalar(group["lr"]), group["momentum"], group["weight_decay"]
    if weight_decay != 0:
        if is_tensor(weight_decay) and weight_decay.requires_grad:
            grad = grad.addcmul_(param.clone(), weight_decay)
        else:
            grad = grad.add(param, alpha=weight_decay)
    if momentum != 0:
        if buffer is None:
            buffer = grad.detach().clone()
        else:
            buffer.mul_(momentum).add_(grad, alpha=1 - group["dampening"])
        grad = grad.add(buffer, alpha=momentum) if group["nesterov"] else buffer
    if is_tensor(lr) and lr.requires_grad:
        param.addcmul_(grad, lr, value=-1)
    else:
        param.add_(grad, alpha=-lr)
    return buffer


def sgd(
    params: list[Any],
    d_p_list: list[Any],
    momentum_buffer_list: list[Any],
    has_sparse_grad: bool = False,
    foreach: bool | None = None,
    fused: bool | None = None,
    grad_scale: Any = None,
    found_inf: Any = None,
    *,
    weight_decay: float,
    momentum: float,
    lr: float,
    dampening: float,
    nesterov: bool,
    maximize: bool,
) -> None:
    """One step of each parameter, with the buffers given (and filled in) as a list.

    >>> from torch.optim.sgd import sgd
    >>> weight, grad = torch.tensor([1.0, 2.0]), torch.tensor([0.5, 0.5])
    >>> sgd(
    ...     [weight],
    ...     [grad],
    ...     [None],
    ...     weight_decay=0.0,
    ...     momentum=0.0,
    ...     lr=0.1,
    ...     dampening=0.0,
    ...     nesterov=False,
    ...     maximize=False,
    ... )
    >>> weight
    tensor([0.9500, 1.9500])
    """
    if grad_scale is not None or found_inf is not None:
        raise AssertionError("Expected grad_scale and found_inf to be None")
    group: dict[str, Any] = {"lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay}
    group |= {"nesterov": nesterov, "maximize": maximize}
    for index, param in enumerate(params):
        buffer = _update_sgd(param, d_p_list[index], momentum_buffer_list[index], group)
        momentum_buffer_list[index] = buffer


adopt(globals())

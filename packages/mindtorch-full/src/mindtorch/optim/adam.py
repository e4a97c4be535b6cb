"""Adam, and the update AdamW shares with it."""

from __future__ import annotations

from functools import cache
from typing import Any, ClassVar

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch_dispatch.decomp.optimizer import adam_pass
from mindtorch_dispatch.execute.chain import Chain, are_numbers
from mindtorch_dispatch.extend.devices import adam_steps

from ._one_pass import Due, counted, entering, entering_numbers, has_passes, lists_of
from ._per_parameter import PerParameterOptimizer, zeros_like_param
from ._values import (
    ascent,
    check_adam_options,
    check_capturable,
    check_fused,
    is_tensor,
    on_device_counters,
    real_views,
    to_scalar,
)

__all__ = ["Adam", "adam"]


class Adam(PerParameterOptimizer):
    """Adam: steps scaled by running means of the gradient and of its square, both corrected for their start.

    >>> parameter = torch.nn.Parameter(torch.tensor([1.0, -2.0]))
    >>> (parameter**2).sum().backward()
    >>> torch.optim.Adam([parameter], lr=0.5).step()
    >>> parameter.data
    tensor([ 0.5000, -1.5000])
    """

    _older_groups: ClassVar[dict[str, Any]] = {
        "amsgrad": False,
        "maximize": False,
        "foreach": None,
        "capturable": False,
        "differentiable": False,
        "decoupled_weight_decay": False,
        "fused": None,
    }
    _sparse_hint = ", please consider SparseAdam instead"

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-3,
        betas: tuple[Any, Any] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0,
        amsgrad: bool = False,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
        capturable: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
        decoupled_weight_decay: bool = False,
    ) -> None:
        if is_tensor(lr) and foreach and not capturable:
            raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
        check_adam_options(lr, betas, eps, weight_decay)
        _check_tensor_betas(betas, foreach, capturable)
        defaults = {
            "lr": lr,
            "betas": betas,
            "eps": eps,
            "weight_decay": weight_decay,
            "amsgrad": amsgrad,
            "maximize": maximize,
            "foreach": foreach,
            "capturable": capturable,
            "differentiable": differentiable,
            "fused": fused,
            "decoupled_weight_decay": decoupled_weight_decay,
        }
        super().__init__(params, defaults)
        check_fused(fused, foreach, differentiable)
        if fused:
            # GradScaler may hand its scale and overflow flag to the step instead of unscaling first.
            self._step_supports_amp_scaling = True

    def _create_state(self, param: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        state["step"] = self._counter(0.0, param, group)
        state["exp_avg"] = zeros_like_param(param)
        state["exp_avg_sq"] = zeros_like_param(param)
        if group["amsgrad"]:
            state["max_exp_avg_sq"] = zeros_like_param(param)

    def _check_modes(self, group: dict[str, Any], param: Any) -> None:
        check_capturable(group, param)
        super()._check_modes(group, param)

    def _update_together(self, due: Due, group: dict[str, Any]) -> bool:
        if group["fused"] and due[0][0].device.type in adam_steps:
            return _fused_step(due, group)
        if on_device_counters(group) or not has_passes(due):
            return False
        run = _fused_pass if group["fused"] else _passed
        return counted(due, lambda count: run(due, count + 1, group))

    def _update(self, param: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        check_capturable(group, param)
        if group["fused"] and param.device.type in adam_steps and _fused_step(((param, grad, state),), group):
            return
        if group["fused"] and _fused_pass(((param, grad, state),), float(state["step"]) + 1, group):
            state["step"] += 1
            return
        _update_adam(self._count, param, grad, state, group)


def _fused_step(due: Due, group: dict[str, Any]) -> bool:
    """Make the step by the device's own kernels; False, with nothing done, where one of the parameters is not for them.

    Weight decay that enters the gradient does so before.
    """
    if any(grad.is_complex() or grad.device != param.device for param, grad, _ in due):
        return False
    decay = group["weight_decay"]
    params, grads, *averages = lists_of(due, *_entries(group))
    if decay != 0 and not group["decoupled_weight_decay"]:
        grads = list(torch._foreach_add(grads, params, alpha=-decay if group["maximize"] else decay))
        decay = 0.0
    options = {
        "lr": float(to_scalar(group["lr"])),
        "betas": tuple(float(to_scalar(beta)) for beta in group["betas"]),
        "weight_decay": decay,
        "eps": group["eps"],
        "maximize": group["maximize"],
    }
    largest = averages[2] if group["amsgrad"] else None
    counts = [state["step"] for _, _, state in due]
    adam_steps[params[0].device.type](params, grads, averages[0], averages[1], largest, counts, options)
    return True


def _entries(group: dict[str, Any]) -> tuple[str, ...]:
    return ("exp_avg", "exp_avg_sq", "max_exp_avg_sq") if group["amsgrad"] else ("exp_avg", "exp_avg_sq")


def _fused_pass(due: Due, step: float, group: dict[str, Any]) -> bool:
    """Make the fused step where the device has it in one pass; False, with nothing done, where it has not.

    The learning rate and the betas may be tensors here: a fused step is not differentiated through.
    """
    if not are_numbers(group["weight_decay"], group["eps"]):
        return False
    lr, betas = float(to_scalar(group["lr"])), [float(to_scalar(beta)) for beta in group["betas"]]
    options = (lr, *betas, group["weight_decay"], group["eps"])
    ways = {"decoupled": bool(group["decoupled_weight_decay"]), "maximize": bool(group["maximize"])}
    return adam_pass(lists_of(due, *_entries(group)), step, options, **ways)


def _check_tensor_betas(betas: tuple[Any, Any], foreach: bool | None, capturable: bool) -> None:
    if is_tensor(betas[0]) != is_tensor(betas[1]):
        raise ValueError("betas must be either both floats or both Tensors")
    for index, beta in enumerate(betas):
        if not is_tensor(beta):
            continue
        if not capturable and foreach:
            raise ValueError(f"betas[{index}] as a Tensor is not supported for capturable=False and foreach=True")
        if beta.numel() != 1:
            raise ValueError(f"Tensor betas[{index}] must be 1-element")


@cache
def _in_one_pass(maximize: bool, decoupled: bool, decays: bool, amsgrad: bool) -> Chain:
    """The steps of `_update_adam` and `_move`, in their order."""
    steps, grad = entering(maximize, decays, decoupled)
    largest = "largest" if amsgrad else "param"
    steps.append(("adam_stepwise", "param", grad, "exp_avg", "exp_avg_sq", largest))
    return Chain("param grad exp_avg exp_avg_sq" + " largest" * amsgrad, *steps)


def _passed(due: Due, step: Any, group: dict[str, Any]) -> bool:
    """Make the step in one pass over memory where the device has one; False, with nothing done, where it has not."""
    lr, (beta1, beta2), decay, eps = group["lr"], group["betas"], group["weight_decay"], group["eps"]
    if not are_numbers(lr, beta1, beta2, decay, eps, step):
        return False
    decoupled = group["decoupled_weight_decay"]
    chain = _in_one_pass(bool(group["maximize"]), bool(decoupled), decay != 0, bool(group["amsgrad"]))
    root_correction, step_size = (1 - beta2**step) ** 0.5, lr / (1 - beta1**step)
    numbers = (*entering_numbers(group), 1 - beta1, beta2, 1 - beta2, root_correction, eps, -step_size)
    return chain.run(lists_of(due, *_entries(group)), numbers)


def _update_adam(count: Any, param: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
    """One Adam step; counting, decay and averages first, then the step along the corrected mean."""
    step = count(state, group)
    if _passed(((param, grad, state),), step, group):
        return
    grad = ascent(grad, group)
    lr, eps = to_scalar(group["lr"]), group["eps"]
    beta1, beta2 = (to_scalar(beta) for beta in group["betas"])
    if group["weight_decay"] != 0:
        if group["decoupled_weight_decay"]:
            param.mul_(1 - lr * group["weight_decay"])
        else:
            grad = _decayed(param, grad, group)
    param_r, grad, exp_avg, exp_avg_sq, largest = real_views(
        param, grad, state["exp_avg"], state["exp_avg_sq"], state.get("max_exp_avg_sq") if group["amsgrad"] else None
    )
    exp_avg.lerp_(grad, 1 - beta1)
    if group["differentiable"] and is_tensor(beta2):
        if beta2.requires_grad:
            exp_avg_sq.lerp_(torch.square(grad), weight=1 - beta2)
        else:
            exp_avg_sq.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
    else:
        exp_avg_sq.mul_(beta2).addcmul_(grad, grad, value=1 - beta2)
    move = _move_on_device if on_device_counters(group) else _move
    move(param_r, exp_avg, exp_avg_sq, largest, step, (lr, beta1, beta2, eps), group)


def _decayed(param: Any, grad: Any, group: dict[str, Any]) -> Any:
    weight_decay = group["weight_decay"]
    if group["differentiable"] and is_tensor(weight_decay) and weight_decay.requires_grad:
        return grad.addcmul_(param.clone(), weight_decay)
    return grad.add(param, alpha=weight_decay)


def _move(
    param: Any,
    exp_avg: Any,
    exp_avg_sq: Any,
    largest: Any,
    step: float,
    options: tuple[Any, ...],
    group: dict[str, Any],
) -> None:
    lr, beta1, beta2, eps = options
    step_size = lr / (1 - beta1**step)
    root_correction = (1 - beta2**step) ** 0.5
    if largest is not None:
        torch.maximum(largest, exp_avg_sq, out=largest)
        denominator = (largest.sqrt() / root_correction).add_(eps)
    else:
        denominator = (exp_avg_sq.sqrt() / root_correction).add_(eps)
    param.addcdiv_(exp_avg, denominator, value=-step_size)


def _move_on_device(
    param: Any, exp_avg: Any, exp_avg_sq: Any, largest: Any, step: Any, options: tuple[Any, ...], group: dict[str, Any]
) -> None:
    """The same step with every number a tensor, so it can be captured or differentiated through."""
    lr, beta1, beta2, eps = options
    differentiable = group["differentiable"]
    if differentiable and is_tensor(beta1) and beta1.requires_grad:
        correction1 = 1 - beta1 ** step.clone()
    else:
        correction1 = 1 - beta1**step
    if differentiable and is_tensor(beta2) and beta2.requires_grad:
        correction2 = 1 - beta2 ** step.clone()
    else:
        correction2 = 1 - beta2**step
    negative_step_size = (lr / correction1).neg()
    root_correction = correction2.sqrt()
    second = exp_avg_sq
    if largest is not None:
        previous = largest.clone() if differentiable else largest
        largest.copy_(torch.maximum(previous, exp_avg_sq))
        second = largest
    # The step size is folded into the denominator: no host number is needed to scale the step.
    denominator = (second.sqrt() / (root_correction * negative_step_size)).add_(eps / negative_step_size)
    if differentiable:
        param.addcdiv_(exp_avg.clone(), denominator)
    else:
        param.addcdiv_(exp_avg, denominator)


def adam(
    params: list[Any],
    grads: list[Any],
    exp_avgs: list[Any],
    exp_avg_sqs: list[Any],
    max_exp_avg_sqs: list[Any],
    state_steps: list[Any],
    foreach: bool | None = None,
    capturable: bool = False,
    differentiable: bool = False,
    fused: bool | None = None,
    grad_scale: Any = None,
    found_inf: Any = None,
    has_complex: bool = False,
    decoupled_weight_decay: bool = False,
    *,
    amsgrad: bool,
    beta1: Any,
    beta2: Any,
    lr: Any,
    weight_decay: float,
    eps: float,
    maximize: bool,
) -> None:
    """One Adam step of each parameter, with the state given as lists.

    >>> from torch.optim.adam import adam
    >>> weight, grad, zeros = torch.tensor([1.0, 2.0]), torch.tensor([0.5, -0.5]), torch.zeros(2)
    >>> adam(
    ...     [weight],
    ...     [grad],
    ...     [zeros],
    ...     [zeros.clone()],
    ...     [],
    ...     [torch.tensor(0.0)],
    ...     amsgrad=False,
    ...     beta1=0.9,
    ...     beta2=0.999,
    ...     lr=0.1,
    ...     weight_decay=0.0,
    ...     eps=1e-8,
    ...     maximize=False,
    ... )
    >>> weight
    tensor([0.9000, 2.1000])
    """
    if grad_scale is not None or found_inf is not None:
        raise RuntimeError("Expected grad_scale and found_inf to be None")
    if not all(is_tensor(step) for step in state_steps):
        raise RuntimeError("API has changed, `state_steps` argument must contain a list of singleton tensors")
    group: dict[str, Any] = {"lr": lr, "betas": (beta1, beta2), "eps": eps, "weight_decay": weight_decay}
    group |= {"amsgrad": amsgrad, "maximize": maximize, "foreach": foreach, "capturable": capturable}
    group |= {"differentiable": differentiable, "fused": fused, "decoupled_weight_decay": decoupled_weight_decay}
    for index, param in enumerate(params):
        state = {"step": state_steps[index], "exp_avg": exp_avgs[index], "exp_avg_sq": exp_avg_sqs[index]}
        if amsgrad:
            state["max_exp_avg_sq"] = max_exp_avg_sqs[index]
        check_capturable(group, param)
        _update_adam(PerParameterOptimizer._count, param, grads[index], state, group)


adopt(globals())

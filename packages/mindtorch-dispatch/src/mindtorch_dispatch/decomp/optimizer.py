"""Fused optimizer steps over lists of tensors: one pass over memory where the device has it, composed elsewhere.

The step counters are those after the step; the callers count.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from ..call import aten
from ..execute.chain import Chain
from ..meta.checks import expect
from ..typing import Tensor


@cache
def _adam_chain(amsgrad: bool) -> Chain:
    largest = "largest" if amsgrad else "param"
    slots = "param grad exp_avg exp_avg_sq" + " largest" * amsgrad
    return Chain(slots, ("adam", "param", "grad", "exp_avg", "exp_avg_sq", largest))


_ADAGRAD = Chain("param grad sum", ("adagrad", "param", "grad", "sum"))


def adam_pass(
    lists: tuple[list[Any], ...],
    step: float,
    options: tuple[float, float, float, float, float],
    *,
    decoupled: bool,
    maximize: bool,
) -> bool:
    """Make one step of Adam in one pass; False, with nothing done, where there is none for these tensors.

    `lists` are params, grads, exp_avgs, exp_avg_sqs and, for amsgrad, max_exp_avg_sqs; `options` lr, beta1, beta2,
    weight_decay and eps.
    """
    lr, beta1, beta2, decay, eps = options
    entering, kept = (0.0, 1 - lr * decay) if decoupled else (decay, 1.0)
    sizes = (lr / (1 - beta1**step), (1 - beta2**step) ** 0.5, eps)
    numbers = (-1.0 if maximize else 1.0, entering, kept, 1 - beta1, beta2, 1 - beta2, *sizes)
    return _adam_chain(len(lists) == 5).run(lists, numbers)


def _adam_composed(
    tensors: Sequence[Any], step: float, options: tuple[float, ...], *, decoupled: bool, maximize: bool
) -> None:
    lr, beta1, beta2, decay, eps = options
    param, grad, exp_avg, exp_avg_sq, *largest = tensors
    grad = aten.neg(grad) if maximize else grad
    if decay != 0 and decoupled:
        aten.mul_(param, 1 - lr * decay)
    elif decay != 0:
        grad = aten.add(grad, param, alpha=decay)
    aten.lerp_(exp_avg, grad, 1 - beta1)
    aten.addcmul_(aten.mul_(exp_avg_sq, beta2), grad, grad, value=1 - beta2)
    if largest:
        aten.copy_(largest[0], aten.maximum(largest[0], exp_avg_sq))
    root = aten.sqrt(largest[0] if largest else exp_avg_sq)
    denominator = aten.add_(aten.div(root, (1 - beta2**step) ** 0.5), eps)
    aten.addcdiv_(param, exp_avg, denominator, value=-(lr / (1 - beta1**step)))


def _left_out(found_inf: Any) -> bool:
    """Return whether an overflow was found in the gradients, which leaves the step out before anything is checked."""
    return found_inf is not None and float(found_inf) == 1


def _unscale(grads: Sequence[Any], grad_scale: object) -> None:
    if grad_scale is not None:
        for grad in grads:
            aten.div_(grad, grad_scale)


def _check_lengths(count: int, **lists: Sequence[Any]) -> None:
    for name, tensors in lists.items():
        expect(len(tensors) == count, f"{name}.size() == n_tensors")


def adam(decoupled: bool) -> Callable[..., None]:
    """`_fused_adam_`, or `_fused_adamw_` where the decay is `decoupled` from the gradient."""

    def over_lists(
        self: Sequence[Any],
        grads: Sequence[Any],
        exp_avgs: Sequence[Any],
        exp_avg_sqs: Sequence[Any],
        max_exp_avg_sqs: Sequence[Any],
        state_steps: Sequence[Any],
        lr: Tensor | float,
        beta1: float,
        beta2: float,
        weight_decay: float,
        eps: float,
        amsgrad: bool,
        maximize: bool,
        grad_scale: Tensor | None = None,
        found_inf: Tensor | None = None,
    ) -> None:
        if _left_out(found_inf):
            return
        largest = {"max_exp_avg_sqs": max_exp_avg_sqs} if amsgrad else {}
        _check_lengths(len(self), grads=grads, exp_avgs=exp_avgs, exp_avg_sqs=exp_avg_sqs, **largest)
        expect(amsgrad or not max_exp_avg_sqs, "max_exp_avg_sqs.empty()")
        _check_lengths(len(self), state_steps=state_steps)
        _unscale(grads, grad_scale)
        options = (float(lr), beta1, beta2, weight_decay, eps)
        columns = (self, grads, exp_avgs, exp_avg_sqs, *largest.values())
        settings = {"decoupled": decoupled, "maximize": maximize}
        steps = [float(step) for step in state_steps]
        if len(set(steps)) == 1 and adam_pass(tuple(map(list, columns)), steps[0], options, **settings):
            return
        for *tensors, step in zip(*columns, steps, strict=True):
            if not adam_pass(tuple([one] for one in tensors), step, options, **settings):
                _adam_composed(tensors, step, options, **settings)

    return over_lists


def sgd(
    self: Sequence[Any],
    grads: Sequence[Any],
    momentum_buffer_list: Sequence[Any],
    weight_decay: float,
    momentum: float,
    lr: Tensor | float,
    dampening: float,
    nesterov: bool,
    maximize: bool,
    is_first_step: bool,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
) -> None:
    """`_fused_sgd_`: the first step fills the buffers."""
    if _left_out(found_inf):
        return
    _check_lengths(len(self), grads=grads, **({"momentum_buffer_list": momentum_buffer_list} if momentum else {}))
    _unscale(grads, grad_scale)
    for index, (param, grad) in enumerate(zip(self, grads, strict=True)):
        grad = aten.neg(grad) if maximize else grad
        if weight_decay != 0:
            grad = aten.add(grad, param, alpha=weight_decay)
        if momentum != 0:
            buffer = momentum_buffer_list[index]
            if is_first_step:
                aten.copy_(buffer, grad)
            else:
                aten.add_(aten.mul_(buffer, momentum), grad, alpha=1 - dampening)
            grad = aten.add(grad, buffer, alpha=momentum) if nesterov else buffer
        aten.add_(param, grad, alpha=-float(lr))


def adagrad(
    self: Sequence[Any],
    grads: Sequence[Any],
    state_sums: Sequence[Any],
    state_steps: Sequence[Any],
    lr: Tensor | float,
    lr_decay: float,
    weight_decay: float,
    eps: float,
    maximize: bool,
    grad_scale: Tensor | None = None,
    found_inf: Tensor | None = None,
) -> None:
    """`_fused_adagrad_`."""
    if _left_out(found_inf):
        return
    _check_lengths(len(self), grads=grads, state_sums=state_sums, state_steps=state_steps)
    _unscale(grads, grad_scale)
    for param, grad, total, step in zip(self, grads, state_sums, state_steps, strict=True):
        step_size = float(lr) / (1 + (float(step) - 1) * lr_decay)
        if adagrad_pass(([param], [grad], [total]), (step_size, weight_decay, eps), maximize=maximize):
            continue
        grad = aten.neg(grad) if maximize else grad
        if weight_decay != 0:
            grad = aten.add(grad, param, alpha=weight_decay)
        aten.addcmul_(total, grad, grad)
        aten.addcdiv_(param, grad, aten.add_(aten.sqrt(total), eps), value=-step_size)


def adagrad_pass(lists: tuple[list[Any], ...], options: tuple[float, float, float], *, maximize: bool) -> bool:
    """Make one step of Adagrad on params, grads and sums in one pass, with the step size, the decay and eps; False where
    there is none."""
    step_size, decay, eps = options
    return _ADAGRAD.run(lists, (-1.0 if maximize else 1.0, decay, step_size, eps))

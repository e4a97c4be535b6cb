"""Adagrad."""

from __future__ import annotations

from typing import Any, ClassVar

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch_dispatch.decomp.optimizer import adagrad_pass
from mindtorch_dispatch.execute.chain import Chain, are_numbers

from ._one_pass import Due, counted, has_passes, lists_of
from ._per_parameter import PerParameterOptimizer
from ._values import (
    ascent,
    check_fused,
    check_lr,
    check_not_negative,
    get_value,
    is_tensor,
    real_views,
    scalar_dtype,
    to_scalar,
)

__all__ = ["Adagrad", "adagrad"]


class Adagrad(PerParameterOptimizer):
    """Steps divided by the root of the sum of all squared gradients so far.

    >>> parameter = torch.nn.Parameter(torch.tensor([1.0, -2.0]))
    >>> (parameter**2).sum().backward()
    >>> torch.optim.Adagrad([parameter], lr=0.5).step()
    >>> parameter.data
    tensor([ 0.5000, -1.5000])
    """

    _older_groups: ClassVar[dict[str, Any]] = {
        "foreach": None,
        "maximize": False,
        "differentiable": False,
        "fused": None,
    }

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lr_decay: float = 0,
        weight_decay: float = 0,
        initial_accumulator_value: float = 0,
        eps: float = 1e-10,
        foreach: bool | None = None,
        *,
        maximize: bool = False,
        differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        check_lr(lr)
        check_not_negative("learning rate", lr)
        check_not_negative("lr_decay value", lr_decay)
        check_not_negative("weight_decay value", weight_decay)
        check_not_negative("initial_accumulator_value value", initial_accumulator_value)
        check_not_negative("epsilon value", eps)
        defaults: dict[str, Any] = {"lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay}
        defaults |= {"initial_accumulator_value": initial_accumulator_value, "foreach": foreach, "maximize": maximize}
        defaults |= {"differentiable": differentiable, "fused": fused}
        super().__init__(params, defaults)
        check_fused(fused, foreach, differentiable)
        if fused:
            self._need_device_dtype_check_for_fused = True
            self._step_supports_amp_scaling = True
        # The sums exist from the start, so they can be shared between processes before the first step.
        for group in self.param_groups:
            for param in group["params"]:
                self._create_state(param, self.state[param], group)

    def share_memory(self) -> None:
        """Move the sums to shared memory."""
        for group in self.param_groups:
            for param in group["params"]:
                self.state[param]["sum"].share_memory_()

    def _check_gradient(self, param: Any, grad: Any, group: dict[str, Any]) -> None:
        """Sparse gradients are welcome."""

    def _create_state(self, param: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        start = group["initial_accumulator_value"]
        if group["fused"]:
            state["step"] = torch.zeros((), dtype=scalar_dtype(is_fused=True), device=param.device)
        else:
            state["step"] = torch.tensor(0.0, dtype=scalar_dtype())
        fill = complex(start, start) if param.dtype.is_complex else start
        state["sum"] = torch.full_like(param, fill, memory_format=torch.preserve_format)

    def _update_together(self, due: Due, group: dict[str, Any]) -> bool:
        fused = bool(group["fused"])
        if (group["maximize"] and not fused) or not has_passes(due):
            return False
        run = _fused_pass if fused else _passed
        return counted(due, lambda count: run(due, count, group))

    def _update(self, param: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        if group["fused"] and _fused_pass(((param, grad, state),), get_value(state["step"]), group):
            state["step"] += 1
            return
        _update_adagrad(param, ascent(grad, group), state, group)


def _fused_pass(due: Due, count: float, group: dict[str, Any]) -> bool:
    """Make the fused step where the device has it in one pass; False, with nothing done, where it has not."""
    if not are_numbers(group["weight_decay"], group["eps"], group["lr_decay"]):
        return False
    step_size = float(to_scalar(group["lr"])) / (1 + count * group["lr_decay"])
    options = (step_size, group["weight_decay"], group["eps"])
    return adagrad_pass(lists_of(due, "sum"), options, maximize=bool(group["maximize"]))


def _passed(due: Due, count: float, group: dict[str, Any]) -> bool:
    """Make the step in one pass over memory where the device has one; False, with nothing done, where it has not."""
    lr, eps = group["lr"], group["eps"]
    if group["weight_decay"] != 0 or group["differentiable"] or not are_numbers(lr, eps, count, group["lr_decay"]):
        return False
    step_size = lr / (1 + count * group["lr_decay"])
    return _IN_ONE_PASS.run(lists_of(due, "sum"), (1.0, eps, -step_size))


_IN_ONE_PASS = Chain(
    "param grad sum",
    ("addcmul", "sum", "sum", "grad", "grad"),
    ("sqrt", "root", "sum"),
    ("add_number", "root", "root"),
    ("addcdiv", "param", "param", "grad", "root"),
)
"""The steps of `_update_adagrad` without weight decay."""


def _update_adagrad(param: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
    state["step"] += 1
    step = get_value(state["step"])
    if _passed(((param, grad, state),), step - 1, group):
        return
    if group["weight_decay"] != 0:
        if grad.is_sparse:
            raise RuntimeError("weight_decay option is not compatible with sparse gradients")
        grad = grad.add(param, alpha=group["weight_decay"])
    step_size = to_scalar(group["lr"]) / (1 + (step - 1) * group["lr_decay"])
    if grad.is_sparse:
        _update_rows(param, grad, state["sum"], step_size, group["eps"])
        return
    param, grad, total = real_views(param, grad, state["sum"])
    total.addcmul_(grad, grad, value=1)
    root = total.sqrt() + group["eps"] if group["differentiable"] else total.sqrt().add_(group["eps"])
    param.addcdiv_(grad, root, value=-step_size)


def _update_rows(param: Any, grad: Any, total: Any, step_size: Any, eps: float) -> None:
    """Update only the rows a sparse gradient names; their sums read and written through the same pattern."""
    grad = grad.coalesce()  # the update is not linear, so repeated rows must be added up first
    indices, values, size = grad._indices(), grad._values(), grad.size()
    total.add_(torch.sparse_coo_tensor(indices, values.pow(2), size))
    root = total.sparse_mask(grad)._values().sqrt_().add_(eps)
    param.add_(torch.sparse_coo_tensor(indices, values / root, size), alpha=-step_size)


def adagrad(
    params: list[Any],
    grads: list[Any],
    state_sums: list[Any],
    state_steps: list[Any],
    fused: bool | None = None,
    grad_scale: Any = None,
    found_inf: Any = None,
    has_sparse_grad: bool = False,
    foreach: bool | None = None,
    differentiable: bool = False,
    has_complex: bool = False,
    *,
    lr: float,
    weight_decay: float,
    lr_decay: float,
    eps: float,
    maximize: bool,
) -> None:
    """One Adagrad step of each parameter, with the state given as lists.

    >>> from torch.optim.adagrad import adagrad
    >>> weight, grad = torch.tensor([1.0, 2.0]), torch.tensor([0.5, -0.5])
    >>> adagrad(
    ...     [weight],
    ...     [grad],
    ...     [torch.zeros(2)],
    ...     [torch.tensor(0.0)],
    ...     lr=0.1,
    ...     weight_decay=0.0,
    ...     lr_decay=0.0,
    ...     eps=1e-10,
    ...     maximize=False,
    ... )
    >>> weight
    tensor([0.9000, 2.1000])
    """
    if not all(is_tensor(step) for step in state_steps):
        raise RuntimeError("API has changed, `state_steps` argument must contain a list of singleton tensors")
    group: dict[str, Any] = {"lr": lr, "weight_decay": weight_decay, "lr_decay": lr_decay, "eps": eps}
    group |= {"maximize": maximize, "differentiable": differentiable}
    for index, param in enumerate(params):
        state = {"step": state_steps[index], "sum": state_sums[index]}
        _update_adagrad(param, ascent(grads[index], group), state, group)


adopt(globals())

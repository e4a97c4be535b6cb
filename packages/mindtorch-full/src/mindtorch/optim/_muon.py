"""Muon: momentum whose update is made orthogonal."""

from __future__ import annotations

import math
from typing import Any

import mindtorch as torch

from ._per_parameter import PerParameterOptimizer
from ._values import check_lr, to_scalar

__all__ = ["Muon"]

_COEFFICIENTS = (3.4445, -4.775, 2.0315)


class Muon(PerParameterOptimizer):
    """For matrices only: momentum, then a few Newton-Schulz steps towards the nearest orthogonal matrix.

    >>> x = torch.eye(2).requires_grad_()
    >>> optimizer = torch.optim.Muon([x], lr=0.1, weight_decay=0.0)
    >>> x.sum().backward()
    >>> optimizer.step()
    >>> x.shape
    torch.Size([2, 2])
    """

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        weight_decay: float = 0.1,
        momentum: float = 0.95,
        nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = _COEFFICIENTS,
        eps: float = 1e-7,
        ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        check_lr(lr)
        if not 0.0 <= lr:
            raise ValueError(f"Learning rate should be >= 0 but is: {lr}")
        if not 0.0 <= momentum:
            raise ValueError(f"momentum should be >= 0 but is: {momentum}")
        if not 0.0 <= weight_decay:
            raise ValueError(f"weight decay should be >= 0 but is: {weight_decay}")
        if adjust_lr_fn is not None and adjust_lr_fn not in ("original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        defaults: dict[str, Any] = {"lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov}
        defaults |= {"ns_coefficients": ns_coefficients, "eps": eps, "ns_steps": ns_steps}
        defaults |= {"adjust_lr_fn": adjust_lr_fn}
        super().__init__(params, defaults)
        for group in self.param_groups:
            for param in group["params"]:
                if param.ndim != 2:
                    raise ValueError(
                        f"Muon only supports 2D parameters whereas we found a parameter with size: {param.size()}"
                    )

    def _check_gradient(self, param: Any, grad: Any, group: dict[str, Any]) -> None:
        if param.dtype.is_complex:
            raise RuntimeError("Muon does not support complex parameters")
        super()._check_gradient(param, grad, group)

    def _create_state(self, param: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        state["momentum_buffer"] = torch.zeros_like(param.grad, memory_format=torch.preserve_format)

    def _update(self, param: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        buffer, momentum = state["momentum_buffer"], group["momentum"]
        lr = to_scalar(group["lr"])
        buffer.lerp_(grad, 1 - momentum)
        update = grad.lerp(buffer, momentum) if group["nesterov"] else buffer
        update = _orthogonalize(update, group["ns_coefficients"], group["ns_steps"], group["eps"])
        step_size = _adjusted_lr(lr, group["adjust_lr_fn"], param.shape)
        param.mul_(1 - lr * group["weight_decay"])
        param.add_(update, alpha=-step_size)


def _orthogonalize(grad: Any, coefficients: tuple[float, float, float], steps: int, eps: float) -> Any:
    """Move the singular values of ``grad`` towards one with a quintic iteration, in bfloat16."""
    if steps >= 100:
        raise ValueError("Number of steps must be less than 100 for computational efficiency")
    if len(grad.shape) != 2:
        raise ValueError("Input tensor gradient must be a 2D matrix")
    if len(coefficients) != 3:
        raise ValueError("Coefficients must be a tuple of exactly 3 values")
    linear, cubic, quintic = coefficients
    result = grad.bfloat16()
    tall = grad.size(0) > grad.size(1)
    if tall:
        result = result.T  # the Gram matrix is then the smaller of the two
    result.div_(result.norm().clamp(min=eps))
    for _ in range(steps):
        gram = result @ result.T
        gram = torch.addmm(gram, gram, gram, beta=cubic, alpha=quintic)
        result = torch.addmm(result, gram, result, beta=linear)
    return result.T if tall else result


def _adjusted_lr(lr: Any, rule: str | None, shape: Any) -> Any:
    """Scale the learning rate by the shape, so updates of all shapes have comparable size."""
    rows, columns = shape[:2]
    if rule == "match_rms_adamw":
        return lr * (0.2 * math.sqrt(max(rows, columns)))
    return lr * math.sqrt(max(1, rows / columns))

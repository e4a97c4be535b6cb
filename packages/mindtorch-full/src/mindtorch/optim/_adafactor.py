"""Adafactor: second moments kept as one row and one column."""

from __future__ import annotations

from typing import Any

import mindtorch as torch

from ._per_parameter import PerParameterOptimizer
from ._values import ascent, check_lr, scalar_dtype, to_scalar

__all__ = ["Adafactor"]


class Adafactor(PerParameterOptimizer):
    """Adam-like steps relative to the size of the parameter, with factored second moments and update clipping.

    >>> parameter = torch.nn.Parameter(torch.tensor([1.0, -2.0]))
    >>> (parameter**2).sum().backward()
    >>> torch.optim.Adafactor([parameter], lr=0.5).step()
    >>> parameter.data
    tensor([ 0.2094, -1.2094])
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        beta2_decay: float = -0.8,
        eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0,
        weight_decay: float = 0.0,
        *,
        foreach: bool | None = None,
        maximize: bool = False,
    ) -> None:
        check_lr(lr)
        if not 0.0 <= lr:
            raise ValueError(f"Learning rate should be >= 0 but is: {lr}")
        if not 0.0 >= beta2_decay:
            raise ValueError(f"beta2_decay should be <= 0 but is: {beta2_decay}")
        if eps[0] is not None and not 0.0 <= eps[0]:
            raise ValueError(f"epsilon1 should be >= 0 but is: {eps[0]}")
        if not 0.0 <= eps[1]:
            raise ValueError(f"epsilon2 should be >= 0 but is: {eps[1]}")
        if not 1.0 <= d:
            raise ValueError(f"Clipping threshold d should be >= 1 but is: {d}")
        if not 0.0 <= weight_decay:
            raise ValueError(f"weight_decay should be >= 0 but is: {weight_decay}")
        defaults: dict[str, Any] = {"lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d}
        defaults |= {"weight_decay": weight_decay, "foreach": foreach, "maximize": maximize}
        super().__init__(params, defaults)

    def _check_gradient(self, param: Any, grad: Any, group: dict[str, Any]) -> None:
        if param.dtype.is_complex:
            raise RuntimeError("Adafactor does not support complex parameters")
        super()._check_gradient(param, grad, group)

    def _create_state(self, param: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        grad = param.grad
        state["step"] = torch.tensor(0.0, dtype=scalar_dtype())
        if grad.dim() > 1:
            # Zeros rather than empty: lerp from an uninitialised value could start from a NaN.
            row_shape, column_shape = list(grad.shape), list(grad.shape)
            row_shape[-1] = 1
            column_shape[-2] = 1
            state["row_var"] = grad.new_zeros(row_shape)
            state["col_var"] = grad.new_zeros(column_shape)
        else:
            state["variance"] = torch.zeros_like(grad, memory_format=torch.preserve_format)

    def _update(self, param: Any, grad: Any, state: dict[str, Any], group: dict[str, Any]) -> None:
        grad = ascent(grad, group)
        lr, (eps1, eps2) = to_scalar(group["lr"]), group["eps"]
        if eps1 is None:
            eps1 = torch.finfo(param.dtype).eps
        state["step"] += 1
        step = state["step"].item()
        weight = step ** group["beta2_decay"]
        rate = min(lr, 1 / (step**0.5))
        size = max(eps2, param.norm(2).item() / (param.numel() ** 0.5)) * rate
        if group["weight_decay"] != 0:
            param.mul_(1 - lr * group["weight_decay"])
        variance = _estimate_variance(grad, state, weight, eps1)
        update = variance.clamp_(min=eps1 * eps1).rsqrt_()
        update.mul_(grad)
        clip = max(1.0, update.norm(2).item() / ((update.numel() ** 0.5) * group["d"]))
        param.add_(update, alpha=-size / clip)


def _estimate_variance(grad: Any, state: dict[str, Any], weight: float, eps1: float) -> Any:
    """The running mean of squared gradients: an outer product for matrices, elementwise for vectors."""
    if grad.dim() <= 1:
        state["variance"].lerp_(grad * grad, weight)
        return state["variance"].clone()
    rows, columns = state["row_var"], state["col_var"]
    rows.lerp_(torch.linalg.vector_norm(grad, dim=-1, keepdim=True).square_().div_(grad.size(-1)), weight)
    columns.lerp_(torch.linalg.vector_norm(grad, dim=-2, keepdim=True).square_().div_(grad.size(-2)), weight)
    estimate = rows @ columns
    return estimate.div_(rows.mean(dim=-2, keepdim=True).clamp_(min=eps1))

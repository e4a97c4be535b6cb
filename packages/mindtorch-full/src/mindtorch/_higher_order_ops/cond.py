"""`torch.cond`: one of two functions, chosen by a tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mindtorch as torch
from mindtorch._C._modes import _TorchDispatchModeKey
from mindtorch._higher_order_ops.operator import HigherOrderOperator
from mindtorch.autograd.function import Function
from mindtorch.tensor.tensor import Tensor
from mindtorch.utils._python_dispatch import _detect_infra_mode
from mindtorch_storage.lazy_import import LazyModule

_recording = LazyModule("mindtorch._higher_order_ops._recording", "only programs that are traced need it")


class CondOp(HigherOrderOperator):
    """What a graph calls for `torch.cond`; its functions give tuples of tensors."""

    def __init__(self) -> None:
        super().__init__("cond")

    def __call__(self, pred: Any, true_fn: Any, false_fn: Any, operands: Any) -> Any:
        """Return what `torch.cond` does; all the operands get gradients, zeros where the function does not use them."""
        made = cond(pred, true_fn, false_fn, operands)
        if _detect_infra_mode(_TorchDispatchModeKey.PROXY) is not None or not torch.is_grad_enabled():
            return made
        return CondAutogradOp.apply(len(made), *made, *operands)


class CondAutogradOp(Function):
    """Hands the results of a function on, and gradients of zeros to what the other function would have used."""

    @staticmethod
    def forward(ctx: Any, count: int, *values: Any) -> Any:
        """Return the results, the first of the values."""
        ctx.count = count
        ctx.operands = [(one.shape, one.dtype, one.device) for one in values[count:]]
        return tuple(one.view_as(one) for one in values[:count])

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Return the gradients of the results as they are."""
        needed = ctx.needs_input_grad[1 + ctx.count :]
        rest = [
            torch.zeros(shape, dtype=dtype, device=device) if one else None
            for one, (shape, dtype, device) in zip(needed, ctx.operands, strict=True)
        ]
        return (None, *grads, *rest)


cond_op = CondOp()


def cond(
    pred: bool | int | float | Tensor,
    true_fn: Callable[..., Any],
    false_fn: Callable[..., Any],
    operands: tuple[Any, ...] | list[Any] = (),
) -> Any:
    """Return what `true_fn` gives for the operands if `pred`, else what `false_fn` gives.

    A program that is traced or exported keeps both, as graphs of their own.

    Raises:
        RuntimeError: `pred` is no number and no tensor of one element.

    >>> torch.cond(torch.tensor(True), lambda x: x.sin(), lambda x: x.cos(), (torch.zeros(2),))
    tensor([0., 0.])
    """
    if not isinstance(pred, bool | int | float | Tensor):
        raise RuntimeError(f"Expected pred to be bool or tensor, but got {pred}.")
    if isinstance(pred, Tensor) and pred.numel() != 1:
        raise RuntimeError(f"Expected pred to be bool or single-element tensor, but got {pred}.")
    mode = _detect_infra_mode(_TorchDispatchModeKey.PROXY)
    if mode is not None and isinstance(pred, Tensor) and mode.tracer.unwrap_proxy(pred) is not pred:
        return _recording.record_cond(mode, cond_op, pred, true_fn, false_fn, operands)
    return true_fn(*operands) if pred else false_fn(*operands)


CondOp.__module__ = CondAutogradOp.__module__ = "torch._higher_order_ops.cond"
cond.__module__ = "torch"

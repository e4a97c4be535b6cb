"""`torch.cond`: one of two functions, chosen by a tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch.tensor.tensor import Tensor


def cond(
    pred: bool | int | float | Tensor,
    true_fn: Callable[..., Any],
    false_fn: Callable[..., Any],
    operands: tuple[Any, ...] | list[Any] = (),
) -> Any:
    """Return what `true_fn` gives for the operands if `pred`, else what `false_fn` gives.

    Raises:
        RuntimeError: `pred` is no number and no tensor of one element.

    >>> torch.cond(torch.tensor(True), lambda x: x.sin(), lambda x: x.cos(), (torch.zeros(2),))
    tensor([0., 0.])
    """
    if not isinstance(pred, bool | int | float | Tensor):
        raise RuntimeError(f"Expected pred to be bool or tensor, but got {pred}.")
    if isinstance(pred, Tensor) and pred.numel() != 1:
        raise RuntimeError(f"Expected pred to be bool or single-element tensor, but got {pred}.")
    return true_fn(*operands) if pred else false_fn(*operands)


cond_op = cond
cond.__module__ = "torch"

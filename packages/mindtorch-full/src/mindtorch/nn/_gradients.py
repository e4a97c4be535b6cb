"""The gradients of parameters, as modules and optimizers reset them."""

from typing import Any


def reset_gradient(param: Any, set_to_none: bool) -> None:
    """Drop the gradient of a parameter that has one or, without ``set_to_none``, cut its history and fill it with zeros."""
    if param.grad is None:
        return
    if set_to_none:
        param.grad = None
        return
    if param.grad.grad_fn is not None:
        param.grad.detach_()
    else:
        param.grad.requires_grad_(False)
    param.grad.zero_()

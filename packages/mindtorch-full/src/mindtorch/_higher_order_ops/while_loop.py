"""`torch._higher_order_ops.while_loop`: a loop as a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch.tensor.tensor import Tensor


def while_loop(cond_fn: Callable[..., Any], body_fn: Callable[..., Any], carried_inputs: Any) -> Any:
    """Return the values after the last run of `body_fn`, which runs on them while `cond_fn` of them is true.

    Raises:
        RuntimeError: a condition that is no boolean and no boolean tensor of one element, or a body that gives something
            else than a tuple of as many values as it takes.
    """
    values = tuple(carried_inputs)
    while True:
        going = cond_fn(*values)
        if isinstance(going, Tensor) and (going.numel() != 1 or str(going.dtype) != "torch.bool"):
            raise RuntimeError(f"cond_fn must return a boolean scalar tensor or a boolean but got {going}")
        if not going:
            return values
        made = body_fn(*values)
        if not isinstance(made, tuple):
            raise RuntimeError(f"body_fn should return a tuple but got {type(made)}")
        if len(made) != len(values):
            raise RuntimeError("body_fn should return the same number of elements as carried_inputs")
        values = made


while_loop.__module__ = "torch._higher_order_ops.while_loop"

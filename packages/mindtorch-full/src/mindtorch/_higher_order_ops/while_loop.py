"""`torch._higher_order_ops.while_loop`: a loop as a function."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch._C._modes import _TorchDispatchModeKey
from mindtorch._higher_order_ops.operator import HigherOrderOperator
from mindtorch.tensor.tensor import Tensor
from mindtorch.utils._python_dispatch import _detect_infra_mode
from mindtorch_storage.lazy_import import LazyModule

_recording = LazyModule("mindtorch._higher_order_ops._recording", "only programs that are traced need it")


class WhileLoopOp(HigherOrderOperator):
    """What a graph calls for a loop; its functions take what the loop carries, and the tensors beside that they use."""

    def __init__(self) -> None:
        super().__init__("while_loop")

    def __call__(self, cond_fn: Any, body_fn: Any, carried_inputs: Any, additional_inputs: Any = ()) -> Any:
        """Return what the loop leaves."""
        return while_loop(
            lambda *carried: cond_fn(*carried, *additional_inputs),
            lambda *carried: body_fn(*carried, *additional_inputs),
            carried_inputs,
        )


while_loop_op = WhileLoopOp()


def while_loop(cond_fn: Callable[..., Any], body_fn: Callable[..., Any], carried_inputs: Any) -> Any:
    """Return the values after the last run of `body_fn`, which runs on them while `cond_fn` of them is true.

    A program that is traced or exported keeps the loop, its functions as graphs of their own.

    Raises:
        RuntimeError: a condition that is no boolean and no boolean tensor of one element, or a body that gives something
            else than a tuple of as many values as it takes.
    """
    values = tuple(carried_inputs)
    mode = _detect_infra_mode(_TorchDispatchModeKey.PROXY)
    if mode is not None:
        return _recording.record_while_loop(mode, while_loop_op, cond_fn, body_fn, values)
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


WhileLoopOp.__module__ = "torch._higher_order_ops.while_loop"
while_loop.__module__ = "torch._higher_order_ops.while_loop"

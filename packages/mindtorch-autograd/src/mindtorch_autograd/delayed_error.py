"""Tensors whose gradient raises: results of `once_differentiable` functions, and of `torch._C._functions.DelayedError`."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

from mindtorch_dispatch.state import state
from mindtorch_storage.tensor_base import TensorBase

from .function_outputs import alias_without_history
from .node import Node
from .views import gradient_edge


def once_differentiable(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate `backward` so that its results cannot be differentiated again.

    >>> torch.autograd.function.once_differentiable(lambda ctx, x: x + 1)(None, torch.ones(1))
    tensor([2.])
    """

    @functools.wraps(fn)
    def wrapper(ctx: object, *args: object) -> Any:
        before = state.mode
        state.mode = before.replace(grad=False)
        try:
            outputs = fn(ctx, *args)
        finally:
            state.mode = before
        if not before.grad or not any(isinstance(arg, TensorBase) and arg._sig.requires_grad for arg in args):
            return outputs
        given = outputs if isinstance(outputs, tuple) else (outputs,)
        marked = not_again(given, [_leaf(one) for one in given], _TWICE)
        return marked if isinstance(outputs, tuple) else marked[0]

    return wrapper


_TWICE = "trying to differentiate twice a function that was marked with @once_differentiable"


class Error(Node):
    """The node of a gradient that cannot be differentiated again; `text` says why."""

    text = _TWICE

    def name(self) -> str:
        """torch's C++ name of the node."""
        return "torch::autograd::Error"

    def apply(self, grads: list[Any]) -> Sequence[Any]:
        raise RuntimeError(self.text)


class DelayedError:
    """A call returns its tensors; a gradient of one of the first `count` raises RuntimeError(text)."""

    __module__ = "torch._C._functions"

    def __init__(self, text: str, count: int) -> None:
        self.text = text
        self.count = count

    def __call__(self, *tensors: Any) -> Any:
        marked = not_again(tensors[: self.count], tensors, self.text) + tensors[self.count :]
        return marked if len(marked) != 1 else marked[0]


def _leaf(value: Any) -> Any:
    """Return a leaf over the bytes of a tensor; other values as they are."""
    if not isinstance(value, TensorBase):
        return value
    made = alias_without_history(value)
    made._sig = made._sig.spec.tracked
    return made


def not_again(tensors: Sequence[Any], inputs: Sequence[Any], text: str) -> tuple[Any, ...]:
    """Return `tensors`, each made by a node that raises `text` and stands on the history of `inputs`."""
    edges = [gradient_edge(one) if isinstance(one, TensorBase) else (None, 0) for one in inputs]
    found = []
    for tensor in tensors:
        if not isinstance(tensor, TensorBase):
            found.append(tensor)
            continue
        marked = alias_without_history(tensor)
        node = Error(edges, (tensor._sig.spec,))
        node.text = text
        marked._grad_fn = node
        marked._sig = marked._sig.spec.tracked
        found.append(marked)
    return tuple(found)

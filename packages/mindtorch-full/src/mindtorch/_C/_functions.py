"""`torch._C._functions`: the classes of graph nodes, by name."""

from __future__ import annotations

from typing import Any

from mindtorch_autograd.delayed_error import DelayedError
from mindtorch_autograd.derivative import derivatives
from mindtorch_autograd.function import Function
from mindtorch_autograd.inplace import CopySlices
from mindtorch_autograd.node import AccumulateGrad
from mindtorch_autograd.node import NotImplementedNode as NotImplemented
from mindtorch_autograd.recorder import node_class
from mindtorch_storage.tensor_base import TensorBase

__all__ = ["AccumulateGrad", "CopySlices", "DelayedError", "NotImplemented", "UndefinedGrad"]


class _Undefined(Function):
    """The inputs themselves; their gradients are undefined, that is None."""

    @staticmethod
    def forward(ctx: object, *inputs: TensorBase) -> Any:
        return inputs if len(inputs) > 1 else inputs[0]

    @staticmethod
    def backward(ctx: object, *grads: TensorBase | None) -> Any:
        return (None,) * len(grads)


class UndefinedGrad:
    """A call returns its arguments; backward through it hands on undefined gradients."""

    def __call__(self, *inputs: TensorBase) -> object:
        return _Undefined.apply(*inputs)


def _names() -> set[str]:
    return {row.node for row in derivatives.values()}


def __getattr__(name: str) -> Any:
    if name.startswith("__") or name not in _names():
        raise AttributeError(f"module 'torch._C._functions' has no attribute {name!r}")
    return node_class(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_names()})

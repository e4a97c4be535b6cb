"""`torch._C._functions`: the classes of graph nodes, by name."""

from __future__ import annotations

from typing import Any

from mindtorch_autograd.derivative import derivatives
from mindtorch_autograd.function import Error as DelayedError
from mindtorch_autograd.inplace import CopySlices
from mindtorch_autograd.node import AccumulateGrad
from mindtorch_autograd.node import NotImplementedNode as NotImplemented
from mindtorch_autograd.recorder import node_class

__all__ = ["AccumulateGrad", "CopySlices", "DelayedError", "NotImplemented"]


def _names() -> set[str]:
    return {row.node for row in derivatives.values()}


def __getattr__(name: str) -> Any:
    if name.startswith("__") or name not in _names():
        raise AttributeError(f"module 'torch._C._functions' has no attribute {name!r}")
    return node_class(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_names()})

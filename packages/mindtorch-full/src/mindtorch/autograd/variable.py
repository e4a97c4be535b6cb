"""`torch.autograd.variable`: the old names of a tensor that takes part in differentiation."""

from __future__ import annotations

import operator
import warnings
from typing import Any, NoReturn

from mindtorch_storage.tensor_base import TensorBase

from .._C._engine import _ImperativeEngine
from ..tensor.tensor import Tensor

__all__ = ["Variable"]


class _VariableMeta(type):
    _execution_engine = _ImperativeEngine()

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, TensorBase)


class Variable(metaclass=_VariableMeta):
    """`Variable(tensor, requires_grad=False)` returns the tensor without history; every tensor is an instance.

    >>> isinstance(torch.ones(1), torch.autograd.Variable)
    True
    """

    __module__ = "torch.autograd.variable"

    def __new__(cls, data: Any = None, requires_grad: bool = False, volatile: bool = False) -> Any:
        """Return `data` as a leaf; `volatile` has had no effect since `torch.no_grad()` took its place."""
        if operator.index(volatile):
            warnings.warn(
                "volatile was removed and now has no effect. Use `with torch.no_grad():` instead.",
                UserWarning,
                stacklevel=2,
            )
            if requires_grad:
                raise ValueError("Variable can't be volatile and require_grad at the same time!")
        if data is not None and not isinstance(data, TensorBase):
            raise TypeError(f"Variable data has to be a tensor, but got {type(data).__name__}")
        made: Any = Tensor() if data is None else data.detach()
        if requires_grad and not (made.dtype.is_floating_point or made.dtype.is_complex):
            raise RuntimeError("Only Tensors of floating point and complex dtype can require gradients")
        return made.requires_grad_(requires_grad)


def variable(*args: Any, **kwargs: Any) -> NoReturn:
    """Raise: this spelling was taken out of torch long ago.

    >>> try:
    ...     torch.autograd.variable([1.0])
    ... except RuntimeError as error:
    ...     print(error)
    torch.autograd.variable(...) is deprecated, use torch.tensor(...) instead
    """
    raise RuntimeError("torch.autograd.variable(...) is deprecated, use torch.tensor(...) instead")


variable.Variable = Variable  # type: ignore[attr-defined]  # the function hides this module, and programs write its path

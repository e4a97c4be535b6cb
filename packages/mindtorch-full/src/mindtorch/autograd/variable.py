"""`torch.autograd.variable`: the old names of a tensor that takes part in differentiation."""

from __future__ import annotations

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
        """Return `data` as a leaf."""
        made = Tensor() if data is None else data.detach()
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

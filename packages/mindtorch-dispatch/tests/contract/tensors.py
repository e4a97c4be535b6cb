"""Tensors for argument tests, made without the operator layers above."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch_storage.device import device
from mindtorch_storage.dtype import from_numpy
from mindtorch_storage.spec import Spec
from mindtorch_storage.tensor_base import TensorBase, make_tensor


class Tensor(TensorBase):
    """A tensor with the few methods that argument conversion calls."""

    __slots__ = ()
    __module__ = "torch"

    def item(self) -> Any:
        """The only element."""
        return self._array.item()

    def __index__(self) -> int:
        return int(self.item())


class Parameter(Tensor):
    """A subclass with the name that torch's messages print for parameters."""

    __slots__ = ()
    __module__ = "torch.nn.parameter"


def tensor(data: Any, requires_grad: bool = False, cls: type[Tensor] = Tensor) -> Tensor:
    """A CPU tensor over `data`."""
    array = np.asarray(data)
    spec = Spec.of(from_numpy(array.dtype), device("cpu"), array.shape)
    return make_tensor(cls, spec.tracked if requires_grad else spec.plain, array, None, 0, [0])

"""`torch.types`, and the symbolic number classes that programs ask `isinstance` of."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from mindtorch_storage.device import device
from mindtorch_storage.dtype import dtype
from mindtorch_storage.size import Size
from mindtorch_storage.tensor_base import TensorBase as Tensor

from ._naming import adopt

__all__ = ["Device", "FileLike", "Number"]

Number = int | float | bool
Device = device | str | int | None
_dtype = dtype
_device = device
_size = Size | list[int] | tuple[int, ...]
FileLike = str | os.PathLike[str] | Any
IntLikeType = int
FloatLikeType = float
BoolLikeType = bool
TensorOrTensors = Tensor | tuple[Tensor, ...]
_TensorOrTensors = Tensor | Sequence[Tensor]


class SymInt:
    """An integer known at trace time only: a size that varies in a program that `torch.export` made.

    >>> isinstance(1, torch.SymInt)
    False
    """

    def __new__(cls, node: Any) -> Any:
        """Return the size that a node of a ragged dimension stands for."""
        wrapped = getattr(node, "wrapped", None)
        return super().__new__(cls) if cls is not SymInt or wrapped is None else wrapped()

    def __init__(self, node: Any) -> None:
        raise NotImplementedError("SymInt: symbolic shapes are not offered")


class SymFloat:
    """As `SymInt`, for floats.

    >>> isinstance(1.0, torch.SymFloat)
    False
    """

    def __init__(self, node: Any) -> None:
        raise NotImplementedError("SymFloat: symbolic shapes are not offered")


class SymBool:
    """As `SymInt`, for bools.

    >>> isinstance(True, torch.SymBool)
    False
    """

    def __init__(self, node: Any) -> None:
        raise NotImplementedError("SymBool: symbolic shapes are not offered")


for _class in (SymInt, SymFloat, SymBool):
    _class.__module__ = "torch"
adopt(globals())

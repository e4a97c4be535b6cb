"""Types of what goes through calls, for annotations in this layer and those above it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

import numpy as np

from mindtorch_storage.tensor_base import TensorBase
from mindtorch_storage.typing import Scalar

__all__ = ["Array", "Ints", "Scalar", "Tensor", "TensorOrScalar"]


class Array(Protocol):
    """What stands for a tensor's elements in kernels: numpy's array, or that of a backend's device."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents."""

    @property
    def strides(self) -> tuple[int, ...]:
        """Strides in bytes."""

    @property
    def size(self) -> int:
        """Number of elements."""

    @property
    def ndim(self) -> int:
        """Number of dimensions."""

    @property
    def dtype(self) -> np.dtype[Any]:
        """Numpy's element type."""

    @property
    def base(self) -> Any:
        """What the memory belongs to; None where that is this array alone."""

    def astype(self, dtype: Any, *, copy: bool = True) -> Any:
        """Return the elements converted."""


if TYPE_CHECKING:

    class Tensor(TensorBase):
        """A tensor with what the op table binds to the class of tensors: operators and methods.

        Composites, meta rules and derivatives are written against it. At run time it is `TensorBase`; the class that is
        bound is the torch surface's.
        """

        @property
        def ndim(self) -> int: ...
        @property
        def requires_grad(self) -> bool: ...
        def dim(self) -> int: ...
        def numel(self) -> int: ...
        def __getattr__(self, name: str, /) -> Any: ...
        def __getitem__(self, index: object, /) -> Tensor: ...
        def __len__(self) -> int: ...
        def __neg__(self) -> Tensor: ...
        def __invert__(self) -> Tensor: ...
        def __abs__(self) -> Tensor: ...
        def __add__(self, other: TensorOrScalar, /) -> Tensor: ...
        def __radd__(self, other: TensorOrScalar, /) -> Tensor: ...
        def __sub__(self, other: TensorOrScalar, /) -> Tensor: ...
        def __rsub__(self, other: TensorOrScalar, /) -> Tensor: ...
        def __mul__(self, other: TensorOrScalar, /) -> Tensor: ...
        def __rmul__(self, other: TensorOrScalar, /) -> Tensor: ...
        def __truediv__(self, other: TensorOrScalar, /) -> Tensor: ...
        def __rtruediv__(self, other: TensorOrScalar, /) -> Tensor: ...
        def __floordiv__(self, other: TensorOrScalar, /) -> Tensor: ...
        def __mod__(self, other: TensorOrScalar, /) -> Tensor: ...
        def __pow__(self, other: TensorOrScalar, /) -> Tensor: ...
        def __rpow__(self, other: TensorOrScalar, /) -> Tensor: ...
        def __matmul__(self, other: Tensor, /) -> Tensor: ...
        def __and__(self, other: TensorOrScalar, /) -> Tensor: ...
        def __or__(self, other: TensorOrScalar, /) -> Tensor: ...
        def __xor__(self, other: TensorOrScalar, /) -> Tensor: ...
        def __lt__(self, other: TensorOrScalar, /) -> Tensor: ...
        def __le__(self, other: TensorOrScalar, /) -> Tensor: ...
        def __gt__(self, other: TensorOrScalar, /) -> Tensor: ...
        def __ge__(self, other: TensorOrScalar, /) -> Tensor: ...
        def __eq__(self, other: TensorOrScalar, /) -> Tensor: ...  # type: ignore[override]
        def __ne__(self, other: TensorOrScalar, /) -> Tensor: ...  # type: ignore[override]

        __hash__ = TensorBase.__hash__

else:
    Tensor = TensorBase

TensorOrScalar: TypeAlias = "Tensor | Scalar"
"""An operand of an operator."""

Ints: TypeAlias = "Sequence[int]"
"""Sizes, strides, dimensions, paddings."""

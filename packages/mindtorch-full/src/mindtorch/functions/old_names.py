"""Older names of functions and types that programs still use."""

from __future__ import annotations

from typing import Any

import mindtorch
from mindtorch_storage.storage import LEGACY_CLASSES

from .._overridable import as_given, make_overridable
from ..cuda._types import SPARSE_TYPES as SPARSE_TYPES_OF_CUDA
from ..cuda._types import TYPES
from ..tensor.legacy import LEGACY_TYPES
from ..tensor.legacy_sparse import SPARSE_TYPES

__all__ = ["Storage", "dsmm", "hsmm", "spmm"]


def dsmm(input: Any, mat2: Any) -> Any:
    """Return the product of two matrices; `torch.mm`.

    >>> i = torch.tensor([[0, 1], [1, 0]])
    >>> torch.dsmm(torch.sparse_coo_tensor(i, torch.tensor([2.0, 3.0]), (2, 2)), torch.eye(2))
    tensor([[0., 2.],
            [3., 0.]])
    """
    return mindtorch.mm(input, mat2)


def hsmm(input: Any, mat2: Any) -> Any:
    """Return the product of two matrices; `torch.mm`."""
    return mindtorch.mm(input, mat2)


dsmm.__module__ = hsmm.__module__ = "torch"
make_overridable(globals(), ("dsmm", "hsmm"), as_given)
spmm = mindtorch.mm


def _cast(name: str, dtype: Any) -> Any:
    def cast(input: Any, non_blocking: bool = False) -> Any:
        return input.to(dtype, non_blocking=non_blocking)

    cast.__name__ = cast.__qualname__ = name
    cast.__doc__ = f"Return the tensor as {dtype}."
    return cast


_cast_Byte = _cast("_cast_Byte", mindtorch.uint8)
_cast_Char = _cast("_cast_Char", mindtorch.int8)
_cast_Double = _cast("_cast_Double", mindtorch.float64)
_cast_Float = _cast("_cast_Float", mindtorch.float32)
_cast_Half = _cast("_cast_Half", mindtorch.float16)
_cast_Int = _cast("_cast_Int", mindtorch.int32)
_cast_Long = _cast("_cast_Long", mindtorch.int64)
_cast_Short = _cast("_cast_Short", mindtorch.int16)
Storage = mindtorch.FloatStorage
_storage_classes = {
    mindtorch.UntypedStorage,
    mindtorch.TypedStorage,
    *LEGACY_CLASSES.values(),
    *(kind for name, kind in TYPES.items() if name.endswith("Storage")),
}
_tensor_classes = {*LEGACY_TYPES.values(), *SPARSE_TYPES.values(), *SPARSE_TYPES_OF_CUDA.values()}
_tensor_classes |= {kind for name, kind in TYPES.items() if name.endswith("Tensor")}

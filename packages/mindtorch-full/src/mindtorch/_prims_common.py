"""`torch._prims_common`: questions about dtypes and tensors that references ask."""

from __future__ import annotations

from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt

__all__ = ["dtype_to_type", "is_boolean_dtype", "is_complex_dtype", "is_float_dtype", "is_integer_dtype"]

TensorLike = torch.Tensor
Number = bool | int | float | complex


def is_boolean_dtype(dtype: Any) -> bool:
    """Return whether a dtype is that of truth values."""
    return dtype is torch.bool


def is_integer_dtype(dtype: Any) -> bool:
    """Return whether a dtype holds whole numbers; truth values count."""
    return not dtype.is_floating_point and not dtype.is_complex


def is_float_dtype(dtype: Any) -> bool:
    """Return whether a dtype holds real floating point numbers."""
    return bool(dtype.is_floating_point)


def is_complex_dtype(dtype: Any) -> bool:
    """Return whether a dtype holds complex numbers."""
    return bool(dtype.is_complex)


def dtype_to_type(dtype: Any) -> type:
    """Return the type of Python's numbers that a dtype holds."""
    if dtype is torch.bool:
        return bool
    if dtype.is_floating_point:
        return float
    return complex if dtype.is_complex else int


def is_contiguous_or_false(a: Any, /) -> bool:
    """Return whether a tensor lies in memory in the order of its elements; its sizes are always known."""
    return bool(a.is_contiguous())


adopt(globals())

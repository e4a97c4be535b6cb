"""`torch._prims_common`: questions about dtypes and tensors that references ask."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch_storage.strides import suggests_channels_last, suggests_channels_last_3d

__all__ = [
    "check",
    "check_all_strides",
    "check_significant_strides",
    "corresponding_complex_dtype",
    "corresponding_real_dtype",
    "dtype_to_type",
    "is_boolean_dtype",
    "is_complex_dtype",
    "is_float_dtype",
    "is_integer_dtype",
    "make_contiguous_strides_for",
    "suggest_memory_format",
]

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


_COMPLEX_OF = {
    torch.float16: torch.complex32,
    torch.bfloat16: torch.complex64,
    torch.float32: torch.complex64,
    torch.float64: torch.complex128,
}
_REAL_OF = {torch.complex32: torch.float16, torch.complex64: torch.float32, torch.complex128: torch.float64}


def corresponding_complex_dtype(dtype: Any) -> Any:
    """Return the complex dtype whose parts a floating point dtype fits in.

    >>> from torch._prims_common import corresponding_complex_dtype
    >>> corresponding_complex_dtype(torch.bfloat16)
    torch.complex64
    """
    return _COMPLEX_OF[dtype]


def corresponding_real_dtype(dtype: Any) -> Any:
    """Return the dtype of the parts of a complex dtype.

    >>> from torch._prims_common import corresponding_real_dtype
    >>> corresponding_real_dtype(torch.complex128)
    torch.float64
    """
    return _REAL_OF[dtype]


def is_contiguous_or_false(a: Any, /) -> bool:
    """Return whether a tensor lies in memory in the order of its elements; its sizes are always known."""
    return bool(a.is_contiguous())


def suggest_memory_format(x: torch.Tensor) -> torch.memory_format:
    """Return the memory format that a tensor of four or five dimensions lies in, torch.contiguous_format for others.

    >>> from torch._prims_common import suggest_memory_format
    >>> suggest_memory_format(torch.ones(2, 3, 4, 4).to(memory_format=torch.channels_last))
    torch.channels_last
    """
    if x.layout is not torch.strided:
        return torch.contiguous_format
    shape, strides = tuple(x.shape), x.stride()
    if suggests_channels_last(shape, strides):
        return torch.channels_last
    return torch.channels_last_3d if suggests_channels_last_3d(shape, strides) else torch.contiguous_format


def make_contiguous_strides_for(shape: Sequence[int], row_major: bool = True) -> tuple[int, ...]:
    """Return the strides of a tensor whose elements lie one after another; without `row_major`, matrices by columns.

    >>> from torch._prims_common import make_contiguous_strides_for
    >>> make_contiguous_strides_for((2, 3, 4))
    (12, 4, 1)
    """
    strides, step = [], 1
    for length in reversed(shape):
        strides.append(step)
        step *= max(length, 1)
    found = tuple(reversed(strides))
    return found if row_major or len(shape) < 2 else (*found[:-2], 1, max(shape[-2], 1))


def check(b: bool, s: Callable[[], str], exc_type: type[Exception] = RuntimeError) -> None:
    """Raise an error unless `b`; `torch._check` and its kin take its place."""
    warnings.warn(
        "`torch._prims_common.check` is deprecated and will be removed in the future. Please use `torch._check*` functions "
        "instead.",
        category=FutureWarning,
        stacklevel=2,
    )
    if not b:
        raise exc_type(s())


def check_all_strides(a: torch.Tensor, b: torch.Tensor, *, only_cuda: bool = True) -> tuple[bool, int | None]:
    """Return whether two tensors have the same strides and, where not, the first dimension that differs.

    Tensors without elements have; so have all that are not on CUDA, if `only_cuda`.
    """
    return _same_strides(a, b, only_cuda, significant=False)


def check_significant_strides(
    a: torch.Tensor, b: torch.Tensor, *, only_cuda: bool = True, allow_rhs_unbacked: bool = False
) -> tuple[bool, int | None]:
    """As `check_all_strides`, without the strides of dimensions of one element."""
    return _same_strides(a, b, only_cuda, significant=True)


def _same_strides(a: torch.Tensor, b: torch.Tensor, only_cuda: bool, significant: bool) -> tuple[bool, int | None]:
    if a.numel() == 0 or (only_cuda and a.device.type != "cuda" and b.device.type != "cuda"):
        return True, None
    for dim, (ours, theirs) in enumerate(zip(a.stride(), b.stride(), strict=False)):
        if ours != theirs and not (significant and a.shape[dim] <= 1):
            return False, dim
    return True, None


adopt(globals())

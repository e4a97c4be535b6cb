"""`torch._prims_common`: questions about dtypes and tensors that references ask."""

from __future__ import annotations

import enum
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch._subclasses._fake_errors import MetadataMismatchError
from mindtorch_storage.promotion import number_dtype, result_type
from mindtorch_storage.strides import suggests_channels_last, suggests_channels_last_3d

__all__ = [
    "canonicalize_dim",
    "canonicalize_dims",
    "check",
    "check_all_strides",
    "check_significant_strides",
    "compare_tensor_meta",
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


class ELEMENTWISE_TYPE_PROMOTION_KIND(enum.Enum):
    """In which type an operation on elements computes, and in which it answers, for its operands' common type."""

    DEFAULT = (0,)
    NO_OPMATH = (1,)
    INT_TO_FLOAT = (2,)
    ALWAYS_BOOL = (3,)
    COMPLEX_TO_FLOAT = (4,)
    BOOL_TO_LONG = (5,)


_WIDER = {torch.float16: torch.float32, torch.bfloat16: torch.float32, torch.complex32: torch.complex64}


def get_computation_dtype(dtype: Any) -> Any:
    """Return the type in which numbers of a type are computed with: a wider one for those of 16 bits."""
    return _WIDER.get(dtype, dtype)


def elementwise_dtypes(*_args: Any, type_promotion_kind: ELEMENTWISE_TYPE_PROMOTION_KIND) -> tuple[Any, Any]:
    """Return the type in which an operation computes with its operands, and the type of its result.

    >>> from torch._prims_common import ELEMENTWISE_TYPE_PROMOTION_KIND, elementwise_dtypes
    >>> elementwise_dtypes(torch.ones(2).half(), type_promotion_kind=ELEMENTWISE_TYPE_PROMOTION_KIND.DEFAULT)
    (torch.float32, torch.float16)
    """
    kinds = ELEMENTWISE_TYPE_PROMOTION_KIND
    operands = [arg for arg in _args if arg is not None]
    for operand in operands:
        if not isinstance(operand, (torch.Tensor, bool, int, float, complex)):
            raise ValueError(f"Unexpected type {type(operand)} when computing elementwise type promotion!")
    if not isinstance(type_promotion_kind, kinds):
        raise ValueError(f"Unknown type promotion kind {type_promotion_kind!s}")
    common = _common_dtype(operands)
    result = common
    if type_promotion_kind is kinds.INT_TO_FLOAT and not (common.is_floating_point or common.is_complex):
        result = common = torch.get_default_dtype()
    if type_promotion_kind is kinds.BOOL_TO_LONG and common is torch.bool:
        result = common = torch.int64
    if type_promotion_kind is kinds.ALWAYS_BOOL:
        result = torch.bool
    if type_promotion_kind is kinds.COMPLEX_TO_FLOAT and common.is_complex:
        result = corresponding_real_dtype(common)
    return (common if type_promotion_kind is kinds.NO_OPMATH else get_computation_dtype(common)), result


def _common_dtype(operands: Sequence[Any]) -> Any:
    """Return the type that operands are promoted to; that of no operands is bool."""
    tensors = [one for one in operands if isinstance(one, torch.Tensor)]
    numbers = [
        number_dtype(type(one), torch.get_default_dtype()) for one in operands if not isinstance(one, torch.Tensor)
    ]
    with_dimensions = [one.dtype for one in tensors if one.dim()]
    found = result_type(with_dimensions, [one.dtype for one in tensors if not one.dim()], numbers)
    return torch.bool if found is None else found


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


def canonicalize_dim(rank: int, idx: int, wrap_scalar: bool = True) -> int:
    """Return a dimension counted from the front; torch's IndexError where there is none such."""
    if rank < 0:
        raise IndexError(f"Rank cannot be negative but got {rank}")
    if rank == 0:
        if not wrap_scalar:
            raise IndexError(f"Dimension specified as {idx} but tensor has no dimensions")
        rank = 1
    if not -rank <= idx < rank:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {idx})")
    return idx % rank


def canonicalize_dims(rank: int, indices: Any, wrap_scalar: bool = True) -> Any:
    """Return one dimension or several, counted from the front."""
    if isinstance(indices, int):
        return canonicalize_dim(rank, indices, wrap_scalar)
    return tuple(canonicalize_dim(rank, one, wrap_scalar) for one in indices)


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


def compare_tensor_meta(
    a: torch.Tensor,
    b: torch.Tensor,
    check_sizes: bool = True,
    check_strides: bool = False,
    *,
    allow_rhs_unbacked: bool = False,
    check_conj: bool = True,
) -> None:
    """Raise an error unless two tensors have the same size, dtype and device, and the same strides and bits if asked for.

    >>> from torch._prims_common import compare_tensor_meta
    >>> compare_tensor_meta(torch.ones(2), torch.zeros(2))
    """
    for name, one in (("a", a), ("b", b)):
        if not isinstance(one, TensorLike):
            raise AssertionError(f"{name} must be TensorLike, got {type(one)}")
    if check_sizes and a.shape != b.shape:
        raise MetadataMismatchError(f"Shapes {a.shape} and {b.shape} are not equal!")
    if a.dtype is not b.dtype:
        raise MetadataMismatchError(f"Dtypes {a.dtype} and {b.dtype} are not equal!")
    if a.device != b.device:
        raise MetadataMismatchError(f"Devices {a.device} and {b.device} are not equal!")
    if check_strides:
        same, dim = check_significant_strides(a, b, only_cuda=False)
        if not same:
            raise MetadataMismatchError(
                f"Stride mismatch! Strides are {a.stride()} and {b.stride()} (mismatched at {dim})!"
            )
        if a.storage_offset() != b.storage_offset():
            offsets = f"{a.storage_offset()} and {b.storage_offset()}"
            raise MetadataMismatchError(f"Storage offset mismatch! Storage offsets are {offsets}!")
    if check_conj and a.is_conj() != b.is_conj():
        raise MetadataMismatchError(f"Conj mismatch! is_conj is set to {a.is_conj()} and {b.is_conj()}")
    if a.is_neg() != b.is_neg():
        raise MetadataMismatchError(f"Neg mismatch! is_neg is set to {a.is_neg()} and {b.is_neg()}")


def _same_strides(a: torch.Tensor, b: torch.Tensor, only_cuda: bool, significant: bool) -> tuple[bool, int | None]:
    if a.numel() == 0 or (only_cuda and a.device.type != "cuda" and b.device.type != "cuda"):
        return True, None
    for dim, (ours, theirs) in enumerate(zip(a.stride(), b.stride(), strict=False)):
        if ours != theirs and not (significant and a.shape[dim] <= 1):
            return False, dim
    return True, None


adopt(globals())

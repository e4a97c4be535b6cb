"""Type promotion: the lattice as data, and the category rule for tensors, 0-d tensors and Python numbers."""

from __future__ import annotations

from collections.abc import Iterable

from mindtorch_storage import dtype as types
from mindtorch_storage.dtype import dtype as Dtype

_STANDARD = (
    types.uint8,
    types.int8,
    types.int16,
    types.int32,
    types.int64,
    types.float16,
    types.float32,
    types.float64,
    types.complex32,
    types.complex64,
    types.complex128,
    types.bool,
    types.bfloat16,
)
# Row and column order is that of _STANDARD; abbreviations are those of dtype.abbr.
_LATTICE = """
u8   i16  i16  i32  i64  f16  f32  f64  c32  c64  c128 u8   bf16
i16  i8   i16  i32  i64  f16  f32  f64  c32  c64  c128 i8   bf16
i16  i16  i16  i32  i64  f16  f32  f64  c32  c64  c128 i16  bf16
i32  i32  i32  i32  i64  f16  f32  f64  c32  c64  c128 i32  bf16
i64  i64  i64  i64  i64  f16  f32  f64  c32  c64  c128 i64  bf16
f16  f16  f16  f16  f16  f16  f32  f64  c32  c64  c128 f16  f32
f32  f32  f32  f32  f32  f32  f32  f64  c64  c64  c128 f32  f32
f64  f64  f64  f64  f64  f64  f64  f64  c128 c128 c128 f64  f64
c32  c32  c32  c32  c32  c32  c64  c128 c32  c64  c128 c32  c64
c64  c64  c64  c64  c64  c64  c64  c128 c64  c64  c128 c64  c64
c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128 c128
u8   i8   i16  i32  i64  f16  f32  f64  c32  c64  c128 b8   bf16
bf16 bf16 bf16 bf16 bf16 f32  f32  f64  c64  c64  c128 bf16 bf16
"""
_INTEGRAL = frozenset(
    (types.uint8, types.int8, types.int16, types.int32, types.int64, types.uint16, types.uint32, types.uint64)
)
_BAREBONES_UNSIGNED = frozenset(each for each in types.ALL_DTYPES if each.index in range(27, 37))
_BITS = frozenset(each for each in types.ALL_DTYPES if each.name.startswith("bits"))
_FLOAT8 = frozenset(each for each in types.ALL_DTYPES if each.name.startswith("float8"))


def _lattice() -> dict[tuple[Dtype, Dtype], Dtype]:
    by_abbr = {each.abbr: each for each in _STANDARD}
    rows = [line.split() for line in _LATTICE.strip().splitlines()]
    return {(left, right): by_abbr[rows[i][j]] for i, left in enumerate(_STANDARD) for j, right in enumerate(_STANDARD)}


_PROMOTED = _lattice()


def promote_types(type1: Dtype, type2: Dtype) -> Dtype:
    """The smallest type of the lattice that both types convert to.

    >>> torch.promote_types(torch.int32, torch.float16)
    torch.float16
    """
    found = _PROMOTED.get((type1, type2))
    if found is not None:
        return found
    if type1 is type2:
        return type1
    return _promote_rare(type1, type2)


def _promote_rare(left: Dtype, right: Dtype) -> Dtype:
    pair = f"{left.scalar_name} and {right.scalar_name}"
    if is_quantized(left) or is_quantized(right):
        raise RuntimeError(
            "promoteTypes with quantized numbers is not handled yet; figure out what the correct rules should be, "
            f"offending types: {left.scalar_name} {right.scalar_name}"
        )
    if left in _BITS or right in _BITS:
        raise RuntimeError(f"Promotion from {pair} is unsupported.")
    if left in _FLOAT8 or right in _FLOAT8:
        raise RuntimeError(f"Promotion for Float8 Types is not supported, attempted to promote {pair}")
    if left in _BAREBONES_UNSIGNED or right in _BAREBONES_UNSIGNED:
        if left.is_floating_point:
            return left
        if right.is_floating_point:
            return right
        raise RuntimeError(f"Promotion for uint16, uint32, uint64 types is not supported, attempted to promote {pair}")
    raise RuntimeError(f"Promotion from {pair} is unsupported.")


def is_quantized(dtype: Dtype) -> bool:
    """True for the quantized types."""
    return dtype.index in (12, 13, 14, 16, 17)


def is_integral(dtype: Dtype, *, include_bool: bool) -> bool:
    """True for whole byte integer types, and for bool when asked."""
    return dtype in _INTEGRAL or (include_bool and dtype is types.bool)


def can_cast(from_: Dtype, to: Dtype) -> bool:
    """Whether an in-place op may store a result of type `from_` into a tensor of type `to`.

    >>> torch.can_cast(torch.float64, torch.float32)
    True
    """
    if from_.is_complex and not to.is_complex:
        return False
    if from_.is_floating_point and to in _INTEGRAL:
        return False
    return not (to is types.bool and from_ is not types.bool)


def default_complex(default_dtype: Dtype) -> Dtype:
    """The complex type that goes with the default floating point type."""
    return default_dtype.to_complex()


def number_dtype(kind: type, default_dtype: Dtype) -> Dtype:
    """The type that a Python number takes part in promotion with."""
    if kind is float:
        return default_dtype
    if kind is int:
        return types.int64
    if kind is bool:
        return types.bool
    if kind is complex:
        return default_complex(default_dtype)
    raise TypeError(f"{kind.__name__} is not a Python number type")


def _fold(dtypes: Iterable[Dtype]) -> Dtype | None:
    result: Dtype | None = None
    for each in dtypes:
        result = each if result is None else promote_types(result, each)
    return result


def _combine(higher: Dtype | None, lower: Dtype | None) -> Dtype | None:
    """A lower category changes the result only when it is of a higher kind (bool, integer, floating, complex)."""
    if higher is None or lower is None:
        return lower if higher is None else higher
    if higher.is_complex:
        return higher
    if higher.is_floating_point:
        return higher.to_complex() if lower.is_complex else higher
    if lower.is_complex:
        return lower  # no integer widens it, the unsigned ones that have no promotion included
    if higher is types.bool or lower.is_floating_point:
        return promote_types(higher, lower)
    return higher


def result_type(dim: Iterable[Dtype], zero_dim: Iterable[Dtype] = (), numbers: Iterable[Dtype] = ()) -> Dtype | None:
    """The type of a result over tensors with dimensions, 0-d tensors and Python numbers, in falling priority.

    Python numbers come as `number_dtype(type(value), default_dtype)`. None when there is no operand.
    """
    return _combine(_fold(dim), _combine(_fold(zero_dim), _fold(numbers)))

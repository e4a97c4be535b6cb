"""Functions of each element, with numpy's rules for the types of their operands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mindtorch
from mindtorch import Tensor
from mindtorch._naming import adopt
from mindtorch_storage.dtype import dtype as Dtype

from . import _dtypes_impl, _util
from ._conversions import copied, takes

_WORKS_WITH_NUMBERS = frozenset(
    "add subtract multiply floor_divide true_divide divide remainder bitwise_and bitwise_or bitwise_xor "
    "bitwise_left_shift bitwise_right_shift hypot arctan2 logaddexp logaddexp2 heaviside copysign fmax minimum fmin "
    "maximum fmod gcd lcm pow".split()
)
"""Functions of torch in which a Python number has the other operand's type."""
_FIXED = "order subok signature extobj"
_BINARY = """
add arctan2 bitwise_and bitwise_or bitwise_xor copysign divide float_power floor_divide fmax fmin fmod gcd greater
greater_equal heaviside hypot lcm less less_equal logaddexp logaddexp2 logical_and logical_or logical_xor maximum minimum
multiply nextafter not_equal remainder subtract true_divide left_shift:bitwise_left_shift right_shift:bitwise_right_shift
equal:eq power:pow mod:remainder"""
_UNARY = """
arccos arccosh arcsin arcsinh arctan arctanh bitwise_not ceil cos cosh deg2rad exp exp2 expm1 floor isfinite isinf isnan log
log10 log1p log2 logical_not negative rad2deg reciprocal sign signbit sin sinh sqrt square tan tanh trunc fabs:absolute
invert:bitwise_not conjugate:conj_physical conj:conj_physical radians:deg2rad degrees:rad2deg fix:round rint:round"""
_REAL = frozenset(
    "arccos arccosh arcsin arcsinh arctan arctanh cbrt cos cosh deg2rad degrees exp exp2 expm1 log log10 log1p log2 rad2deg "
    "radians reciprocal sin sinh sqrt square tan tanh trunc".split()
)
"""Functions, by torch's names, whose results for integers are real numbers."""


def _finished(result: Any, out: object, casting: str) -> Any:
    if out is None:
        return result
    return mindtorch.broadcast_to(_util.typecast_tensor(result, out.dtype.torch_dtype, casting), out.shape)


def _of_two(name: str, torch_function: Callable[..., Any]) -> Callable[..., Any]:
    theirs = torch_function.__name__

    @takes("x1~ x2~", fixed=f"where {_FIXED}")
    def function(
        x1: Tensor, x2: Tensor, /, out: object = None, *, where: object = True, casting: str = "same_kind", order: object = "K",
        dtype: Dtype | None = None, subok: object = False, signature: object = None, extobj: object = None,
    ) -> Any:  # fmt: skip
        if dtype is not None:
            x1, x2 = (
                _util.typecast_tensor(x, dtype, casting)
                if isinstance(x, mindtorch.Tensor)
                else mindtorch.as_tensor(x, dtype=dtype)
                for x in (x1, x2)
            )
        elif isinstance(x1, mindtorch.Tensor) and isinstance(x2, mindtorch.Tensor):
            x1, x2 = _util.typecast_tensors((x1, x2), _dtypes_impl.result_type_impl(x1, x2), casting)
        else:
            x1, x2 = _dtypes_impl.nep50_to_tensors(x1, x2, theirs in _WORKS_WITH_NUMBERS, theirs)
        return _finished(torch_function(x1, x2), out, casting)

    function.__name__ = function.__qualname__ = name
    return function


def _of_one(name: str, torch_function: Callable[..., Any]) -> Callable[..., Any]:
    @takes("x", fixed="subok")
    def function(
        x: Tensor, /, out: object = None, *, where: object = True, casting: str = "same_kind", order: object = "K",
        dtype: Dtype | None = None, subok: object = False, signature: object = None, extobj: object = None,
    ) -> Any:  # fmt: skip
        if dtype is not None:
            x = _util.typecast_tensor(x, dtype, casting)
        if name in _REAL:
            x = _util.cast_int_to_float(x)
        return _finished(torch_function(x), out, casting)

    function.__name__ = function.__qualname__ = name
    return function


def product(x: Tensor, y: Tensor) -> Any:
    """The product of matrices, also of booleans and halves."""
    x, y = _util.promoted(x, y)
    work = {mindtorch.bool: mindtorch.uint8, mindtorch.float16: mindtorch.float32}.get(x.dtype, x.dtype)
    result = mindtorch.matmul(_util.cast_if_needed(x, work), _util.cast_if_needed(y, work))
    return _util.cast_if_needed(result, x.dtype)


@takes("x1 x2", fixed=f"{_FIXED} axes axis")
def matmul(
    x1: Tensor, x2: Tensor, /, out: object = None, *, casting: str = "same_kind", order: object = "K", dtype: Dtype | None = None,
    subok: object = False, signature: object = None, extobj: object = None, axes: object = None, axis: Any = None,
) -> Any:  # fmt: skip
    """The product of matrices."""
    dtype = _dtypes_impl.result_type_impl(x1, x2) if dtype is None else dtype
    return _finished(product(*_util.typecast_tensors((x1, x2), dtype, casting)), out, casting)


@takes("x1~ x2~", fixed=f"where {_FIXED}")
def ldexp(
    x1: Tensor, x2: Tensor, /, out: object = None, *, where: object = True, casting: str = "same_kind", order: object = "K",
    dtype: Dtype | None = None, subok: object = False, signature: object = None, extobj: object = None,
) -> Any:  # fmt: skip
    """`x1 * 2 ** x2`, for whole numbers `x2`."""
    if dtype is not None and isinstance(x1, mindtorch.Tensor):
        x1 = _util.typecast_tensor(x1, dtype, casting)
    elif not isinstance(x1, mindtorch.Tensor):
        x1 = mindtorch.as_tensor(x1, dtype=dtype)
        x1 = x1 if dtype is not None else _util.cast_int_to_float(x1)
    x2 = mindtorch.as_tensor(x2)
    if _dtypes_impl.category(x2.dtype) != 1:
        raise ValueError("ldexp 2nd arg must be integer")
    result = mindtorch.ldexp(x1, x2)
    return _finished(result.to(x1.dtype) if x1.dtype == mindtorch.float16 else result, out, casting)


@takes("x1 x2", fixed=f"where {_FIXED}")
def divmod(
    x1: Tensor, x2: Tensor, out1: Any = None, out2: Any = None, /, out: Any = (None, None), *, where: object = True,
    casting: str = "same_kind", order: object = "K", dtype: Dtype | None = None, subok: object = False, signature: object = None,
    extobj: object = None,
) -> Any:  # fmt: skip
    """The floor of a quotient, and what is left."""
    if (out1 is None) != (out2 is None):
        raise ValueError("both out1 and out2 need to be provided")
    if out1 is not None and any(one is not None for one in out):
        raise TypeError("cannot specify 'out' as both a positional and keyword argument")
    places = (out1, out2) if out1 is not None else out
    dtype = _dtypes_impl.result_type_impl(x1, x2) if dtype is None else dtype
    x1, x2 = _util.typecast_tensors((x1, x2), dtype, casting)
    results = tuple(_finished(one, place, casting) for one, place in zip((x1 // x2, x1 % x2), places, strict=True))
    return results if out1 is None else tuple(map(copied, (out1, out2), results))


def modf(x: Tensor, /, *args: Any, **kwds: Any) -> Any:
    """The fractional and the whole part."""
    quotient, rest = divmod(x, 1, *args, **kwds)
    return rest, quotient


def _absolute(x: Tensor) -> Any:
    return x if x.dtype == mindtorch.bool else mindtorch.absolute(x)


def _names(table: str) -> dict[str, Callable[..., Any]]:
    pairs = (word.partition(":") for word in table.split())
    return {name: getattr(mindtorch, theirs or name) for name, _, theirs in pairs}


globals().update((name, _of_two(name, function)) for name, function in _names(_BINARY).items())
globals().update((name, _of_one(name, function)) for name, function in _names(_UNARY).items())
cbrt = _of_one("cbrt", lambda x: mindtorch.pow(x, 1 / 3))
positive = _of_one("positive", mindtorch.positive)
absolute = abs = _of_one("absolute", _absolute)

_binary = [*sorted(_names(_BINARY)), "divmod", "modf", "matmul", "ldexp"]
_unary = sorted([*_names(_UNARY), "abs", "absolute", "cbrt", "positive"])
__all__ = [*_binary, *_unary]

adopt(globals())

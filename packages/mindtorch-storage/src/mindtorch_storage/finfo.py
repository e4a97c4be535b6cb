"""Numeric limits of floating point and integer types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from mindtorch_storage import dtype as types
from mindtorch_storage.dtype import dtype as Dtype

_PYTHON_TYPES: dict[Any, Dtype] = {
    float: types.float64,
    int: types.int64,
    bool: types.bool,
    complex: types.complex128,
}
# (lowest, largest, eps, smallest normal, decimal digits that survive)
_FLOATING: dict[Dtype, tuple[float, float, float, float, int]] = {
    types.float64: (-1.7976931348623157e308, 1.7976931348623157e308, 2.0**-52, 2.0**-1022, 15),
    types.float32: (-3.4028234663852886e38, 3.4028234663852886e38, 2.0**-23, 2.0**-126, 6),
    types.float16: (-65504.0, 65504.0, 2.0**-10, 2.0**-14, 3),
    types.bfloat16: (-3.3895313892515355e38, 3.3895313892515355e38, 2.0**-7, 2.0**-126, 2),
    types.float8_e4m3fn: (-448.0, 448.0, 2.0**-3, 2.0**-6, 0),
    types.float8_e4m3fnuz: (-240.0, 240.0, 2.0**-3, 2.0**-7, 0),
    types.float8_e5m2: (-57344.0, 57344.0, 2.0**-2, 2.0**-14, 0),
    types.float8_e5m2fnuz: (-57344.0, 57344.0, 2.0**-3, 2.0**-15, 0),
    types.float8_e8m0fnu: (2.0**-127, 2.0**127, 1.0, 2.0**-127, 0),
}
_INTEGER = {
    types.uint8: (0, 2**8 - 1),
    types.int8: (-(2**7), 2**7 - 1),
    types.int16: (-(2**15), 2**15 - 1),
    types.int32: (-(2**31), 2**31 - 1),
    types.int64: (-(2**63), 2**63 - 1),
    types.uint16: (0, 2**16 - 1),
    types.uint32: (0, 2**32 - 1),
    types.uint64: (0, 2**64 - 1),
    types.qint8: (-(2**7), 2**7 - 1),
    types.quint8: (0, 2**8 - 1),
    types.qint32: (-(2**31), 2**31 - 1),
    types.quint4x2: (0, 2**8 - 1),
    types.quint2x4: (0, 2**8 - 1),
}
# torch knows the limits of quantized types, but not their names.
_UNNAMED = (types.qint8, types.quint8, types.qint32, types.quint4x2, types.quint2x4)
_MISSING: Any = object()


def _type_name(value: object) -> str:
    kind = type(value)
    return f"torch.{kind.__name__}" if kind.__module__ == "torch" else kind.__name__


class _Limits:
    """What `finfo` and `iinfo` have in common."""

    __slots__ = ("_type", "_values")
    _type: Dtype
    _values: tuple[Any, ...]
    __hash__ = None  # type: ignore[assignment]

    @property
    def bits(self) -> int:
        """The width of a number in bits; of a part, for complex types."""
        return self._type.itemsize * 8

    @property
    def dtype(self) -> str:
        """The name of the type."""
        if not self._values or self._type in _UNNAMED:
            raise NotImplementedError(f"\"dtype\" not implemented for '{self._type.scalar_name}'")
        return self._type.name

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other._type is self._type

    def __setattr__(self, name: str, value: object) -> NoReturn:
        kind = f"torch.{type(self).__name__}"
        if hasattr(type(self), name):
            raise AttributeError(f"attribute '{name}' of '{kind}' objects is not writable")
        raise AttributeError(f"'{kind}' object has no attribute '{name}'")

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"cannot pickle 'torch.{type(self).__name__}' object")


def _argument(function: str, value: Any) -> Dtype:
    converted: Any = _PYTHON_TYPES.get(value, value) if isinstance(value, type) else value
    if not isinstance(converted, Dtype):
        raise TypeError(f"{function}(): argument 'type' (position 1) must be torch.dtype, not {_type_name(value)}")
    found: Dtype = converted
    return found


_default: dict[str, Callable[[], Dtype]] = {"dtype": lambda: types.float32}


def use_default_dtype(get: Callable[[], Dtype]) -> None:
    """Let `finfo()` answer for the dtype that `get` returns."""
    _default["dtype"] = get


class finfo(_Limits):
    """Limits of a floating point type; a complex type answers for its parts.

    >>> torch.finfo(torch.float16).max
    65504.0
    >>> torch.finfo().eps
    1.1920928955078125e-07
    """

    __slots__ = ()
    __module__ = "torch"

    def __init__(self, type: Any = _MISSING) -> None:
        given = _default["dtype"]() if type is _MISSING else _argument("finfo", type)
        if not given.is_floating_point and not given.is_complex:
            raise TypeError(
                "torch.finfo() requires a floating point input type. Use torch.iinfo to handle 'torch.finfo'"
            )
        object.__setattr__(self, "_type", given.to_real())
        object.__setattr__(self, "_values", _FLOATING.get(given.to_real(), ()))

    @property
    def min(self) -> float:
        """The lowest number."""
        low: float = self._limit("lowest")[0]
        return low

    @property
    def max(self) -> float:
        """The largest number."""
        high: float = self._limit("max")[1]
        return high

    @property
    def eps(self) -> float:
        """The gap between 1 and the next number."""
        gap: float = self._limit("epsilon")[2]
        return gap

    @property
    def smallest_normal(self) -> float:
        """The smallest positive number of full precision."""
        small: float = self._limit("min")[3]
        return small

    tiny = smallest_normal

    @property
    def resolution(self) -> float:
        """The decimal precision, as a power of ten."""
        return float(f"1e-{self._limit('digits10')[4]}")

    def _limit(self, what: str) -> tuple[Any, ...]:
        if not self._values:
            raise NotImplementedError(f"\"{what}\" not implemented for '{self._type.scalar_name}'")
        return self._values

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:.6g}, min={self.min:.6g}, max={self.max:.6g}, eps={self.eps:.6g}, "
            f"smallest_normal={self.smallest_normal:.6g}, tiny={self.tiny:.6g}, dtype={self.dtype})"
        )


class iinfo(_Limits):
    """Limits of an integer type.

    >>> torch.iinfo(torch.int8).min, torch.iinfo(torch.int8).max
    (-128, 127)
    """

    __slots__ = ()
    __module__ = "torch"

    def __init__(self, type: Any = _MISSING) -> None:
        if type is _MISSING:
            raise TypeError('iinfo() missing 1 required positional arguments: "type"')
        given = _argument("iinfo", type)
        if given is types.bool:
            raise TypeError("torch.bool is not supported by torch.iinfo")
        if given not in _INTEGER:
            raise TypeError("torch.iinfo() requires an integer input type. Use torch.finfo to handle 'torch.iinfo'")
        object.__setattr__(self, "_type", given)
        object.__setattr__(self, "_values", _INTEGER[given])

    @property
    def min(self) -> int:
        """The smallest number."""
        low: int = self._values[0]
        return low

    @property
    def max(self) -> int:
        """The largest number."""
        high: int = self._values[1]
        return high

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:.6g}, max={self.max:.6g}, dtype={self.dtype})"

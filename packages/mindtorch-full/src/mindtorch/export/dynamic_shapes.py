"""Marks of the dimensions that vary from call to call: what a program says of its shapes before it is exported."""

from __future__ import annotations

import dataclasses
import enum
import sys
from typing import Any

from mindtorch._naming import adopt

__all__ = ["Dim", "dims"]

_LINEAR = "(Only increasing linear operations with integer coefficients are supported.)"


class _IntInfinity(float):
    """The bound of a dimension that has none."""

    def __repr__(self) -> str:
        return "int_oo" if self > 0 else "-int_oo"

    __str__ = __repr__

    def __neg__(self) -> _IntInfinity:
        return _IntInfinity(-float(self))


_int_oo: Any = _IntInfinity("inf")


class _DimHintType(enum.Enum):
    """Who decides whether a dimension varies."""

    AUTO = enum.auto()
    STATIC = enum.auto()
    DYNAMIC = enum.auto()


@dataclasses.dataclass
class _DimHint:
    """That a dimension varies, does not, or may. Called with bounds it gives the same hint with these."""

    type: _DimHintType
    min: int | None = None
    max: int | None = None
    _factory: bool | None = True

    @staticmethod
    def AUTO() -> _DimHint:
        """Return the hint that leaves the choice open."""
        return _DimHint(_DimHintType.AUTO)

    @staticmethod
    def DYNAMIC() -> _DimHint:
        """Return the hint that the dimension varies."""
        return _DimHint(_DimHintType.DYNAMIC)

    @staticmethod
    def STATIC() -> _DimHint:
        """Return the hint that the dimension does not vary."""
        return _DimHint(_DimHintType.STATIC)

    def __call__(self, min: int | None = None, max: int | None = None) -> _DimHint:
        """Return this hint with bounds; TypeError where it has some."""
        if not self._factory:
            raise TypeError(f"'{type(self)}' object is not callable")
        for name, value in (("min", min), ("max", max)):
            if value is not None and value < 0:
                raise AssertionError(f"{name} must be non-negative, got {value}")
        if min is not None and max is not None and min > max:
            raise AssertionError(f"min must be <= max, got min={min}, max={max}")
        return _DimHint(self.type, min=min, max=max, _factory=False)

    def __repr__(self) -> str:
        bounds = [f"{name}={value}" for name, value in (("min", self.min), ("max", self.max)) if value is not None]
        return f"DimHint({', '.join([self.type.name, *bounds])})"


class Dim:
    """A named dimension that varies between `min` and `max`; `2 * Dim("s") + 1` is one that follows it.

    >>> torch.export.Dim("batch", max=64)
    Dim('batch', min=0, max=64)
    >>> torch.export.Dim.AUTO
    DimHint(AUTO)
    """

    AUTO = _DimHint.AUTO()
    DYNAMIC = _DimHint.DYNAMIC()
    STATIC = _DimHint.STATIC()

    min: Any
    max: Any

    def __init__(self, name: str, *, min: int | None = None, max: int | None = None) -> None:
        low, high = 0 if min is None else min, _int_oo if max is None else max
        if not high > low:
            raise AssertionError(f"Cannot create Dim with inconsistent min={min}, max={max}")
        if not name.isidentifier():
            raise AssertionError(f"Dim name must be a valid identifier, got {name}")
        self.__name__ = name
        self.min, self.max = low, high

    def _linear(self) -> tuple[Dim, int, int]:
        """Return the named dimension that this one follows, times what and plus what."""
        return self, 1, 0

    def _derive(self, factor: int, more: int) -> Dim:
        root, times, plus = self._linear()
        return _DerivedDim(root, factor * times, factor * plus + more)

    def __add__(self, other: Any) -> Dim:
        if type(other) is not int:
            raise NotImplementedError(
                f"Attempted to add {other} to {self.__name__}, where an integer was expected. {_LINEAR}"
            )
        return self._derive(1, other)

    def __radd__(self, other: Any) -> Dim:
        return self + other

    def __sub__(self, other: Any) -> Dim:
        if type(other) is not int:
            raise NotImplementedError(
                f"Attempted to subtract {other} from {self.__name__}, where an integer was expected. {_LINEAR}"
            )
        return self._derive(1, -other)

    def __rsub__(self, other: Any) -> Dim:
        raise NotImplementedError(f"Attempted to negate {self.__name__}. {_LINEAR}")

    def __mul__(self, other: Any) -> Dim:
        if type(other) is not int or other <= 0:
            raise NotImplementedError(
                f"Attempted to multiply {other} with {self.__name__}, where a positive integer was expected. {_LINEAR}"
            )
        return self._derive(other, 0)

    def __rmul__(self, other: Any) -> Dim:
        return self * other

    def __repr__(self) -> str:
        # Two is where torch lets a dimension begin that says nothing, and it leaves that out.
        low = "" if self.min == 2 else f", min={self.min}"
        high = "" if self.max == _int_oo else f", max={self.max}"
        return f"Dim('{self.__name__}'{low}{high})"


class _DerivedDim(Dim):
    """A dimension that is an increasing linear function of a named one."""

    def __init__(self, root: Dim, factor: int, more: int) -> None:
        scaled = root.__name__ if factor == 1 else f"{factor}*{root.__name__}"
        self.__name__ = scaled if more == 0 else f"{scaled} {'+' if more > 0 else '-'} {abs(more)}"
        self.root = root
        self._factor, self._more = factor, more

    def fn(self, value: Any) -> Any:
        """Return the value of this dimension where that of the named one is `value`."""
        return self._factor * value + self._more

    def _linear(self) -> tuple[Dim, int, int]:
        return self.root, self._factor, self._more

    @property
    def min(self) -> Any:  # type: ignore[override]
        """The least value; AssertionError where it is negative."""
        value = self.fn(self.root.min)
        self._check(value >= 0, "min", ">= 0")
        return value

    @property
    def max(self) -> Any:  # type: ignore[override]
        """The largest value; AssertionError where it is no machine integer."""
        if self.root.max == _int_oo:
            return _int_oo
        value = self.fn(self.root.max)
        self._check(value <= sys.maxsize - 1, "max", f"<= {sys.maxsize - 1}")
        return value

    def _check(self, holds: bool, which: str, bound: str) -> None:
        if not holds:
            raise AssertionError(
                f"Expected derived {which} value of {self.__name__} to be {bound}. Please specify an appropriate "
                f"{which} value for {self.root.__name__} (currently {getattr(self.root, which)})."
            )

    def __repr__(self) -> str:
        return self.__name__


def dims(*names: str, min: int | None = None, max: int | None = None) -> tuple[Dim, ...]:
    """Return a dimension for each name, all with the same bounds.

    >>> torch.export.dims("height", "width", min=8)
    (Dim('height', min=8), Dim('width', min=8))
    """
    return tuple(Dim(name, min=min, max=max) for name in names)


adopt(globals())

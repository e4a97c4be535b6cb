"""The size of a ragged dimension: a number that is equal to nothing but itself, and prints as `j1`."""

from __future__ import annotations

from typing import Any

from mindtorch._naming import adopt
from mindtorch.types import SymInt
from mindtorch.utils.weak import WeakTensorKeyDictionary

_FIRST = 1 << 32
"""What stands for `j0`. Geometries hold plain ints; one so large is no extent of a tensor, and says which ragged size it is."""

_tensor_symint_registry: Any = WeakTensorKeyDictionary()
_count = [0]


class NestedInt(int, SymInt):
    """The ragged size of number `index`, times `coefficient`."""

    index: int
    coefficient: int

    def __new__(cls, index: int, coefficient: int = 1) -> NestedInt:
        made = int.__new__(cls, (_FIRST + index) * coefficient)
        made.index, made.coefficient = index, coefficient
        return made

    def __init__(self, index: int, coefficient: int = 1) -> None:
        """Nothing is left to do."""

    def __repr__(self) -> str:
        return f"j{self.index}" if self.coefficient == 1 else f"{self.coefficient}*j{self.index}"

    __str__ = __repr__

    def __mul__(self, other: Any) -> Any:
        return NestedInt(self.index, self.coefficient * other) if type(other) is int else int.__mul__(self, other)

    __rmul__ = __mul__

    def __reduce__(self) -> Any:
        return NestedInt, (self.index, self.coefficient)


NestedInt.__name__ = NestedInt.__qualname__ = "SymInt"


def get_tensor_symint(tensor: Any, *, coeff: int = 1) -> NestedInt:
    """Return the ragged size that a tensor of offsets or lengths stands for, the same for the same tensor."""
    found = _tensor_symint_registry.get(tensor)
    if found is None:
        _count[0] += 1
        found = _tensor_symint_registry[tensor] = NestedInt(_count[0])
    return found if coeff == 1 else found * coeff


def is_ragged(extent: Any) -> bool:
    """True for the number of a ragged size, also where its class was lost."""
    return isinstance(extent, int) and extent >= _FIRST


adopt(globals())

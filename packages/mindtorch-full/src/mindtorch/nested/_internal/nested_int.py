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


class NestedIntNode:
    """What a ragged size stands for: the number of the offsets that it belongs to, and how often it is taken.

    >>> torch.SymInt(NestedIntNode(1, 2))
    2*j1
    """

    def __init__(self, t_id: int, coeff: int) -> None:
        self.t_id = t_id
        self.coeff = coeff

    def wrapped(self) -> NestedInt:
        """Return the size itself: what `torch.SymInt` makes of this."""
        return NestedInt(self.t_id, self.coeff)

    def nested_int(self) -> int:
        """Return the number of the offsets."""
        return self.t_id

    def nested_int_coeff(self) -> int:
        """Return how often the size is taken."""
        return self.coeff

    def is_nested_int(self) -> bool:
        """Return True: the size is ragged."""
        return True

    def is_int(self) -> bool:
        """Return True: sizes are integers."""
        return True

    def is_float(self) -> bool:
        """Return False: sizes are integers."""
        return False

    def is_bool(self) -> bool:
        """Return False: sizes are integers."""
        return False

    def is_symbolic(self) -> bool:
        """Return False: there is no expression behind the size."""
        return False

    def is_constant(self) -> bool:
        """Return False: the size is no number."""
        return False

    def maybe_as_int(self) -> None:
        """Return None: the size is no number."""
        return None

    def __str__(self) -> str:
        return str(self.wrapped())


def _is_at_least(one: Any, other: Any) -> bool:
    """Return whether a size is at least another; ValueError where that depends on data.

    A ragged size is taken to be 2 or more, which programs rely on when they ask whether a dimension may be broadcast.
    """
    if isinstance(one, NestedInt) and isinstance(other, NestedInt):
        if one.index == other.index:
            return one.coefficient >= other.coefficient
    elif isinstance(one, NestedInt):
        if other <= 2:
            return True
    elif one < 2:
        return False
    raise ValueError("ge: relation is indeterminate")


class NestedInt(int, SymInt):
    """The ragged size of number `index`, times `coefficient`.

    It is equal to itself alone. Comparisons that would need the lengths raise ValueError.
    """

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

    @property
    def node(self) -> NestedIntNode:
        """What the size stands for."""
        return NestedIntNode(self.index, self.coefficient)

    def __ge__(self, other: Any) -> bool:
        return _is_at_least(self, other) if isinstance(other, int) else NotImplemented

    def __le__(self, other: Any) -> bool:
        return _is_at_least(other, self) if isinstance(other, int) else NotImplemented

    def __lt__(self, other: Any) -> bool:
        return not _is_at_least(self, other) if isinstance(other, int) else NotImplemented

    def __gt__(self, other: Any) -> bool:
        return not _is_at_least(other, self) if isinstance(other, int) else NotImplemented

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
    return isinstance(extent, int) and int.__ge__(extent, _FIRST)


adopt(globals())

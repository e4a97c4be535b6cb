"""`torch.fx.experimental.symbolic_shapes`: questions about sizes. Sizes are numbers here, so each has an answer."""

from __future__ import annotations

import enum
from typing import Any

from mindtorch._naming import adopt
from mindtorch.types import SymInt

__all__ = [
    "free_symbols",
    "guard_or_false",
    "guard_or_true",
    "guard_size_oblivious",
    "has_free_symbols",
    "is_concrete_bool",
    "is_concrete_int",
    "is_nested_int",
    "statically_known_true",
]


class DimDynamic(enum.Enum):
    """How a dimension is to be treated by a tracer whose sizes may be symbols."""

    DYNAMIC = 0
    DUCK = 1
    STATIC = 2
    UNBACKED = 3
    INFER_STRIDE = 4


class GuardOnDataDependentSymNode(RuntimeError):
    """A decision needs the value of data; sizes are known here, so nothing raises it."""


class ConstraintViolationError(RuntimeError):
    """An example, or a program, does not keep what was said of its sizes."""


def guard_or_false(a: Any) -> bool:
    """Return the truth of a statement about sizes; where it cannot be known, False.

    >>> from torch.fx.experimental.symbolic_shapes import guard_or_false
    >>> guard_or_false(3 > 2)
    True
    """
    return bool(a)


def guard_or_true(a: Any) -> bool:
    """Return the truth of a statement about sizes; where it cannot be known, True.

    >>> from torch.fx.experimental.symbolic_shapes import guard_or_true
    >>> guard_or_true(3 > 4)
    False
    """
    return bool(a)


def guard_size_oblivious(expr: Any) -> bool:
    """Return the truth of a statement about sizes.

    >>> from torch.fx.experimental.symbolic_shapes import guard_size_oblivious
    >>> guard_size_oblivious(3 > 2)
    True
    """
    return bool(expr)


def statically_known_true(x: Any) -> bool:
    """Return whether a statement about sizes is known to hold.

    >>> from torch.fx.experimental.symbolic_shapes import statically_known_true
    >>> statically_known_true(3 > 2)
    True
    """
    return bool(x)


def hint_int(a: Any, fallback: int | None = None) -> int:
    """Return the number a size stands for."""
    return int(a)


def is_concrete_int(a: Any) -> bool:
    """Return whether a size is a number: True.

    >>> from torch.fx.experimental.symbolic_shapes import is_concrete_int
    >>> is_concrete_int(3)
    True
    """
    return True


def is_concrete_bool(a: Any) -> bool:
    """Return whether a statement has a value: True.

    >>> from torch.fx.experimental.symbolic_shapes import is_concrete_bool
    >>> is_concrete_bool(True)
    True
    """
    return True


def free_symbols(val: Any) -> set[Any]:
    """Return the unknowns of a value: none."""
    return set()


def free_unbacked_symbols(x: Any) -> set[Any]:
    """Return the unknowns of a value that depend on data: none."""
    return set()


def has_free_symbols(val: Any) -> bool:
    """Return whether a value has unknowns: False.

    >>> from torch.fx.experimental.symbolic_shapes import has_free_symbols
    >>> has_free_symbols(torch.ones(2))
    False
    """
    return False


def is_nested_int(s: Any) -> bool:
    """Return whether a size is that of a ragged dimension.

    >>> from torch.fx.experimental.symbolic_shapes import is_nested_int
    >>> ragged = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged)
    >>> [is_nested_int(size) for size in ragged.shape]
    [False, True]
    """
    return isinstance(s, SymInt) and hasattr(getattr(s, "node", None), "nested_int")


adopt(globals())

"""What stands in `tensor[...]`: numbers, bounds of slices and sequences, told apart as torch does."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch_storage.tensor_base import TensorBase


def type_name(value: Any) -> str:
    """Return a type's name as torch's messages have it: extension types by their module too."""
    kind = type(value)
    return f"numpy.{kind.__name__}" if kind.__module__ == "numpy" else kind.__name__


def bound(value: Any) -> int | None:
    """Return the number that a bound of a slice means, None for none; TypeError for what is no number."""
    if value is None or type(value) is int or (isinstance(value, int) and type(value) is not bool):
        return value
    if isinstance(value, TensorBase):
        return value.__index__()  # type: ignore[attr-defined]
    try:
        return value.__index__()
    except (AttributeError, TypeError):
        raise TypeError("slice indices must be integers or None or have an __index__ method") from None


def is_int(value: Any) -> bool:
    """Return whether a value is an integer of Python or numpy, and no truth value."""
    return type(value) is int or (isinstance(value, (int, np.integer)) and type(value) is not bool)


def position(value: Any) -> int:
    """Return what `__index__` gives; IndexError for an object without one, or whose own fails: torch tells of the object."""
    try:
        return operator.index(value)
    except Exception as error:
        raise IndexError(
            "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got "
            f"{type_name(value)})"
        ) from error


def is_sequence(value: Any) -> bool:
    """Return whether a value lists positions."""
    return isinstance(value, (Sequence, np.ndarray))

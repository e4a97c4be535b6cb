"""What stands in `tensor[...]`: numbers, bounds of slices and sequences, told apart as torch does."""

from __future__ import annotations

import operator
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch_dispatch.frames import frames_to_caller
from mindtorch_storage.tensor_base import TensorBase

SEQUENCE_LIMIT = 32
"""A list this long is one index; a shorter one may stand for a tuple."""
_SEQUENCE_WARNING = (
    "Using a non-tuple sequence for multidimensional indexing is deprecated and will be changed in pytorch 2.9; use "
    "x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be interpreted as tensor index, x[torch.tensor(seq)], which "
    "will result either in an error or a different result"
)


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


def _means_tuple(index: Any) -> bool:
    """True for a list that indexes several dimensions: torch's rule, inherited from an old numpy."""
    if isinstance(index, (np.ndarray, TensorBase, str)) or not isinstance(index, Sequence):
        return False
    if len(index) >= SEQUENCE_LIMIT:
        return False
    return any(
        item is None or item is Ellipsis or isinstance(item, (slice, TensorBase)) or is_sequence(item) for item in index
    )


def as_items(index: Any) -> tuple[Any, ...]:
    """Return the indices of a subscript, one for each dimension; a notice where a list stands for a tuple."""
    if type(index) is tuple or isinstance(index, tuple):
        return tuple(index)
    if not _means_tuple(index):
        return (index,)
    warnings.warn(_SEQUENCE_WARNING, UserWarning, stacklevel=frames_to_caller())
    return tuple(index)

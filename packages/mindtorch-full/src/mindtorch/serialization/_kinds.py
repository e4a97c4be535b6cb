"""What the values in a file have to be: nothing there is taken for what it says it is."""

from __future__ import annotations

import pickle
from typing import Any

from mindtorch_storage.size import Size
from mindtorch_storage.tensor_base import TensorBase


def check(name: str, value: Any, *kinds: type) -> None:
    """Refuse a value whose type is none of these; UnpicklingError."""
    if type(value) not in kinds:
        wanted = " or ".join(kind.__name__ for kind in kinds)
        raise pickle.UnpicklingError(f"expected {name} to be {wanted}, but got {type(value).__name__}")


def check_ints(name: str, values: Any) -> None:
    """Refuse what is no sequence of ints; UnpicklingError."""
    check(name, values, tuple, Size, list)
    for value in values:
        if type(value) is not int:
            raise pickle.UnpicklingError(f"expected {name} to hold int, but got {type(value).__name__}")


def check_tensor(name: str, value: Any) -> None:
    """Refuse what is no tensor; UnpicklingError."""
    if not isinstance(value, TensorBase):
        raise pickle.UnpicklingError(f"expected {name} to be Tensor, but got {type(value).__name__}")

"""The number in a tensor that is given where a number is meant."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch_storage.tensor_base import TensorBase

reader: Callable[[Any], Any] | None = None
"""What reads it while a tracer follows where numbers are from; None otherwise."""


def read_number(value: Any) -> Any:
    """The Python number in a tensor of one element or a numpy number."""
    if reader is not None and isinstance(value, TensorBase):
        return reader(value)
    return value.item()

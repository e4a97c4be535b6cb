"""What a handler of `__torch_dispatch__` may return, by the operator's schema; torch's errors for the rest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_storage.tensor_base import TensorBase

from ..schema.model import Argument


def checked(answer: object, returns: Sequence[Argument]) -> Any:
    """Return a handler's answer as the schema has it: a tensor, a tuple of results, a list of tensors or a value.

    Raises RuntimeError for what cannot be converted.
    """
    if not returns:
        return None
    if len(returns) == 1:
        return _one(answer, returns[0])
    if isinstance(answer, TensorBase) or not isinstance(answer, Sequence):
        raise RuntimeError(f"Object of type '{type(answer).__name__}' is not an instance of 'sequence'")
    made = [_one(item, returned) for item, returned in zip(answer, returns, strict=False)]
    if len(made) < len(returns):
        raise RuntimeError("Expected Tensor but got None")
    return tuple(made)


def _one(value: Any, returned: Argument) -> Any:
    kind = returned.type
    if kind.is_list and kind.kind == "Tensor":
        if not isinstance(value, (list, tuple)):
            raise RuntimeError(_not_converted(value))
        return list(value)
    if kind.kind == "Tensor":
        if value is not None and not isinstance(value, TensorBase):
            raise RuntimeError(f"Unable to cast {value} to Tensor")
        return value
    if kind.kind == "bool" and not kind.is_list:
        if not isinstance(value, (bool, int, type(None))):
            raise RuntimeError(_not_converted(value))
        return bool(value)
    return value


def _not_converted(value: object) -> str:
    return (
        f"Unable to cast Python instance of type {type(value)} to C++ type '?' "
        "(#define PYBIND11_DETAILED_ERROR_MESSAGES or compile in debug mode for details)"
    )

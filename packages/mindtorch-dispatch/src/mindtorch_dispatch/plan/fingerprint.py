"""What one argument contributes to the key of a plan."""

from __future__ import annotations

from typing import Any

from mindtorch_storage.device import device as Device
from mindtorch_storage.tensor_base import TensorBase

from ..execute.arrays import array_types, current, resolve
from ..override import overrides
from .plan import opaque_types, plain_types, wrapping_types


class Unplannable(Exception):
    """An argument that cannot be part of a key: plan this call anew every time."""


def fingerprint(value: Any, depth: int = 32) -> Any:
    """Return the part of a plan key that `value` contributes; Unplannable for lists deeper in each other than `depth`."""
    kind = type(value)
    if kind in plain_types:
        return value._sig
    if kind is list or kind is tuple:
        if not depth:
            raise Unplannable
        return (kind, *[fingerprint(item, depth - 1) for item in value])
    if kind is int or value is None:
        return value
    if kind is str:
        return value if value not in array_types else current(value)
    if kind is float or kind is bool or kind is complex:
        return (kind, value)
    if kind is Device:
        return (kind, resolve(value) if value.type in array_types else value)
    if isinstance(value, tuple) and not overrides.overrides_as_tuple(kind):
        return (tuple, *[fingerprint(item, depth - 1) for item in value])
    if kind in opaque_types:
        return kind
    if kind in wrapping_types:
        return (kind, value._sig)
    if isinstance(value, TensorBase) or kind.__hash__ is None or hasattr(kind, "__torch_function__"):
        raise Unplannable
    return (kind, value)

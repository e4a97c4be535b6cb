"""The tensor that a method is called on."""

from __future__ import annotations

from typing import Any

from mindtorch_storage.tensor_base import TensorBase


def check_receiver(name: str, args: tuple[Any, ...]) -> None:
    """Raise Python's error for a method called through its class, with no tensor as its first argument."""
    if not args:
        raise TypeError(f"unbound method TensorBase.{name}() needs an argument")
    if not isinstance(args[0], TensorBase):
        kind = type(args[0]).__name__
        raise TypeError(f"descriptor '{name}' for 'torch._C.TensorBase' objects doesn't apply to a '{kind}' object")

"""`__torch_function__`: Python overrides of a call, by modes first and then by argument types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from mindtorch_storage.tensor_base import TensorBase

from .state import mode_set, state


def overloaded_arguments(values: Sequence[Any]) -> list[Any]:
    """Return the arguments (lists searched one level) that override, subclasses before their bases."""
    found: list[Any] = []
    types: list[type] = []
    for value in values:
        for item in value if isinstance(value, (list, tuple)) else (value,):
            kind = type(item)
            if kind in types or not _overrides(kind):
                continue
            types.append(kind)
            position = next((i for i, other in enumerate(found) if issubclass(kind, type(other))), len(found))
            found.insert(position, item)
    return found


def _overrides(kind: type) -> bool:
    function = getattr(kind, "__torch_function__", None)
    return function is not None and function is not disabled_torch_function and not _is_base_default(kind)


def _is_base_default(kind: type) -> bool:
    if not issubclass(kind, TensorBase):
        return False
    for owner in kind.__mro__:
        if "__torch_function__" in owner.__dict__:
            return owner is default_owner[0] and kind in default_plain
    return True


DISABLED = object()
"""As the innermost function mode: no override applies in the block."""

default_owner: list[Any] = [None]
"""The class that defines the default `__torch_function__` (the surface's Tensor)."""

default_plain: set[type] = set()
"""Classes whose results need no wrapping although they inherit the default (Tensor, Parameter)."""


def disabled_torch_function(cls: Any, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None) -> Any:
    """A `__torch_function__` that overrides nothing: assign it to opt a subclass out."""
    return func(*args, **(kwargs or {}))


def handle(func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[bool, Any]:
    """Return (True, result) when a mode or an argument type took the call, else (False, None).

    Raises TypeError with torch's text when every override answered NotImplemented.
    """
    modes = state.mode.function_modes
    if modes and modes[-1] is DISABLED:
        return False, None
    overloaded = overloaded_arguments((*args, *kwargs.values()))
    types = tuple(type(item) for item in overloaded)
    if modes:
        mode = modes[-1]
        with mode_set(function_modes=modes[:-1]):
            result = mode.__torch_function__(func, types, args, kwargs)
        if result is not NotImplemented:
            return True, result
    for item in overloaded:
        result = type(item).__torch_function__(func, types, args, kwargs)
        if result is not NotImplemented:
            return True, result
    if overloaded:
        names = ", ".join(f"'{kind.__module__}.{kind.__qualname__}'" for kind in types)
        raise TypeError(
            f"no implementation found for 'torch.{func.__name__}' on types that implement __torch_function__: [{names}]"
        )
    return False, None

"""Operators that are not offered, by name: what lists or overrides operators finds them, and a call raises."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from mindtorch.data.absent_ops import ABSENT
from mindtorch_dispatch.override import overrides


@functools.cache
def _table() -> dict[str, frozenset[str]]:
    return {kind: frozenset(names.split()) for kind, names in ABSENT.items()}


def names(kind: str) -> frozenset[str]:
    """Return the absent names of a kind: `functions`, `methods`, or a namespace below `torch._C`."""
    return _table()[kind]


@functools.cache
def absent(name: str, kind: str) -> Callable[..., Any] | None:
    """Return the function of an absent operator, None for a name that is none."""
    if name not in _table()[kind]:
        return None

    def call(*args: Any, **kwargs: Any) -> Any:
        values = [one for value in (*args, *kwargs.values()) for one in (value if isinstance(value, list) else [value])]
        overriding = overrides.overloaded_arguments([one for one in values if overrides.overriding(one)])
        handled, result = overrides.ask(call, overriding, args, kwargs)
        if handled:
            return result
        raise NotImplementedError(f"aten::{name}: this operator is not offered")

    call.__name__ = call.__qualname__ = name
    call.__module__ = {"functions": "torch", "methods": "torch"}.get(kind, f"torch._C.{kind}")
    call.__doc__ = "Raises: this operator is not offered."
    return call

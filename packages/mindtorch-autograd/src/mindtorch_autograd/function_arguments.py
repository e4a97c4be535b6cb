"""How the arguments of `Function.apply` become those of `forward`: all of them positional."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import lru_cache
from typing import Any

_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@lru_cache(maxsize=1024)
def _signature(forward: Callable[..., Any]) -> tuple[inspect.Signature, tuple[str, ...]]:
    signature = inspect.signature(forward)
    return signature, tuple(name for name, one in signature.parameters.items() if one.kind in _POSITIONAL)


def with_defaults(forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Return the arguments of a `forward` without ctx, its defaults filled in; TypeError for what does not fit."""
    signature, names = _signature(forward)
    if not kwargs and len(args) == len(names) == len(signature.parameters):
        return args
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.args


def check_named(forward: Callable[..., Any], kwargs: dict[str, Any]) -> None:
    """Raise torch's error for arguments under `vmap` that can be given by name alone."""
    parameters = _signature(forward)[0].parameters
    if any(name in parameters and parameters[name].kind is inspect.Parameter.KEYWORD_ONLY for name in kwargs):
        raise NotImplementedError(
            "Run vmap on autograd.Function with kwarg-only Tensor args. Please do not pass kwarg-only Tensors to "
            f"autograd.Function. Got: {kwargs}"
        )


def in_order(forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
    """Return the arguments of a `forward` with ctx, those given by name at their places; TypeError for what has none, and
    for a gap before one, as defaults are for `forward` to fill in."""
    names = _signature(forward)[1][1:]
    placed = dict(enumerate(args))
    for name, value in kwargs.items():
        if name not in names:
            raise TypeError(f"forward() got an unexpected keyword argument '{name}'")
        place = names.index(name)
        if place in placed:
            raise TypeError(f"forward() got multiple values for argument '{name}'")
        placed[place] = value
    count = max(placed, default=-1) + 1
    for place in range(count):
        if place not in placed:
            raise TypeError(f"forward() missing required argument: '{names[place]}' (position {place})")
    return tuple(placed[place] for place in range(count))

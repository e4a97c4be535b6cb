"""Functions that upstream parses natively though no op stands behind them: `torch.tensor`, `torch.as_tensor`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from mindtorch_dispatch.arguments import ArgumentParser
from mindtorch_dispatch.override import overrides
from mindtorch_dispatch.schema import parse_schema
from mindtorch_dispatch.state import state
from mindtorch_storage.dtype import dtype as Dtype

R = TypeVar("R")

_PLAIN = frozenset((Dtype, bool, type(None)))
"""Types of options that mean the same in every call."""


def parsed_by(
    signature: str, *, method: bool = False, asks_modes: bool = False
) -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Give the function below the argument checks of `signature`, in aten grammar, and its error texts.

    The function takes the signature's values by position, converted (`dtype=int` arrives as `torch.int64`). With
    `asks_modes` a mode of `__torch_function__` takes the whole call, not what the function calls.
    """
    name, _, parameters = signature.partition("(")
    takes_any = parameters.startswith("Any ") and not method

    def decorate(function: Callable[..., R]) -> Callable[..., R]:
        parsers: list[ArgumentParser] = []
        options: dict[tuple[Any, ...], tuple[Any, ...]] = {}  # what the names given after a lone value come to

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if asks_modes and state.mode.function_modes:
                handled, result = overrides.handle(call, args, kwargs)
                if handled:
                    return result
            plain = takes_any and len(args) == 1 and _PLAIN.issuperset(map(type, kwargs.values()))
            given = tuple(kwargs.items()) if plain else None
            known = None if given is None else options.get(given)
            if known is not None:
                return function(args[0], *known)
            if not parsers:
                parsers.append(ArgumentParser(name, [parse_schema(f"{signature} -> ()")], is_method=method))
            values = parsers[0].parse(args, kwargs).values
            if given is not None:
                options[given] = tuple(values[1:])
            return function(*values)

        del call.__wrapped__  # type: ignore[attr-defined]  # upstream's has no signature to inspect
        call.__annotations__ = {}  # nor annotations, whose names are those of the module of `function`
        return call

    return decorate

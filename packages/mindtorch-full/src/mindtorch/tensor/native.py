"""Functions that upstream parses natively though no op stands behind them: `torch.tensor`, `torch.as_tensor`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from mindtorch_dispatch.arguments import ArgumentParser
from mindtorch_dispatch.schema import parse_schema


def parsed_by(signature: str, *, method: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give the function below the argument checks of `signature`, in aten grammar, and its error texts.

    The function takes the signature's values by position, converted (`dtype=int` arrives as `torch.int64`).
    """
    name = signature.partition("(")[0]

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        parsers: list[ArgumentParser] = []

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if not parsers:
                parsers.append(ArgumentParser(name, [parse_schema(f"{signature} -> ()")], is_method=method))
            return function(*parsers[0].parse(args, kwargs).values)

        del call.__wrapped__  # type: ignore[attr-defined]  # upstream's has no signature to inspect
        return call

    return decorate

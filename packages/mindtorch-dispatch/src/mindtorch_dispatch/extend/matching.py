"""Does a function take the arguments that a schema says it will be called with?"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from ..schema import Schema


def check_signature(name: str, schema: Schema, function: Callable[..., Any]) -> None:
    """Raise TypeError when no call of the operator could reach `function`.

    Kernels are not given arguments that equal their default. So a function is refused only if it can take neither all
    arguments nor those alone that have no default.
    """
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):  # callables of the interpreter do not say what they take
        return
    problem: TypeError | None = None
    for required in (False, True):
        chosen = [one for one in schema.arguments if not (required and one.has_default)]
        try:
            signature.bind(
                *(one.name for one in chosen if not one.kwarg_only),
                **{one.name: None for one in chosen if one.kwarg_only},
            )
        except TypeError as error:
            problem = problem or error
        else:
            return
    shown = getattr(function, "__name__", repr(function))
    raise TypeError(
        f"the kernel {shown}{signature} does not take the arguments of {name}: {problem}. Its schema is {schema}"
    )

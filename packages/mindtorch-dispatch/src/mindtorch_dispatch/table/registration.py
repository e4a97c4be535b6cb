"""Tables of functions by overload, filled by decorators."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

Function = TypeVar("Function", bound=Callable[..., Any])


class Registration(Protocol):
    """A decorator that registers a function for the overloads of these names."""

    def __call__(self, *names: str) -> Callable[[Function], Function]: ...


def registration(table: dict[str, Callable[..., Any]]) -> Registration:
    """Return the decorator that fills a table."""

    def for_overloads(*names: str) -> Callable[[Function], Function]:
        def register(function: Function) -> Function:
            table.update(dict.fromkeys(names, function))
            return function

        return register

    return for_overloads

"""`torch._functorch.compilers`: the compiler that leaves graphs as they are, and the mark of functions that take a list."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch._naming import adopt


def make_boxed_func(f: Callable[..., Any]) -> Callable[..., Any]:
    """Return `f` as a function of a list of its arguments.

    >>> from functorch.compile import make_boxed_func
    >>> make_boxed_func(lambda x, y: x + y)([1, 2])
    3
    """

    def g(args: list[Any]) -> Any:
        return f(*args)

    g._boxed_call = True  # type: ignore[attr-defined]
    return g


def called(function: Callable[..., Any], args: list[Any]) -> Any:
    """Return what a compiled graph gives, which takes its arguments or a list of them."""
    return function(args) if getattr(function, "_boxed_call", False) else function(*args)


def nop(fx_g: Any, _: Any) -> Any:
    """Return a graph as it is: the compiler that does nothing."""
    return make_boxed_func(fx_g.forward)


adopt(globals())

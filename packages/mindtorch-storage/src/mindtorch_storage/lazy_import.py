"""Imports that wait until something is used: the one way in which product code above this layer imports late.

_pictures = LazyModule("PIL.Image", "an optional library")     at the top of a module
_pictures.open(path)                                           imports it

__getattr__ = submodules(__name__, "nn quantization")          in a package: `package.nn` imports `package/nn`

load(name)                                                     where a name is data: in a file, an entry point
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from typing import Any

REASONS: dict[str, str] = {}
"""Every module that waits to be imported, with the reason."""


def load(name: str) -> Any:
    """Import and return the module called `name`, which the program does not know before it runs."""
    return importlib.import_module(name)


class LazyModule:
    """A module that is imported when an attribute is first asked for; attributes are kept."""

    def __init__(self, name: str, reason: str) -> None:
        self.__name__ = name
        REASONS[name] = reason

    def __getattr__(self, name: str) -> Any:
        value = getattr(load(self.__name__), name)
        self.__dict__[name] = value
        return value

    def __repr__(self) -> str:
        return f"LazyModule({self.__name__!r}, {REASONS[self.__name__]!r})"


def submodules(package: str, names: str | Iterable[str], shown: str | None = None) -> Callable[[str], Any]:
    """Return a package's `__getattr__` that imports the submodules `names` when they are first asked for.

    It raises AttributeError for every other name, with the package called `shown`.
    """
    known = frozenset(names.split() if isinstance(names, str) else names)
    REASONS.update((f"{package}.{name}", "a namespace of its own, which most programs never name") for name in known)

    def get(name: str) -> Any:
        if name in known:
            return load(f"{package}.{name}")
        raise AttributeError(f"module '{shown or package}' has no attribute '{name}'")

    get.__name__ = get.__qualname__ = "__getattr__"
    return get

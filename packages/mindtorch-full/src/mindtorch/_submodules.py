"""Modules that are there for their names alone: what a package has is found below it as well, where programs look for it."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from importlib.machinery import ModuleSpec
from types import ModuleType


def offer(package: dict[str, object], table: Mapping[str, str | Mapping[str, object]]) -> None:
    """Make modules below a package (pass `globals()`): by dotted name, the names in each, which the package has.

    In place of names there may be a mapping of them to what they stand for.
    """
    own = str(package["__name__"])
    package.setdefault("__path__", [])
    for path, names in table.items():
        given = {name: package[name] for name in names.split()} if isinstance(names, str) else dict(names)
        parts = path.split(".")
        for depth in range(1, len(parts) + 1):
            _made(own, parts[:depth], package)
        module = sys.modules[f"{own}.{path}"]
        vars(module).update(given)
        vars(module).setdefault("__all__", []).extend(name for name in given if not name.startswith("_"))


def _made(own: str, parts: list[str], package: dict[str, object]) -> None:
    """Make one module, a package, if it is not there."""
    name = ".".join([own, *parts])
    if name in sys.modules:
        return
    module = ModuleType(name, f"Names of `{own}`.")
    module.__spec__ = ModuleSpec(name, None, is_package=True)
    module.__path__ = []
    sys.modules[name] = module
    if parts[:-1]:
        setattr(sys.modules[".".join([own, *parts[:-1]])], parts[-1], module)
    else:
        package[parts[-1]] = module

"""Loading of op families: a family is a module, and being in the folder is all it takes to be part of the table."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable


def load_families(package: str, path: Iterable[str]) -> list[str]:
    """Import every module of `package` (its name and `__path__`) and return their names, sorted."""
    names = sorted(module.name for module in pkgutil.iter_modules(path))
    for name in names:
        importlib.import_module(f"{package}.{name}")
    return names

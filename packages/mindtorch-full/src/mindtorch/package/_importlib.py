"""What the import statement does to names, from Python's own import system, and the names of files in packages."""

from __future__ import annotations

import importlib
import os.path
from importlib import _bootstrap  # type: ignore[attr-defined]
from types import ModuleType

from mindtorch.serialization._names import our_module_name

_resolve_name = _bootstrap._resolve_name
_sanity_check = _bootstrap._sanity_check
_calc___package__ = _bootstrap._calc___package__


def _normalize_line_endings(source: bytes) -> bytes:
    """End every line as Unix does."""
    return source.replace(b"\r\n", b"\n").replace(b"\r", b"\n")


def _normalize_path(path: object) -> str:
    """The name of a resource; ValueError where it names a folder as well."""
    parent, name = os.path.split(str(path))
    if parent:
        raise ValueError(f"{path!r} must be only a file name")
    return name


def import_external(name: str) -> ModuleType:
    """Import a module of this process; `torch` is this library, in programs without the proxy too."""
    known = our_module_name(name)
    while True:
        try:
            return importlib.import_module(known)
        except ModuleNotFoundError as error:
            if error.name != known or known == name:
                raise
            known = name  # one that a program put below `torch` itself

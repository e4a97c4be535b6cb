"""The differences between what torch and MindTorch show of every public name."""

from __future__ import annotations

import importlib
import inspect
import types
import warnings
from typing import Any

from mindtorch_testing.surface import describe, names

Differences = dict[str, list[str]]
"""By `name: aspect`, what torch shows and what ours does."""


def differences() -> tuple[int, Differences]:
    """Return how many names were compared and in what they differ."""
    warnings.simplefilter("ignore")  # of what is deprecated, which is looked at as all else
    found: Differences = {}
    classes = names.classes()
    seen: set[int] = set()
    count = 0
    for path in names.modules():
        theirs = importlib.import_module(path)
        try:
            ours = names.ours(path)
        except ImportError:
            continue  # the board of missing names has it
        if describe.absent(ours):
            continue
        _lists(path, theirs, ours, found)
        for name in names.public(theirs):
            value, mine = getattr(theirs, name, None), getattr(ours, name, None)
            if id(value) in seen or not hasattr(ours, name) or describe.absent(mine):
                continue
            if callable(value):
                seen.add(id(value))
            count += 1
            _compare(f"{path}.{name}", value, mine, found)
            if inspect.isclass(value) and inspect.isclass(mine):
                _ancestors(f"{path}.{name}", value, mine, classes, found)
                count += _members(f"{path}.{name}", value, mine, found)
    return count, found


def _lists(path: str, theirs: types.ModuleType, ours: types.ModuleType, found: Differences) -> None:
    """Compare what `from module import *` brings; names that raise are left out of ours."""
    listed, mine = describe.lists(theirs), describe.lists(ours)
    if listed is None:
        return
    lacking = [one for one in listed if one not in (mine or ()) and _works(ours, one)]
    more = [one for one in mine or () if one not in listed]
    if lacking or more:
        found[f"{path}: __all__"] = [" ".join(lacking), "none" if mine is None else " ".join(more)]


def _works(module: types.ModuleType, name: str) -> bool:
    return hasattr(module, name) and not describe.absent(getattr(module, name))


def _ancestors(path: str, theirs: type, ours: type, classes: frozenset[str], found: Differences) -> None:
    wanted, have = describe.ancestors(theirs, classes), describe.ancestors(ours, classes)
    if describe.native(theirs):
        have = [one for one in have if one not in ("int", "Enum")]
    if wanted != have:
        found[f"{path}: ancestors"] = [" ".join(wanted), " ".join(have)]


def _members(path: str, theirs: type, ours: type, found: Differences) -> int:
    count = 0
    for name in names.members(theirs):
        value, mine = _attribute(theirs, name), _attribute(ours, name)
        if mine is MISSING:
            if callable(value) or describe.constant(value) is not None:  # fields are looked at in instances
                found[f"{path}.{name}: there"] = ["yes", "no"]
            continue
        if describe.absent(mine) or value is MISSING:
            continue
        count += 1
        _compare(f"{path}.{name}", value, mine, found)
    return count


MISSING = object()


def _attribute(kind: type, name: str) -> Any:
    """Return an attribute as a program gets it of the class, properties as they are."""
    found = inspect.getattr_static(kind, name, MISSING)
    if isinstance(found, property):
        return found
    try:
        return getattr(kind, name, MISSING)
    except Exception as error:  # noqa: BLE001 - a descriptor may raise anything, and then both do
        return f"{type(error).__name__}: {error}"


def _compare(path: str, theirs: object, ours: object, found: Differences) -> None:
    shown, mine = describe.of(theirs), describe.of(ours)
    for aspect, text in shown.items():
        if aspect == "signature" and callable(ours) and aspect not in mine:
            continue  # a method of a builtin class, which does not tell its parameters
        if mine.get(aspect) != text:
            found[f"{path}: {aspect}"] = [text, mine.get(aspect, "nothing")]

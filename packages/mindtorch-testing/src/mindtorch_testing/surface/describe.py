"""What a program can see of a value without using it, as texts that two libraries' values are compared by."""

from __future__ import annotations

import enum
import functools
import inspect
import types

from mindtorch import _absence

PLAIN = (bool, int, float, complex, str, bytes, type(None))
PUBLIC = (int, str, tuple, list, dict, type, Exception, enum.Enum)
"""Ancestors that a program may ask for and that are not torch's."""
EMPTY = inspect.Parameter.empty


def absent(value: object) -> bool:
    """Whether ours is a name that raises with its reason when it is used."""
    return _absence.reason_of(value) is not None


def native(kind: object) -> bool:
    """Whether a class of torch is made in C++, where enumerations and their like have no ancestors in Python."""
    return any(one.__name__ == "pybind11_object" for one in getattr(kind, "__mro__", ()))


def of(value: object) -> dict[str, str]:
    """Return the aspects of a value: its parameters, or its value."""
    if isinstance(value, property | functools.cached_property):
        return {"kind": "property"}
    if callable(value) and constant(value) is None:
        shown = signature(value)
        return {} if shown is None else {"signature": shown}
    shown = constant(value)
    return {} if shown is None else {"value": shown}


def signature(value: object) -> str | None:
    """Return the parameters with their kinds and defaults, without annotations; None where nothing tells them."""
    if not callable(value):
        return None
    try:
        found = inspect.signature(value)
    except (ValueError, TypeError):
        return None
    return f"({', '.join(_parameters(list(found.parameters.values())))})"


def _parameters(found: list[inspect.Parameter]) -> list[str]:
    parts: list[str] = []
    kinds = [one.kind for one in found]
    for place, one in enumerate(found):
        if one.kind is one.KEYWORD_ONLY and not {one.KEYWORD_ONLY, one.VAR_POSITIONAL} & {*kinds[:place]}:
            parts.append("*")
        mark = "*" if one.kind is one.VAR_POSITIONAL else "**" if one.kind is one.VAR_KEYWORD else ""
        parts.append(mark + one.name + ("" if one.default is EMPTY else f"={default(one.default)}"))
        if one.kind is one.POSITIONAL_ONLY and one.kind not in kinds[place + 1 :]:
            parts.append("/")
    return parts


def default(value: object) -> str:
    """Return the text of a default value; of objects, what they are."""
    shown = constant(value)
    if shown is not None:
        return shown
    if inspect.isclass(value) or inspect.isroutine(value):
        return f"<{value.__name__}>"
    return f"<{type(value).__name__}>"


def constant(value: object) -> str | None:
    """Return the text of a value that is made of plain ones, None of others."""
    if isinstance(value, enum.Enum) or (hasattr(type(value), "__members__") and not inspect.isclass(value)):
        return f"{type(value).__name__}.{value.name}"
    if isinstance(value, PLAIN):
        return repr(value)
    if isinstance(value, tuple | list):
        parts = [constant(one) for one in value]
        if None in parts:
            return None
        return f"{type(value).__name__}({', '.join(str(one) for one in parts)})"
    if isinstance(value, set | frozenset):
        parts = [constant(one) for one in value]
        return None if None in parts else f"{type(value).__name__}({', '.join(sorted(str(one) for one in parts))})"
    if isinstance(value, dict):
        pairs = [(constant(key), constant(one)) for key, one in value.items()]
        return (
            None if any(None in pair for pair in pairs) else f"{{{', '.join(f'{key}: {one}' for key, one in pairs)}}}"
        )
    if type(value).__name__ in ("dtype", "device", "layout", "memory_format"):
        return str(value)
    return None


def ancestors(kind: type, classes: frozenset[str]) -> list[str]:
    """Return the names of a class's ancestors, nearest first, without those that are not public."""
    return [one.__name__ for one in kind.__mro__[1:] if one.__name__ in classes or one in PUBLIC]


def lists(module: types.ModuleType) -> list[str] | None:
    """Return the sorted `__all__` of a module, None where it has none."""
    found = getattr(module, "__all__", None)
    return None if found is None else sorted(set(found))

"""Programs for both sides: the source is run with `torch` bound to our module, then to torch."""

from __future__ import annotations

import copy
import enum
import math
import operator
import re
import typing
import warnings
from typing import Any

_ADDRESS = re.compile(r"0x[0-9a-f]+")


class Colour(enum.Enum):
    """An argument that is a constant of an enumeration."""

    RED = 1


def namespace(T: Any) -> dict[str, Any]:
    """Return the names that programs use, for one side."""
    return {
        "__name__": "program",
        "torch": T,
        "nn": T.nn,
        "fx": T.fx,
        "F": T.nn.functional,
        "operator": operator,
        "math": math,
        "copy": copy,
        "typing": typing,
        "Colour": Colour,
    }


def shown(value: Any) -> Any:
    """Return a value as text; tensors by their numbers, containers by their items, warnings and errors by theirs."""
    if hasattr(value, "requires_grad") and hasattr(value, "tolist"):
        numbers = [f"{round(one, 3) + 0.0:.3g}" for one in value.detach().double().flatten().tolist()]
        return f"{value.dtype} {tuple(value.shape)} {numbers}"
    if isinstance(value, dict):
        return {str(key): shown(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [shown(one) for one in value]
    return _ADDRESS.sub("0x", f"{type(value).__name__} {value}")


def play(T: Any, source: str) -> Any:
    """Run a program and return what it left in `out`, or its error, and its warnings."""
    names = namespace(T)
    T.manual_seed(0)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            exec(compile(source, "<program>", "exec", dont_inherit=True), names)
            found = shown(names["out"])
        except Exception as error:  # noqa: BLE001 (any error is an outcome)
            found = (type(error).__name__, _ADDRESS.sub("0x", str(error)))
    return found, [str(one.message) for one in caught if one.category is UserWarning]

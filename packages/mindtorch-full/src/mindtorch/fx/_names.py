"""Names for the nodes of a graph, and for what its generated code refers to."""

from __future__ import annotations

import builtins
import keyword
import math
import re
from typing import Any, NamedTuple

import mindtorch as torch
from mindtorch.fx import _pytree as fx_pytree
from mindtorch.utils import _pytree as pytree

_NUMBERED = re.compile(r"(.+)_(\d+)", re.DOTALL)
_FOREIGN = re.compile(r"[^0-9a-zA-Z_]+")


class CustomBuiltin(NamedTuple):
    """A name that generated code may use without more, and the statement that imports it."""

    import_str: str
    obj: Any


CUSTOM_BUILTINS = {
    "inf": CustomBuiltin("from math import inf", math.inf),
    "nan": CustomBuiltin("from math import nan", math.nan),
    "NoneType": CustomBuiltin("NoneType = type(None)", type(None)),
    "torch": CustomBuiltin("import torch", torch),
    "device": CustomBuiltin("from torch import device", torch.device),
    "fx_pytree": CustomBuiltin("import torch.fx._pytree as fx_pytree", fx_pytree),
    "pytree": CustomBuiltin("import torch.utils._pytree as pytree", pytree),
}

_TAKEN: dict[str, Any] = {
    **{name: object() for name in keyword.kwlist},
    **vars(builtins),
    **{name: one.obj for name, one in CUSTOM_BUILTINS.items()},
}
"""Names that only these objects may have."""


def _snake_case(s: str) -> str:
    """Return `fooBar` as `foo_bar`."""
    return re.sub(r"(?<=[a-z])([A-Z])", r"_\1", s).lower()


def _is_magic(x: str) -> bool:
    """Return whether a method's name has two underscores on both sides."""
    return x.startswith("__") and x.endswith("__")


class _Namespace:
    """Names that are Python identifiers, no keywords, and each given once."""

    def __init__(self) -> None:
        self._of_object: dict[Any, str] = {}
        self._used: set[str] = set()
        self._highest: dict[str, int] = {}

    def create_name(self, candidate: str, obj: Any | None) -> str:
        """Return a new name like `candidate`, or the name that `obj` has."""
        if obj is not None and obj in self._of_object:
            return self._of_object[obj]
        candidate = _FOREIGN.sub("_", candidate) or "_unnamed"
        if candidate[0].isdigit():
            candidate = f"_{candidate}"
        numbered = _NUMBERED.fullmatch(candidate)
        base, number = (numbered[1], int(numbered[2])) if numbered else (candidate, 0)
        number = max(number, self._highest.get(base, 0))
        if candidate in self._used or _TAKEN.get(candidate, obj) is not obj:
            number += 1
            while (candidate := f"{base}_{number}") in self._used or candidate in _TAKEN:
                number += 1
        self._highest[base] = number
        self._used.add(candidate)
        if obj is not None:
            self._of_object[obj] = candidate
        return candidate

    def associate_name_with_obj(self, name: str, obj: Any) -> None:
        """Let `obj` have `name`, which was given before."""
        if obj in self._of_object:
            raise AssertionError("obj is already associated")
        self._of_object[obj] = name

    def _rename_object(self, obj: Any, name: str) -> None:
        if obj not in self._of_object:
            raise AssertionError(f"{obj} has no name")
        self._of_object[obj] = name
        self._used.add(name)

"""Functions of scipy.special; it is imported when one is first called, as few programs of the simulator need it."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any


def special(name: str) -> Callable[..., Any]:
    """Return the function of this name."""

    def call(*arrays: object) -> Any:
        return getattr(importlib.import_module("scipy.special"), name)(*arrays)

    return call

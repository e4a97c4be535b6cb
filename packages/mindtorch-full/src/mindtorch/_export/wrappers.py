"""`torch._export.wrappers`: marks for an exporter."""

from __future__ import annotations

from typing import TypeVar

from mindtorch._naming import adopt

__all__ = ["mark_subclass_constructor_exportable_experimental"]

_Marked = TypeVar("_Marked")


def mark_subclass_constructor_exportable_experimental(constructor_subclass: _Marked) -> _Marked:
    """Return a subclass's `__init__` unchanged: calls of it are recorded like any other code."""
    return constructor_subclass


adopt(globals())

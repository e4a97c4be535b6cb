"""Whether a program has to do the same each time: one setting of the process, which plans, backends and factories read."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(slots=True)
class Determinism:
    """What is asked for.

    Attributes:
        enabled: kernels give the same bits each time; operators that cannot raise.
        warn_only: such operators warn instead.
        fill: new memory is filled while it is enabled.
    """

    enabled: bool = False
    warn_only: bool = False
    fill: bool = True


wanted = Determinism()
_listeners: dict[str, Callable[[bool], None]] = {}


def on_change(name: str, tell: Callable[[bool], None]) -> None:
    """Let a backend, or another part, be told whether the same bits are wanted: at every change, and at once if they are."""
    _listeners[name] = tell
    if wanted.enabled:
        tell(True)


def ask_for(mode: bool, warn_only: bool) -> None:
    """Choose whether the same bits are wanted each time, and tell everybody who listens."""
    wanted.enabled, wanted.warn_only = mode, warn_only
    for tell in _listeners.values():
        tell(mode)


def filling(dtype: Any) -> Any:
    """Return what new elements of a numpy dtype are filled with: no number or the largest one; None to leave them."""
    if not (wanted.enabled and wanted.fill):
        return None
    if dtype.kind in "iu":
        return int(np.iinfo(dtype).max)
    if dtype.kind == "b":
        return True
    return complex(math.nan, 0) if dtype.kind == "c" or dtype.names else math.nan

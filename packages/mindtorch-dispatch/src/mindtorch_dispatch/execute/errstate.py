"""Floating-point flags make no warnings here: torch computes nan and inf silently, and so do kernels.

numpy's error state lives in a context variable. Setting it directly costs a sixth of what `np.errstate` does, which
matters for every op; where numpy does not have it (before 2.0), `np.seterr` serves.

    token = enter(SILENT)
    try: ...
    finally: leave(token)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

SILENT: Any
enter: Callable[[Any], Any]
leave: Callable[[Any], Any]

try:
    from numpy._core.umath import _extobj_contextvar, _make_extobj
except ImportError:
    SILENT = {"all": "ignore"}

    def enter(state: Any) -> Any:
        """Set the error state and return what `leave` needs."""
        return np.seterr(**state)

    def leave(token: Any) -> None:
        """Put the error state of before `enter` back."""
        np.seterr(**token)

else:
    SILENT = _make_extobj(all="ignore")
    enter = _extobj_contextvar.set
    leave = _extobj_contextvar.reset

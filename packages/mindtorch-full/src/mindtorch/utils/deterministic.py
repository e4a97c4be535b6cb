"""Settings of deterministic algorithms."""

from __future__ import annotations

import sys
import types
from typing import Any

from mindtorch_dispatch.determinism import wanted


class _Deterministic(types.ModuleType):
    """The module itself, so that a plain attribute can be checked when it is set."""

    @property
    def fill_uninitialized_memory(self) -> bool:
        """Whether new memory is filled with a known value while deterministic algorithms are asked for."""
        return wanted.fill

    @fill_uninitialized_memory.setter
    def fill_uninitialized_memory(self, mode: Any) -> None:
        if not isinstance(mode, bool):
            raise RuntimeError(f"expected a bool, but got {type(mode).__name__}")
        wanted.fill = mode


sys.modules[__name__].__class__ = _Deterministic

"""Settings of deterministic algorithms."""

from __future__ import annotations

import sys
import types
from typing import Any

from mindtorch_dispatch.extend import devices


class _Deterministic(types.ModuleType):
    """The module itself, so that a plain attribute can be checked when it is set."""

    _fill = True

    @property
    def fill_uninitialized_memory(self) -> bool:
        """Whether new memory is filled with a known value while deterministic algorithms are asked for."""
        return self._fill

    @fill_uninitialized_memory.setter
    def fill_uninitialized_memory(self, mode: Any) -> None:
        if not isinstance(mode, bool):
            raise RuntimeError(f"expected a bool, but got {type(mode).__name__}")
        type(self)._fill = mode
        devices.fill_new_memory(mode)


sys.modules[__name__].__class__ = _Deterministic

"""How far a data pipe is."""

from __future__ import annotations

import sys
from enum import Enum
from typing import Any

from mindtorch._homes import find
from mindtorch._naming import adopt

__all__: list[str] = []


class _SnapshotState(Enum):
    """An iterator of a pipe that was restored goes on where that left it."""

    NotStarted = 0
    Restored = 1
    Iterating = 2

    def __reduce_ex__(self, protocol: object) -> tuple[Any, ...]:
        """Take a state apart, also where this process cannot import its class by the name that pickles have."""
        cls = type(self)
        if getattr(sys.modules.get(cls.__module__), cls.__qualname__, None) is cls:
            return cls, (self.value,)
        return find, (__name__, f"{cls.__qualname__}.{self.name}")


adopt(globals())

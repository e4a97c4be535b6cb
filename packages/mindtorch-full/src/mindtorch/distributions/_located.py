"""Laws around a location that is their mean and their most likely value."""

from __future__ import annotations

from typing import Any


class Located:
    """Gives ``mean`` and ``mode``, which are ``loc``."""

    loc: Any

    @property
    def mean(self) -> Any:
        """The mean."""
        return self.loc

    @property
    def mode(self) -> Any:
        """The most likely value."""
        return self.loc

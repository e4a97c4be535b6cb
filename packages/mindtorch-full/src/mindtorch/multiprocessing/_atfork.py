"""Registering what runs around a fork."""

import os
from collections.abc import Callable

__all__ = ["register_after_fork"]


def register_after_fork(func: Callable[[], None]) -> None:
    """Run `func` in every child made by fork."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=func)

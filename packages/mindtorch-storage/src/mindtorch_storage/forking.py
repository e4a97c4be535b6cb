"""Locks and forks: a child has none of its parent's other threads, so a lock that one of those held is held for ever."""

from __future__ import annotations

import os
from collections.abc import Callable


def renew_after_fork(renew: Callable[[], object]) -> None:
    """Run `renew`, which replaces a lock of this process by a new one, in every child that a fork makes.

    What the locks of this library guard is whole between any two instructions, so that a child may go on with it.
    """
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=renew)

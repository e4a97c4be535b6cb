"""Memory that a fault of the device may have spoilt: blocks are marked, until they are written whole or given out anew."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

unsafe: set[int] = set()
"""The addresses of marked blocks."""
checking = {"on": False}
"""Whether operators refuse what is marked."""


def mark(addresses: Iterable[int]) -> None:
    """Mark blocks."""
    unsafe.update(addresses)


def written(address: int) -> None:
    """Take a block's mark away: what it held is gone."""
    unsafe.discard(address)


def check(name: str, arguments: Sequence[Any], outputs: frozenset[int]) -> None:
    """Raise RuntimeError for a marked input of an operator; a copy takes the mark of its target away."""
    target = outputs or ({0} if name == "aclnnInplaceCopy" else frozenset())
    for place, value in enumerate(arguments):
        for one in value if isinstance(value, (list, tuple)) else (value,):
            storage = getattr(one, "storage", None)
            if storage is None or storage._allocation.address not in unsafe:
                continue
            if place not in target:
                raise RuntimeError("There is unsafe data in the input tensor.")
            if name == "aclnnInplaceCopy" and one.size * one.dtype.itemsize == storage._allocation.nbytes:
                written(storage._allocation.address)


__all__ = ["check", "checking", "mark", "unsafe", "written"]

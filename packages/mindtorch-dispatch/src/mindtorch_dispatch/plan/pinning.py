"""`pin_memory=True` of factories: the result is made as ever and copied to page-locked memory, where there is some."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch_storage.storage import NO_PINNED_MEMORY

from ..arguments.bound import Bound
from ..interface.wiring import wired


def asks_for_pinning(bound: Bound) -> bool:
    """Whether the call says `pin_memory=True`."""
    place = bound.row.places.get("pin_memory")
    return place is not None and bound.values[place] is True


def pinned(bound: Bound) -> Callable[..., Any]:
    """Return what answers such a call: another one without the wish, copied.

    RuntimeError with torch's text where no memory can be pinned.
    """
    if not wired.can_pin():
        raise RuntimeError(NO_PINNED_MEMORY)
    arguments = bound.row.schema.arguments

    def made(*values: object) -> Any:
        given = [False if a.name == "pin_memory" else v for a, v in zip(arguments, values, strict=True)]
        places = [v for a, v in zip(arguments, given, strict=True) if not a.kwarg_only]
        names = {a.name: v for a, v in zip(arguments, given, strict=True) if a.kwarg_only}
        return wired.pinned_copy(wired.call_overload(bound.row, tuple(places), names))

    return made

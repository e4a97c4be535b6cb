"""`pin_memory=True` of factories: the result is made as ever and copied to page-locked memory, where there is some."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from mindtorch_storage.storage import NO_PINNED_MEMORY

from ..arguments.bound import Bound


class Pinning:
    """What the layer that knows accelerators plugs in."""

    available: ClassVar[Callable[[], bool]] = staticmethod(lambda: False)
    copy: ClassVar[Callable[[Any], Any]]
    call: ClassVar[Callable[..., Any]]


def install_pinning(available: Callable[[], bool], copy: Callable[[Any], Any], call: Callable[..., Any]) -> None:
    """Say whether there is page-locked memory, what copies a tensor there, and what calls a row with arguments."""
    Pinning.available, Pinning.copy, Pinning.call = staticmethod(available), staticmethod(copy), staticmethod(call)


def asks_for_pinning(bound: Bound) -> bool:
    """Whether the call says `pin_memory=True`."""
    arguments = bound.row.schema.arguments
    return any(
        value is True and argument.name == "pin_memory"
        for argument, value in zip(arguments, bound.values, strict=False)
    )


def pinned(bound: Bound) -> Callable[..., Any]:
    """Return what answers such a call: another one without the wish, copied.

    RuntimeError with torch's text where no memory can be pinned.
    """
    if not Pinning.available():
        raise RuntimeError(NO_PINNED_MEMORY)
    arguments = bound.row.schema.arguments

    def made(*values: Any) -> Any:
        given = [False if a.name == "pin_memory" else v for a, v in zip(arguments, values, strict=True)]
        places = [v for a, v in zip(arguments, given, strict=True) if not a.kwarg_only]
        names = {a.name: v for a, v in zip(arguments, given, strict=True) if a.kwarg_only}
        return Pinning.copy(Pinning.call(bound.row, tuple(places), names))

    return made

"""What calls one overload: natively where that is installed, else by the call path."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..arguments.overload import bind_overload
from ..interface.native import native_path
from ..interface.wiring import wired
from ..table import OpRow, find_packet


def call_of(row: OpRow) -> Callable[..., Any]:
    """Return what calls an overload: natively where that is installed, for operators that nobody can take back."""

    def call(*args: object, **kwargs: object) -> Any:
        if "out" in kwargs and row.out and "::" not in row.packet:
            bind_overload(row.schema, args, kwargs)  # the form that writes is another overload, and this one refuses it
        return wired.call_overload(row, args, kwargs)

    def in_place(*args: object, **kwargs: object) -> None:
        wired.call_overload(row, args, kwargs)

    if not row.schema.returns:
        return in_place
    packet = find_packet(row.packet)
    if native_path.caller is None or packet is None or "::" in row.packet:
        return call
    made: Callable[..., Any] = native_path.caller(packet, call, False, row)
    return made

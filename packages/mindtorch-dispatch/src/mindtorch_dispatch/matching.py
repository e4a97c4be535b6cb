"""Calls of operators that libraries define, by their schemas alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .arguments.binding import bind_overload
from .arguments.bound import tensor_leaves
from .call import call_overload
from .override import overrides
from .plan import plain_types
from .state import state
from .table import Packet


def call_matching(packet: Packet, shown: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Call the first overload of a library's operator whose schema takes the arguments; torch's RuntimeError for none.

    Overrides are asked for `shown`, the operator's object.
    """
    given = (*args, *kwargs.values())
    if (
        state.mode.overriding
        or any(type(one) not in plain_types for one in tensor_leaves(given))
        or overrides.has_stranger(given)
    ):
        handled, result = overrides.handle(shown, args, kwargs)
        if handled:
            return result
    if len(packet.rows) == 1:
        return call_overload(packet.rows[0], args, kwargs)
    problems = []
    for row in packet.rows:
        try:
            bind_overload(row, args, kwargs)
        except RuntimeError as error:
            problems.append(f"{error}\n\n")
        else:
            return call_overload(row, args, kwargs)
    raise RuntimeError(
        "Overloaded torch operator invoked from Python failed to match any schema:\n" + "".join(problems)
    )

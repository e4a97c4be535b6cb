"""Functions as Python programs see them, where a default is not the schema's."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from ..override import overrides
from ..table import Packet
from .tables import PYTHON_DEFAULTS

_forms: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {}


def with_python_defaults(packet: Packet, made: Callable[..., Any]) -> Callable[..., Any]:
    """Return the packet's function `made`, the same object every time, with the defaults that it has in Python."""
    arguments = packet.rows[0].schema.arguments
    place = next((i for i, one in enumerate(arguments) if one.has_default and one.name in PYTHON_DEFAULTS), None)
    if place is None:
        return made
    found = _forms.get(packet.name)
    if found is None or found[0] is not made:  # an operator that was taken back may come again
        found = _forms[packet.name] = (made, _with_default(made, place, arguments[place].name))
    return found[1]


def _with_default(made: Callable[..., Any], place: int, name: str) -> Callable[..., Any]:
    @wraps(made)
    def call(*args: object, **kwargs: object) -> Any:
        if len(args) > place or name in kwargs:
            return made(*args, **kwargs)
        handled, result = overrides.handle(call, args, kwargs)  # overrides see the call as the program made it
        return result if handled else made(*args, **{**kwargs, name: PYTHON_DEFAULTS[name]})

    return call

"""What streams, events and memory are told, for a listener: a sanitizer. Nothing is told without one."""

from __future__ import annotations

from collections.abc import Callable

Listener = Callable[..., None]
"""Called with the name of what happens (`event_record`, ...) and its handles and addresses, or an operator."""

listener: Listener | None = None


def listen(call: Listener | None) -> None:
    """Tell `call` from now on, None ends it."""
    global listener
    listener = call


def tell(name: str, *numbers: int | str) -> None:
    """Tell the listener, if there is one."""
    if listener is not None:
        listener(name, *numbers)


__all__ = ["Listener", "listen", "tell"]

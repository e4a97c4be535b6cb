"""Calls by operator name, and calls below a given key: what kernels registered at run time use."""

from __future__ import annotations

from typing import Any

from .call import call_overload, make_form
from .keys import DispatchKey, DispatchKeySet
from .registry import split_name
from .state import mode_set, state
from .table import find_packet

ALL_KEYS = DispatchKeySet(DispatchKey)
"""Every key."""


def current_dispatch_keyset() -> DispatchKeySet:
    """Return the keys by which the running registered kernel was reached; the empty set outside of one."""
    return state.keys


def dispatch(name: str, *args: Any, **kwargs: Any) -> Any:
    """Call operator `ns::name` (resolving its overload) or `ns::name.overload`; KeyError for an unknown name."""
    packet_name, overload = split_name(name)
    packet = find_packet(packet_name)
    if packet is None or not packet.rows:
        raise KeyError(f"operator {name!r} is not registered")
    if overload:
        return call_overload(packet.row("" if overload == "default" else overload), args, kwargs)
    return make_form(packet, False)(*args, **kwargs)


def redispatch(name: str, keyset: DispatchKeySet, *args: Any, **kwargs: Any) -> Any:
    """Call operator `name` with only the keys of `keyset` taking part; backends are chosen by the arguments."""
    backends = DispatchKeySet([DispatchKey.CPU, DispatchKey.NPU, DispatchKey.Meta])
    removed = ALL_KEYS - keyset - backends
    with mode_set(exclude=state.mode.exclude | removed.mask):
        return dispatch(name, *args, **kwargs)

"""Warnings that torch gives once in a process, and at every call after `torch.set_warn_always(True)`."""

from __future__ import annotations

import warnings

from .frames import frames_to_caller
from .table import packets

_given: set[str] = set()
_always: list[bool] = []


def set_always(always: bool) -> None:
    """Give such warnings at every call, or once again."""
    _always[:] = [True] if always else []
    for packet in packets.values():
        packet.forget_plans()  # what warns when it is planned warns again


def is_always() -> bool:
    """Return whether such warnings are given at every call."""
    return bool(_always)


def warn_once(text: str, category: type[Warning] = UserWarning) -> None:
    """Give the warning `text` to who called the operator, if it is the first time."""
    if _always or text not in _given:
        _given.add(text)
        warnings.warn(text, category, stacklevel=frames_to_caller())

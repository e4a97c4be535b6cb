"""Run the same expression on both sides and compare what a program sees."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

_ADDRESS = re.compile(r"0x[0-9a-f]+")


def outcome(function: Callable[[], Any]) -> tuple[str, str]:
    """The kind and text of what a call gives: a value's repr, or an error's type and message."""
    try:
        text = repr(function())
    except Exception as error:  # noqa: BLE001 (any error is an outcome)
        return type(error).__name__, str(error)
    return "value", _ADDRESS.sub("0x", text)


def assert_same(ours: Callable[[], Any], theirs: Callable[[], Any]) -> None:
    """Both calls give equal reprs, or raise the same error with the same text."""
    mine, expected = outcome(ours), outcome(theirs)
    if mine != expected:
        raise AssertionError(f"\n  ours: {mine}\n torch: {expected}")

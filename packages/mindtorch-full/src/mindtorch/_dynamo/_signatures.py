"""Signatures of what a program compiles."""

from __future__ import annotations

import inspect
from typing import Any


def signature_of(function: Any) -> inspect.Signature | None:
    """Return the signature of a function, None where it has none."""
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None

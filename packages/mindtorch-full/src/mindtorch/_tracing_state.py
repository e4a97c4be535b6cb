"""Whether something is traced in this thread."""

from __future__ import annotations

import threading
from typing import Any

active = threading.local()


def tracing() -> Any:
    """Return the recorder of this thread, None where nothing is traced."""
    return getattr(active, "recorder", None)


def recorder() -> Any:
    """Return the recorder of this thread; None where nothing is traced, and while an operator runs."""
    found = getattr(active, "recorder", None)
    return found if found is not None and not found.pauses else None


def is_tracing() -> bool:
    """Return whether this code is being traced."""
    return tracing() is not None


is_tracing.__module__ = "torch.jit._trace"

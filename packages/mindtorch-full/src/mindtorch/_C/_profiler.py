"""`torch._C._profiler`: the stack of Python as the profiler gathers it."""

from __future__ import annotations

import traceback
from typing import Any

__all__ = ["gather_traceback", "symbolize_tracebacks"]


def gather_traceback(python: bool = True, script: bool = False, cpp: bool = False) -> Any:
    """Return where the program is; frames of C++ are not told."""
    return traceback.extract_stack()[:-1] if python else traceback.StackSummary()


def symbolize_tracebacks(tracebacks: list[Any]) -> list[list[dict[str, Any]]]:
    """Return each gathered stack as a list of frames, the innermost first."""
    return [
        [{"filename": frame.filename, "line": frame.lineno, "name": frame.name} for frame in reversed(stack)]
        for stack in tracebacks
    ]

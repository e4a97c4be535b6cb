"""Which frame a warning names: the one that called the operator, as torch's C++ sees it, or a number of torch's frames up."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType

_OPERATORS = ("mindtorch_dispatch", "mindtorch_autograd", "mindtorch_cpu", "mindtorch_runtime", "mindtorch_storage")
_NATIVE_IN_TORCH = ("tensor", "functions", "_overridable", "_operators")
"""Folders and modules of `mindtorch` whose functions have no Python frame in torch."""


def frames_to_caller() -> int:
    """Return the `stacklevel` of the frame that called an operator, for a warning that torch gives in C++."""
    return _frames_past(is_native_in_torch)


def frames_up(level: int) -> int:
    """Return the `stacklevel` of the frame that `level` of torch's frames up is: frames that only we have do not count."""
    frame, count = sys._getframe(1), 1
    while frame.f_back is not None and level > 1:
        frame, count = frame.f_back, count + 1
        if not is_native_in_torch(frame):
            level -= 1
    return count


def frames_to_program() -> int:
    """Return the `stacklevel` of the frame of the program that called an operator, above everything of MindTorch."""
    return _frames_past(is_own)


def _frames_past(skipped: Callable[[FrameType], bool]) -> int:
    """Return the `stacklevel`, for who called the caller of this, of the first frame that is not `skipped`."""
    frame, count = sys._getframe(2), 1
    while frame.f_back is not None and skipped(frame):
        frame, count = frame.f_back, count + 1
    return count


def is_native_in_torch(frame: FrameType) -> bool:
    """Return whether a frame runs code that has no Python frame in torch."""
    name: str = frame.f_globals.get("__name__", "")
    root, _, rest = name.partition(".")
    if root in ("mindtorch", "torch"):
        return rest.partition(".")[0] in _NATIVE_IN_TORCH
    return root in _OPERATORS


def is_own(frame: FrameType) -> bool:
    """Return whether a frame runs code of MindTorch. Where it stands for `torch`, its modules show torch's names."""
    name: str = frame.f_globals.get("__name__", "")
    return name.startswith(("mindtorch", "torch.")) or name == "torch"

"""Which frames of a call stack are the library's own, and which are the program's."""

from __future__ import annotations

import sys
from types import FrameType


def frames_to_program() -> int:
    """Return how many frames stand between the caller and the program that called an operator."""
    frame, count = sys._getframe(1), 1
    while frame.f_back is not None and is_own(frame):
        frame, count = frame.f_back, count + 1
    return count


def is_own(frame: FrameType) -> bool:
    """Return whether a frame runs code of MindTorch. Where it stands for `torch`, its modules show torch's names."""
    name: str = frame.f_globals.get("__name__", "")
    return name.startswith(("mindtorch", "torch.")) or name == "torch"

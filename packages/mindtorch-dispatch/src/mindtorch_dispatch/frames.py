"""Which frames of a call stack are the library's own, and which are the program's."""

from __future__ import annotations

from types import FrameType


def is_own(frame: FrameType) -> bool:
    """Return whether a frame runs code of MindTorch. Where it stands for `torch`, its modules show torch's names."""
    name: str = frame.f_globals.get("__name__", "")
    return name.startswith(("mindtorch", "torch.")) or name == "torch"

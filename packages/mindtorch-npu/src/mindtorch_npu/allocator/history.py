"""What the allocator did, for snapshots: a circular buffer of entries, each with the Python frames that led to it."""

from __future__ import annotations

import sys
import time
from collections import deque
from typing import Any

from mindtorch_npu import damage, tracing

SKIPPED = "mindtorch_npu/allocator"
_TOLD = {"alloc": "memory_allocation", "free_requested": "memory_deallocation"}


class History:
    """The recorded entries of one device."""

    def __init__(self) -> None:
        self.entries: deque[dict[str, Any]] = deque(maxlen=0)
        self.enabled = False
        self.context = "none"
        self.skip: frozenset[str] = frozenset()
        self.metadata = ""

    def configure(
        self, enabled: bool, context: str, most: int, clear: bool, skip: frozenset[str] = frozenset()
    ) -> None:
        """Record from now on, or no longer; `context` says for which entries frames are kept."""
        self.enabled = enabled
        self.context = context
        self.skip = skip
        kept = [] if clear or not enabled else list(self.entries)
        self.entries = deque(kept, maxlen=min(most, 2**31 - 1))

    def frames(self, when: str) -> list[dict[str, Any]]:
        """Return the Python frames of the caller, the innermost first; none where they are not wanted.

        `when` is "alloc" or "free": frames of releases are of interest to a history only, not to a state.
        """
        if self.context == "none" or (when == "free" and self.context == "state"):
            return []
        found = []
        frame = sys._getframe(1)
        while frame is not None:
            name = frame.f_code.co_filename
            if SKIPPED not in name.replace("\\", "/"):
                found.append({"filename": name, "line": frame.f_lineno, "name": frame.f_code.co_name})
            frame = frame.f_back  # type: ignore[assignment]
        return found

    def add(
        self, action: str, address: int, size: int, stream: int, frames: list[dict[str, Any]], pool: tuple[int, int]
    ) -> None:
        """Record one entry, and tell the listener of the memory that a program gets and gives back."""
        if action in _TOLD:
            tracing.tell(_TOLD[action], address)
            damage.written(address)
        if not self.enabled or action in self.skip:
            return
        place = "device_free" if action == "oom" else "addr"
        self.entries.append(
            {
                "action": action,
                place: address,
                "size": size,
                "stream": stream,
                "time_us": time.time_ns() // 1000,
                "compile_context": "N/A",
                "user_metadata": self.metadata,
                "pool_id": pool,
                "frames": frames,
            }
        )

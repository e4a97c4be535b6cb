"""Whether a thread propagates tangents, and what that means for calls that are recorded in their stead."""

from __future__ import annotations

import threading


class Switch(threading.local):
    """On unless a program switched it off."""

    enabled = True
    pushing = 0
    """How many `jvp` run: they differentiate what is recorded, so that switching tangents off stops recording."""
    recording: bool | None = None
    """Whether calls were recorded before tangents were switched off in a `jvp`."""

    def turn(self, enabled: bool, grad: bool) -> bool:
        """Switch, and return whether calls are recorded from here on, which they are now with ``grad``."""
        if self.pushing and not enabled and self.enabled:
            self.recording, grad = grad, False
        elif enabled and self.recording is not None:
            grad = self.recording
            self.recording = None
        self.enabled = enabled
        return grad


switch = Switch()

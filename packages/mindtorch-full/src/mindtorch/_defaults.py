"""Wiring of process-wide defaults into the layers below."""

from __future__ import annotations

import threading
from typing import Any

from mindtorch_dispatch.state import state
from mindtorch_storage.device import device as Device
from mindtorch_storage.device import set_context_hooks


class _Entered(threading.local):
    """What the default was when this thread entered each of its `with device:` blocks."""

    def __init__(self) -> None:
        self.before: list[Any] = []


_entered = _Entered()


def _enter(device: Device) -> None:
    _entered.before.append(state.mode.default_device)
    state.mode = state.mode.replace(default_device=device)


def _leave(device: Device) -> None:
    state.mode = state.mode.replace(default_device=_entered.before.pop())


def install_defaults() -> None:
    """Make `with torch.device(...)` set the default device, and printing follow the default dtype."""
    set_context_hooks(_enter, _leave)

"""`torch.jit._state`: what was compiled in this process. Nothing is."""

from __future__ import annotations

from typing import Any

from mindtorch._naming import adopt


def _clear_class_state() -> None:
    """Forget the classes that were compiled: there are none."""


def _get_script_class(python_class: Any) -> None:
    """Return what a class was compiled to: nothing."""
    return None


adopt(globals())

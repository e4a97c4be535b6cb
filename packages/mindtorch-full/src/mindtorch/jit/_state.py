"""Whether functions and modules are compiled and traced; tables of compiled classes, which are empty: classes are not."""

from __future__ import annotations

import os
from typing import Any

from mindtorch._naming import adopt


class EnabledProxy:
    """Whether TorchScript is on; the environment's `PYTORCH_JIT=0` switches it off."""

    def __init__(self) -> None:
        self.enabled = os.environ.get("PYTORCH_JIT", "1") not in ("0", "OFF", "NO", "FALSE", "N")

    def __bool__(self) -> bool:
        return self.enabled


_enabled = EnabledProxy()
_script_classes: dict[type, Any] = {}
_name_to_pyclass: dict[str, type] = {}


def disable() -> None:
    """Switch TorchScript off: `torch.jit.trace` and `torch.jit.script` return what they are given."""
    _enabled.enabled = False


def enable() -> None:
    """Switch TorchScript on."""
    _enabled.enabled = True


def _clear_class_state() -> None:
    """Forget the classes that were compiled: there are none."""


def _get_script_class(python_class: Any) -> None:
    """Return what a class was compiled to: nothing."""
    return None


adopt(globals())

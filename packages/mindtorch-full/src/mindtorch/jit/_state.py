"""Whether TorchScript compiles, and what it has compiled of classes: it does not, so the tables are empty."""

from __future__ import annotations

from typing import Any, NoReturn

from mindtorch._naming import adopt


class EnabledProxy:
    """Whether TorchScript is on; false as under `PYTORCH_JIT=0`, whose way of working MindTorch has."""

    def __init__(self) -> None:
        self.enabled = False

    def __bool__(self) -> bool:
        return self.enabled


_enabled = EnabledProxy()
_script_classes: dict[type, Any] = {}
_name_to_pyclass: dict[str, type] = {}


def disable() -> None:
    """Switch TorchScript off, as it is."""
    _enabled.enabled = False


def enable() -> NoReturn:
    """Switch TorchScript on; raises, nothing is compiled."""
    raise NotImplementedError("there is no TorchScript to switch on: torch.jit.script(fn) returns fn itself")


def _clear_class_state() -> None:
    """Forget the classes that were compiled: there are none."""


def _get_script_class(python_class: Any) -> None:
    """Return what a class was compiled to: nothing."""
    return None


adopt(globals())

"""Anomaly detection: whether backward checks every node's gradients for nan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mindtorch_dispatch.call import aten

_settings = {"enabled": False, "check_nan": True}


def settings() -> tuple[bool, bool]:
    """Return (enabled, check_nan)."""
    return _settings["enabled"], _settings["check_nan"]


def set_settings(enabled: bool, check_nan: bool) -> None:
    """Switch detection, process-wide as in torch."""
    _settings["enabled"], _settings["check_nan"] = enabled, check_nan


def check_gradients(name: str, gradients: Sequence[Any]) -> None:
    """Raise torch's error when a node returned nan."""
    if not (_settings["enabled"] and _settings["check_nan"]):
        return
    for index, grad in enumerate(gradients):
        if grad is not None and bool(aten.any(aten.ne(grad, grad)).item()):
            raise RuntimeError(f"Function '{name}' returned nan values in its {index}th output.")

"""The check that a module of numbers says how it is quantized."""

from __future__ import annotations

from typing import Any


def check_configured(module: Any) -> None:
    """Raise AssertionError for a module without a configuration."""
    if not hasattr(module, "qconfig"):
        raise AssertionError("Input float module must have qconfig defined")
    if not module.qconfig:
        raise AssertionError("Input float module must have a valid qconfig")

"""Test support for MindTorch: oracle comparison, op samples, conformance.

The two assertions need torch, the oracle; they are loaded on first use, so that the rest of the package (samples,
conformance) works where torch is not installed.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from mindtorch_testing.__about__ import __version__

if TYPE_CHECKING:
    from mindtorch_testing.compare import assert_same_value, assert_torch_error

__all__ = ["__version__", "assert_same_value", "assert_torch_error"]


def __getattr__(name: str) -> Any:
    if name in ("assert_same_value", "assert_torch_error"):
        return getattr(import_module("mindtorch_testing.compare"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

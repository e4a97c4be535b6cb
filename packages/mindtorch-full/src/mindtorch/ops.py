"""`torch.ops`: operators by namespace, `torch.ops.aten.add.Tensor`, `torch.ops.mylib.myop`."""

from __future__ import annotations

import ctypes
import os
from typing import Any

from mindtorch_dispatch.extend.overloads import namespace
from mindtorch_storage.lazy_import import load as _load

from .ops_table import aten as aten

__all__ = ["aten"]

loaded_libraries: set[str] = set()
"""The shared libraries that `load_library` has loaded."""


EQUALS = {
    ("torchvision", "_C"): "mindtorch._vision.operators",
    ("torchvision", "_C_stable"): "mindtorch._vision.operators",
}
"""Modules that define the operators of a library compiled for PyTorch, by its folder and name."""

DEFINED_BY = {
    **dict.fromkeys(
        ("_c10d_functional", "_c10d_functional_autograd", "c10d_functional", "c10d"), "mindtorch.distributed._operators"
    ),
    "quantized": "mindtorch._quantized.operators",
    "higher_order": "mindtorch._higher_order_ops",
}
"""Modules that define the operators of a namespace that torch has from its start."""


def load_library(path: str) -> None:
    """Load a shared library that registers operators when it is loaded; OSError with torch's text when it cannot be.

    One compiled against torch's own libraries cannot: they are not here. Where its operators are, they are defined.
    """
    path = os.path.realpath(path)
    folder, name = os.path.split(path)
    equal = EQUALS.get((os.path.basename(folder), name.partition(".")[0]))
    if equal is not None and os.path.exists(path):
        _load(equal)
        loaded_libraries.add(path)
        return
    try:
        ctypes.CDLL(path)
    except OSError as error:
        raise OSError(f"Could not load this library: {path}") from error
    loaded_libraries.add(path)


def import_module(module: str) -> None:
    """Import a Python module that registers operators when it is imported."""
    _load(module)


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module 'torch.ops' has no attribute '{name}'")
    if name in DEFINED_BY:
        _load(DEFINED_BY[name])
    found = globals()[name] = namespace(name)
    return found

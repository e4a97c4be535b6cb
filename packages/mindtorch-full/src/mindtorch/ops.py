"""`torch.ops`: operators by namespace, `torch.ops.aten.add.Tensor`, `torch.ops.mylib.myop`."""

from __future__ import annotations

from typing import Any

from mindtorch_dispatch.call import namespace

from .ops_table import aten as aten

__all__ = ["aten"]


def load_library(path: str) -> None:
    """Raise: compiled operator libraries are built against another torch."""
    raise OSError(
        f"Could not load this library: {path}: MindTorch does not load operator libraries compiled for PyTorch"
    )


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(f"module 'torch.ops' has no attribute '{name}'")
    return namespace(name)

"""Exchange tensors with other libraries without copying."""

from __future__ import annotations

from typing import Any

from mindtorch._naming import adopt
from mindtorch.functions.interop import from_dlpack

__all__ = ["from_dlpack", "to_dlpack"]


def to_dlpack(tensor: Any) -> Any:
    """A capsule that another library can take the tensor's memory from."""
    return tensor.__dlpack__()


adopt(globals())

"""Exchange tensors with other libraries without copying."""

from __future__ import annotations

from typing import Any

from mindtorch._naming import adopt
from mindtorch.functions.interop import from_dlpack
from mindtorch.tensor.interop import DLDeviceType
from mindtorch_storage.tensor_base import TensorBase

__all__ = ["DLDeviceType", "from_dlpack"]


def to_dlpack(tensor: Any) -> Any:
    """A capsule that another library can take the tensor's memory from."""
    if not isinstance(tensor, TensorBase):
        raise TypeError(f"_to_dlpack(): argument 'data' (position 1) must be Tensor, not {type(tensor).__name__}")
    source: Any = tensor
    return source.detach().__dlpack__()


adopt(globals())

"""The dtype names of the surface: `torch.float32`, `torch.long`, ..."""

from __future__ import annotations

from typing import Any

from mindtorch_storage import dtype as _dtype_module

DTYPES: dict[str, Any] = {
    name: value
    for name, value in vars(_dtype_module).items()
    if isinstance(value, _dtype_module.dtype) and not name.startswith("_")
}
"""Name to dtype, aliases included."""

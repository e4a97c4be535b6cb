"""`torch._VF`: the operators without what Python wraps around them."""

from typing import Any

import mindtorch


def __getattr__(name: str) -> Any:
    found = None if name.startswith("__") else getattr(mindtorch, name, None)
    if found is None:
        raise AttributeError(f"module 'torch._VF' has no attribute '{name}'")
    return found

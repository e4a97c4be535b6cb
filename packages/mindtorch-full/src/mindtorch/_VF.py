"""`torch._VF`: the operators without what Python wraps around them."""

from typing import Any

import mindtorch
from mindtorch_dispatch.call import aten
from mindtorch_dispatch.table import find_packet


def __getattr__(name: str) -> Any:
    found = None if name.startswith("__") else getattr(mindtorch, name, None)
    if found is None and find_packet(name) is not None:
        return getattr(aten, name)  # an operator that `torch` itself does not name
    if found is None:
        raise AttributeError(f"module 'torch._VF' has no attribute '{name}'")
    return found

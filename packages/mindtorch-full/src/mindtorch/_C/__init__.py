"""`torch._C`: the few of torch's native names that other libraries read. There is no native module behind it.

A name that is not here raises the error that torch raises for a native function its build lacks.
"""

from typing import Any

from mindtorch._C import _nn
from mindtorch._naming import adopt
from mindtorch_dispatch.overrides import disabled_torch_function as _disabled_torch_function_impl
from mindtorch_storage.device import device
from mindtorch_storage.dtype import dtype
from mindtorch_storage.layout import layout, memory_format
from mindtorch_storage.size import Size

__all__ = [
    "Size",
    "_disabled_torch_function_impl",
    "_get_accelerator",
    "_nn",
    "device",
    "dtype",
    "layout",
    "memory_format",
]


def _get_accelerator(check: Any = None) -> device:
    """Return the device type to compute on: the CPU, as there is no accelerator."""
    return device("cpu")


adopt(globals())

"""The module of the accelerator, where there is one."""

import importlib
import importlib.util
from typing import Any

from mindtorch_storage.lazy_import import LazyModule, load

_runtime = LazyModule("mindtorch_npu.runtime", "a backend that need not be installed")


def accelerator() -> Any:
    """Return `torch.npu` where there is an Ascend device, None elsewhere."""
    if importlib.util.find_spec("mindtorch_npu") is None:
        return None
    if not _runtime.is_available():
        return None
    return load("mindtorch.npu")

"""The module of the accelerator, where there is one."""

import importlib
import importlib.util
from typing import Any


def accelerator() -> Any:
    """Return `torch.npu` where there is an Ascend device, None elsewhere."""
    if importlib.util.find_spec("mindtorch_npu") is None:
        return None
    if not importlib.import_module("mindtorch_npu.runtime").is_available():
        return None
    return importlib.import_module("mindtorch.npu")

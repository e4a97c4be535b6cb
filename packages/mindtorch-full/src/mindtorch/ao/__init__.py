"""`torch.ao`: of quantization, the parts that a floating-point model is built with; nothing is quantized."""

import importlib
import importlib.util
from typing import Any

from mindtorch._naming import torch_name

__all__ = ["nn", "quantization"]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module '{torch_name(__name__)}' has no attribute '{name}'")

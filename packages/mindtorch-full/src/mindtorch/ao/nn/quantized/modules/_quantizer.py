"""How the result of a module is quantized: buffers, or numbers that a state dict has as tensors."""

from __future__ import annotations

from typing import Any

import mindtorch as torch


def register_quantizer(module: Any, scale: float, zero_point: int, device: Any = None, dtype: Any = None) -> None:
    """Keep scale and zero point as buffers of a module."""
    module.register_buffer("scale", torch.tensor(scale, device=device, dtype=dtype))
    module.register_buffer("zero_point", torch.tensor(zero_point, device=device, dtype=dtype))


def save_quantizer(module: Any, destination: dict[str, Any], prefix: str) -> None:
    """Write the numbers of a module into a state dict."""
    destination[prefix + "scale"] = torch.tensor(module.scale)
    destination[prefix + "zero_point"] = torch.tensor(module.zero_point)


def load_quantizer(module: Any, state_dict: dict[str, Any], prefix: str) -> None:
    """Take the numbers of a module out of a state dict."""
    module.scale = float(state_dict.pop(prefix + "scale"))
    module.zero_point = int(state_dict.pop(prefix + "zero_point"))

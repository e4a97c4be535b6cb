"""Integers of eight bits in the place of numbers."""

from __future__ import annotations

import mindtorch as torch
from mindtorch.tensor.tensor import Tensor


def to_int8(x: Tensor) -> Tensor:
    """Return numbers rounded to the nearest integer of eight bits."""
    return torch.round(x).clamp(-128, 127).to(torch.int8)

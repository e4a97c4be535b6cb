"""What stands for dropout in a quantized model."""

from __future__ import annotations

from typing import Any

from mindtorch import nn
from mindtorch._naming import adopt
from mindtorch._tensor import Tensor

__all__ = ["Dropout"]


class Dropout(nn.Dropout):
    """Returns what it is given.

    >>> import torch.ao.nn.quantized as nnq
    >>> x = torch.quantize_per_tensor(torch.tensor([[-1.0, 0.5, 2.0]]), 0.5, 10, torch.quint8)
    >>> nnq.Dropout(0.9)(x).dequantize()
    tensor([[-1.0000,  0.5000,  2.0000]])
    """

    def forward(self, input: Tensor) -> Any:
        """Return `input`."""
        return input

    def _get_name(self) -> str:
        return "QuantizedDropout"

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """Return the module for one of numbers."""
        return cls(mod.p, mod.inplace)

    @classmethod
    def from_reference(cls, mod: Any, scale: Any, zero_point: Any) -> Any:
        """Return the module for one of numbers."""
        return cls(mod.p, mod.inplace)


adopt(globals())

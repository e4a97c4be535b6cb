"""A linear layer with ReLU and a quantized weight, whose inputs are quantized as they come."""

from __future__ import annotations

from typing import Any, ClassVar

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.ao.nn import intrinsic
from mindtorch.ao.nn.quantized import dynamic

__all__ = ["LinearReLU"]


class LinearReLU(dynamic.Linear):
    """A linear layer, and ReLU.

    >>> import torch.ao.nn.intrinsic.quantized.dynamic as nniqd
    >>> bool((nniqd.LinearReLU(3, 2)(torch.ones(1, 3)) >= 0).all())
    True
    """

    _FLOAT_MODULE: ClassVar[Any] = intrinsic.LinearReLU

    def __init__(self, in_features: int, out_features: int, bias: bool = True, dtype: Any = torch.qint8) -> None:
        super().__init__(in_features, out_features, bias, dtype)

    def forward(self, x: Tensor) -> Any:
        """Multiply; what is positive of it."""
        return torch.relu(super().forward(x))

    def _get_name(self) -> str:
        return "DynamicQuantizedLinearReLU"

    @classmethod
    def from_reference(cls, ref_qlinear_relu: Any) -> Any:  # type: ignore[override]
        """Return the layer for one that dequantizes its weight."""
        return super().from_reference(ref_qlinear_relu[0])


adopt(globals())

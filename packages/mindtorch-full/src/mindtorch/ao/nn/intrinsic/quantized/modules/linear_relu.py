"""A linear layer of integers with ReLU."""

from __future__ import annotations

from typing import Any, ClassVar

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.ao.nn import intrinsic
from mindtorch.ao.nn import quantized as layers

__all__ = ["LinearReLU"]


class LinearReLU(layers.Linear):
    """A linear layer, and ReLU.

    >>> import torch.ao.nn.intrinsic.quantized as nniq
    >>> layer = nniq.LinearReLU(3, 2)
    >>> x = torch.quantize_per_tensor(torch.ones(1, 3), 0.5, 0, torch.quint8)
    >>> bool((layer(x).dequantize() >= 0).all())
    True
    """

    _FLOAT_MODULE: ClassVar[Any] = intrinsic.LinearReLU

    def __init__(self, in_features: int, out_features: int, bias: bool = True, dtype: Any = torch.qint8) -> None:
        super().__init__(in_features, out_features, bias, dtype)

    def forward(self, x: Tensor) -> Any:
        """Multiply integers; what is positive of them."""
        return torch.ops.quantized.linear_relu(x, self._packed_params._packed_params, self.scale, self.zero_point)

    def _get_name(self) -> str:
        return "QuantizedLinearReLU"

    @classmethod
    def from_reference(cls, ref_linear_relu: Any, output_scale: Any, output_zero_point: Any) -> Any:
        """Return the layer for one that dequantizes its weight."""
        return super().from_reference(ref_linear_relu[0], output_scale, output_zero_point)


adopt(globals())

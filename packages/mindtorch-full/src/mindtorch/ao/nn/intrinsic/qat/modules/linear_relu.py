"""A linear layer with ReLU that is trained with a rounded weight."""

from __future__ import annotations

from typing import Any, ClassVar

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.ao.nn import intrinsic, qat
from mindtorch.ao.nn.intrinsic import _FusedModule
from mindtorch.nn import functional

__all__ = ["LinearReLU"]


class LinearReLU(qat.Linear, _FusedModule):
    """A linear layer with ReLU, whose weight is rounded.

    >>> import torch.ao.nn.intrinsic.qat as nniqat
    >>> from torch.ao.quantization import get_default_qat_qconfig
    >>> qconfig = get_default_qat_qconfig("x86")
    >>> layer = nniqat.LinearReLU(2, 3, qconfig=qconfig)
    >>> bool((layer(torch.ones(1, 2)) >= 0).all())
    True
    """

    _FLOAT_MODULE: ClassVar[Any] = intrinsic.LinearReLU

    def __init__(self, in_features: int, out_features: int, bias: bool = True, qconfig: Any = None) -> None:
        super().__init__(in_features, out_features, bias, qconfig)

    def forward(self, input: Tensor) -> Any:
        """Multiply by the rounded weight; what is positive of it."""
        return functional.relu(super().forward(input))

    def to_float(self) -> Any:
        """Return the plain layer, and ReLU."""
        made: Any = torch.nn.Linear(self.in_features, self.out_features, self.bias is not None)
        made.weight = torch.nn.Parameter(self.weight.detach())
        if self.bias is not None:
            made.bias = torch.nn.Parameter(self.bias.detach())
        return intrinsic.LinearReLU(made, torch.nn.ReLU())


adopt(globals())

"""A linear layer with normalization that is trained with a rounded weight."""

from __future__ import annotations

from typing import Any

import mindtorch as torch
from mindtorch import nn
from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.ao.nn import intrinsic
from mindtorch.ao.nn.intrinsic.qat.modules._normalized import NormalizedModule
from mindtorch.nn import functional
from mindtorch.nn.utils.fusion import fuse_linear_bn_weights

__all__ = ["LinearBn1d"]


class LinearBn1d(nn.Linear, NormalizedModule):
    """A linear layer with normalization, whose weight is rounded.

    >>> import torch.ao.nn.intrinsic.qat as nniqat
    >>> from torch.ao.quantization import get_default_qat_qconfig
    >>> qconfig = get_default_qat_qconfig("x86")
    >>> layer = nniqat.LinearBn1d(2, 3, qconfig=qconfig).eval()
    >>> layer(torch.ones(1, 2)).shape
    torch.Size([1, 3])
    """

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        eps: float = 1e-05,
        momentum: float = 0.1,
        freeze_bn: bool = False,
        qconfig: Any = None,
    ) -> None:
        nn.Linear.__init__(self, in_features, out_features, bias)
        self._begin(nn.BatchNorm1d(out_features, eps, momentum, True, True), bias, freeze_bn, qconfig)

    def forward(self, input: Tensor) -> Any:
        """Round the weight as normalization will scale it, take the scale out of the product again, and normalize."""
        if self.bn.running_var is None:
            raise AssertionError("self.bn.running_var must not be None")
        factor = self.bn.weight / torch.sqrt(self.bn.running_var + self.bn.eps)
        weight = self.weight_fake_quant(self.weight * factor.reshape([-1, 1]))
        zero = (
            torch.zeros(self.out_features, device=weight.device) if self.bias is None else torch.zeros_like(self.bias)
        )
        found = functional.linear(input, weight, zero) / factor.reshape([1, -1])
        if self.bias is not None:
            found = found + self.bias.reshape([1, -1])
        return self.bn(found)

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """Return the layer with the parameters of a fused one, which has a configuration."""
        if type(mod) is not intrinsic.LinearBn1d:
            raise AssertionError(f"qat.{cls.__name__}.from_float only works for {intrinsic.LinearBn1d.__name__}")
        if not hasattr(mod, "qconfig"):
            raise AssertionError("Input float module must have qconfig defined")
        if not mod.qconfig:
            raise AssertionError("Input float module must have a valid config")
        linear, bn = mod[0], mod[1]
        made: Any = cls(
            linear.in_features, linear.out_features, linear.bias is not None, bn.eps, bn.momentum, False, mod.qconfig
        )
        made.weight, made.bias = linear.weight, linear.bias
        made._take_norm(bn)
        return made

    def to_float(self) -> Any:
        """Return the plain layer that normalizes, too."""
        made: Any = nn.Linear(self.in_features, self.out_features)
        bn = self.bn
        if bn.running_var is None or bn.running_mean is None:
            raise AssertionError("self.bn.running_var and self.bn.running_mean must not be None")
        made.weight, made.bias = fuse_linear_bn_weights(
            self.weight, self.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
        )
        return made


adopt(globals())

"""A linear layer that is trained with a rounded weight."""

from __future__ import annotations

from typing import Any, ClassVar

import mindtorch as torch
from mindtorch import nn
from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.ao.nn.intrinsic import LinearReLU
from mindtorch.ao.nn.qat.modules._configured import check_configured
from mindtorch.nn import functional
from mindtorch.nn.utils.parametrize import (
    is_parametrized,
    transfer_parametrizations_and_params,
    type_before_parametrizations,
)

__all__ = ["Linear"]


class Linear(nn.Linear):
    """`nn.Linear` whose weight is rounded before it is used.

    >>> import torch.ao.nn.qat as nnqat
    >>> from torch.ao.quantization import get_default_qat_qconfig
    >>> qconfig = get_default_qat_qconfig("x86")
    >>> layer = nnqat.Linear(2, 3, qconfig=qconfig)
    >>> layer(torch.ones(1, 2)).shape, type(layer.weight_fake_quant).__name__
    (torch.Size([1, 3]), 'FusedMovingAvgObsFakeQuantize')
    """

    _FLOAT_MODULE: ClassVar[Any] = nn.Linear

    def __init__(
        self,
        in_features: int,
        out_features: int,
        bias: bool = True,
        qconfig: Any = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(in_features, out_features, bias, device=device, dtype=dtype)
        if not qconfig:
            raise AssertionError("qconfig must be provided for QAT module")
        self.qconfig = qconfig
        self.weight_fake_quant = qconfig.weight(factory_kwargs={"device": device, "dtype": dtype})

    def forward(self, input: Tensor) -> Any:
        """Multiply by the rounded weight."""
        return functional.linear(input, self.weight_fake_quant(self.weight), self.bias)

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """Return the layer with the parameters of another one, which has a configuration."""
        if type_before_parametrizations(mod) != cls._FLOAT_MODULE:
            raise AssertionError(
                f"qat.{cls.__name__}.from_float only works for {cls._FLOAT_MODULE.__name__}, "
                f"got {type_before_parametrizations(mod).__name__}"
            )
        check_configured(mod)
        if type_before_parametrizations(mod) == LinearReLU:
            mod = mod[0]
        made: Any = cls(mod.in_features, mod.out_features, bias=mod.bias is not None, qconfig=mod.qconfig)
        for name in ("weight", "bias"):
            if is_parametrized(mod, name):
                transfer_parametrizations_and_params(mod, made, name)
            else:
                setattr(made, name, getattr(mod, name))
        return made

    def to_float(self) -> Any:
        """Return the plain layer."""
        made: Any = nn.Linear(self.in_features, self.out_features, self.bias is not None)
        made.weight = torch.nn.Parameter(self.weight.detach())
        if self.bias is not None:
            made.bias = torch.nn.Parameter(self.bias.detach())
        made.train(self.training)
        return made


adopt(globals())

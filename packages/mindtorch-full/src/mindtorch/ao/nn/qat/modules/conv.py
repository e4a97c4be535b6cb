"""Convolutions that are trained with rounded weights."""

from __future__ import annotations

from typing import Any, ClassVar

import mindtorch as torch
from mindtorch import nn
from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.ao.nn.intrinsic import _FusedModule
from mindtorch.ao.nn.qat.modules._configured import check_configured
from mindtorch.nn.modules.conv import _ConvNd as _PlainConvNd
from mindtorch.nn.modules.utils import _ntuple

__all__ = ["Conv1d", "Conv2d", "Conv3d"]


class _ConvNd(_PlainConvNd):
    _FLOAT_MODULE: ClassVar[Any]
    _FLOAT_CONV_MODULE: ClassVar[Any]
    _rank: ClassVar[int]

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        qconfig: Any = None,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        many = _ntuple(self._rank)
        _PlainConvNd.__init__(
            self,
            in_channels,
            out_channels,
            many(kernel_size),
            many(stride),
            padding if isinstance(padding, str) else many(padding),
            many(dilation),
            False,
            many(0),
            groups,
            bias,
            padding_mode,
            device=device,
            dtype=dtype,
        )
        if not qconfig:
            raise AssertionError("qconfig must be provided for QAT module")
        self.qconfig = qconfig
        self.weight_fake_quant = qconfig.weight(factory_kwargs={"device": device, "dtype": dtype})

    def forward(self, input: Tensor) -> Any:
        """Convolve with the rounded weight."""
        return self._conv_forward(input, self.weight_fake_quant(self.weight), self.bias)  # type: ignore[attr-defined]

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """Return the convolution with the parameters of another one, which has a configuration."""
        if type(mod) is not cls._FLOAT_MODULE:
            raise AssertionError(
                f"qat.{cls.__name__}.from_float only works for {cls._FLOAT_MODULE.__name__}, got {type(mod).__name__}"
            )
        check_configured(mod)
        if isinstance(mod, _FusedModule):
            mod = mod[0]
        made: Any = cls(
            mod.in_channels,
            mod.out_channels,
            mod.kernel_size,
            stride=mod.stride,
            padding=mod.padding,
            dilation=mod.dilation,
            groups=mod.groups,
            bias=mod.bias is not None,
            padding_mode=mod.padding_mode,
            qconfig=mod.qconfig,
        )
        made.weight, made.bias = mod.weight, mod.bias
        return made

    def to_float(self) -> Any:
        """Return the plain convolution, with ReLU behind it where there was one."""
        made = plain_conv(self)
        if not isinstance(self, _FusedModule):
            return made
        fused = self._FLOAT_MODULE(made, nn.ReLU())
        fused.train(self.training)
        return fused


def plain_conv(module: Any) -> Any:
    """Return the plain convolution of one that is trained with rounding."""
    made = module._FLOAT_CONV_MODULE(
        module.in_channels,
        module.out_channels,
        module.kernel_size,
        module.stride,
        module.padding,
        module.dilation,
        module.groups,
        module.bias is not None,
        module.padding_mode,
    )
    made.weight = torch.nn.Parameter(module.weight.detach())
    if module.bias is not None:
        made.bias = torch.nn.Parameter(module.bias.detach())
    return made


class Conv1d(_ConvNd, nn.Conv1d):
    """`nn.Conv1d` whose weight is rounded before it is used.

    >>> import torch.ao.nn.qat as nnqat
    >>> from torch.ao.quantization import get_default_qat_qconfig
    >>> qconfig = get_default_qat_qconfig("x86")
    >>> layer = nnqat.Conv1d(1, 2, 3, qconfig=qconfig)
    >>> layer(torch.ones(1, 1, 3)).shape, type(layer.weight_fake_quant).__name__
    (torch.Size([1, 2, 1]), 'FusedMovingAvgObsFakeQuantize')
    """

    _FLOAT_MODULE: ClassVar[Any] = nn.Conv1d
    _FLOAT_CONV_MODULE: ClassVar[Any] = nn.Conv1d
    _rank = 1


class Conv2d(_ConvNd, nn.Conv2d):
    """`nn.Conv2d` whose weight is rounded before it is used.

    >>> import torch.ao.nn.qat as nnqat
    >>> from torch.ao.quantization import get_default_qat_qconfig
    >>> qconfig = get_default_qat_qconfig("x86")
    >>> layer = nnqat.Conv2d(1, 2, 3, qconfig=qconfig)
    >>> layer(torch.ones(1, 1, 3, 3)).shape, type(layer.weight_fake_quant).__name__
    (torch.Size([1, 2, 1, 1]), 'FusedMovingAvgObsFakeQuantize')
    """

    _FLOAT_MODULE: ClassVar[Any] = nn.Conv2d
    _FLOAT_CONV_MODULE: ClassVar[Any] = nn.Conv2d
    _rank = 2


class Conv3d(_ConvNd, nn.Conv3d):
    """`nn.Conv3d` whose weight is rounded before it is used.

    >>> import torch.ao.nn.qat as nnqat
    >>> from torch.ao.quantization import get_default_qat_qconfig
    >>> qconfig = get_default_qat_qconfig("x86")
    >>> layer = nnqat.Conv3d(1, 2, 3, qconfig=qconfig)
    >>> layer(torch.ones(1, 1, 3, 3, 3)).shape, type(layer.weight_fake_quant).__name__
    (torch.Size([1, 2, 1, 1, 1]), 'FusedMovingAvgObsFakeQuantize')
    """

    _FLOAT_MODULE: ClassVar[Any] = nn.Conv3d
    _FLOAT_CONV_MODULE: ClassVar[Any] = nn.Conv3d
    _rank = 3


adopt(globals())

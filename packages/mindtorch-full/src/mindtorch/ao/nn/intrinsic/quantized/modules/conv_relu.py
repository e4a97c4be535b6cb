"""Convolutions of integers with ReLU."""

from __future__ import annotations

from typing import Any, ClassVar

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.ao.nn import intrinsic
from mindtorch.ao.nn import quantized as layers
from mindtorch.ao.nn.quantized.modules.conv import _fold_normalization

__all__ = ["ConvReLU1d", "ConvReLU2d", "ConvReLU3d"]


class _ConvReLU:
    _trained: Any

    def forward(self, input: Tensor) -> Any:
        """Convolve integers; what is positive of them."""
        module: Any = self
        operator = getattr(torch.ops.quantized, module._operator + "_relu")
        return operator(module._input(input), module._packed_params, module.scale, module.zero_point)

    def _get_name(self) -> str:
        return f"Quantized{type(self).__name__}"

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """Return the convolution for one of numbers, whose observers saw some."""
        if type(mod) is cls._trained:
            _fold_normalization(mod)
        return super().from_float(mod, use_precomputed_fake_quant)  # type: ignore[misc]

    @classmethod
    def from_reference(cls, ref_qconv: Any, output_scale: Any, output_zero_point: Any) -> Any:
        """Return the convolution for one that dequantizes its weight."""
        return super().from_reference(ref_qconv[0], output_scale, output_zero_point)  # type: ignore[misc]


class ConvReLU1d(_ConvReLU, layers.Conv1d):
    """A convolution over one dimension, and ReLU.

    >>> import torch.ao.nn.intrinsic.quantized as nniq
    >>> layer = nniq.ConvReLU1d(1, 2, 3)
    >>> x = torch.quantize_per_tensor(torch.ones(1, 1, 3), 0.5, 0, torch.quint8)
    >>> bool((layer(x).dequantize() >= 0).all())
    True
    """

    _FLOAT_MODULE: ClassVar[Any] = intrinsic.ConvReLU1d
    _trained = intrinsic.qat.ConvBnReLU1d


class ConvReLU2d(_ConvReLU, layers.Conv2d):
    """A convolution over two dimensions, and ReLU.

    >>> import torch.ao.nn.intrinsic.quantized as nniq
    >>> layer = nniq.ConvReLU2d(1, 2, 3)
    >>> x = torch.quantize_per_tensor(torch.ones(1, 1, 3, 3), 0.5, 0, torch.quint8)
    >>> bool((layer(x).dequantize() >= 0).all())
    True
    """

    _FLOAT_MODULE: ClassVar[Any] = intrinsic.ConvReLU2d
    _trained = intrinsic.qat.ConvBnReLU2d


class ConvReLU3d(_ConvReLU, layers.Conv3d):
    """A convolution over three dimensions, and ReLU.

    >>> import torch.ao.nn.intrinsic.quantized as nniq
    >>> layer = nniq.ConvReLU3d(1, 2, 3)
    >>> x = torch.quantize_per_tensor(torch.ones(1, 1, 3, 3, 3), 0.5, 0, torch.quint8)
    >>> bool((layer(x).dequantize() >= 0).all())
    True
    """

    _FLOAT_MODULE: ClassVar[Any] = intrinsic.ConvReLU3d
    _trained = intrinsic.qat.ConvBnReLU3d


adopt(globals())

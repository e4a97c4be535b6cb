"""Normalization of integers with ReLU."""

from __future__ import annotations

from typing import Any

from mindtorch._naming import adopt
from mindtorch.ao.nn import intrinsic
from mindtorch.ao.nn import quantized as layers

__all__ = ["BNReLU2d", "BNReLU3d"]


class BNReLU2d(layers.BatchNorm2d):
    """Normalization of images, and ReLU.

    >>> import torch.ao.nn.intrinsic.quantized as nniq
    >>> nniq.BNReLU2d(3)
    QuantizedBNReLU2d(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
    """

    _FLOAT_MODULE, _operator = intrinsic.BNReLU2d, "batch_norm2d_relu"

    @classmethod
    def from_reference(cls, bn_relu: Any, output_scale: Any, output_zero_point: Any) -> Any:
        """Return the module with a given quantizer."""
        return super().from_reference(bn_relu[0], output_scale, output_zero_point)


class BNReLU3d(layers.BatchNorm3d):
    """Normalization of volumes, and ReLU.

    >>> import torch.ao.nn.intrinsic.quantized as nniq
    >>> nniq.BNReLU3d(3)
    QuantizedBNReLU3d(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
    """

    _FLOAT_MODULE, _operator = intrinsic.BNReLU3d, "batch_norm3d_relu"

    @classmethod
    def from_reference(cls, bn_relu: Any, output_scale: Any, output_zero_point: Any) -> Any:
        """Return the module with a given quantizer."""
        return super().from_reference(bn_relu[0], output_scale, output_zero_point)


adopt(globals())

"""Normalization of integers by what was seen in training."""

from __future__ import annotations

from typing import Any, ClassVar

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.ao.nn import intrinsic
from mindtorch.ao.nn.quantized.modules._quantizer import register_quantizer
from mindtorch.nn.modules.batchnorm import _BatchNorm as _PlainBatchNorm

__all__ = ["BatchNorm2d", "BatchNorm3d"]


class _BatchNorm(_PlainBatchNorm):
    _rank: ClassVar[int]
    _NNI_BN_RELU_MODULE: ClassVar[Any]
    _operator: ClassVar[str]

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(num_features, eps, momentum, True, True, device=device, dtype=dtype)
        register_quantizer(self, 1.0, 0, device, dtype)

    def _get_name(self) -> str:
        return f"Quantized{type(self).__name__}"

    def _check_input_dim(self, input: Tensor) -> None:
        if len(input.shape) != self._rank + 2:
            raise ValueError("Input shape must be `(N, C, H, W)`!")

    def forward(self, input: Tensor) -> Any:
        """Normalize, and round."""
        return getattr(torch.ops.quantized, self._operator)(
            input,
            self.weight,
            self.bias,
            self.running_mean,
            self.running_var,
            self.eps,
            self.scale,
            self.zero_point,
        )

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """Return the module for one whose observer saw numbers."""
        activation = mod.activation_post_process
        if type(mod) is cls._NNI_BN_RELU_MODULE:
            mod = mod[0]
        scale, zero_point = activation.calculate_qparams()
        made: Any = cls(mod.num_features, mod.eps)
        for name in ("weight", "bias", "running_mean", "running_var"):
            setattr(made, name, getattr(mod, name))
        made.scale, made.zero_point = scale, zero_point
        return made

    @classmethod
    def from_reference(cls, bn: Any, output_scale: Any, output_zero_point: Any) -> Any:
        """Return the module with a given quantizer."""
        made: Any = cls(bn.num_features, bn.eps, bn.momentum, device=bn.weight.device, dtype=bn.weight.dtype)
        for name in ("weight", "bias", "running_mean", "running_var"):
            setattr(made, name, getattr(bn, name))
        made.scale, made.zero_point = output_scale, output_zero_point
        return made


class BatchNorm2d(_BatchNorm):
    """`nn.BatchNorm2d` of integers.

    >>> import torch.ao.nn.quantized as nnq
    >>> nnq.BatchNorm2d(3)
    QuantizedBatchNorm2d(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
    """

    _rank, _operator, _NNI_BN_RELU_MODULE = 2, "batch_norm2d", intrinsic.BNReLU2d


class BatchNorm3d(_BatchNorm):
    """`nn.BatchNorm3d` of integers.

    >>> import torch.ao.nn.quantized as nnq
    >>> nnq.BatchNorm3d(3)
    QuantizedBatchNorm3d(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
    """

    _rank, _operator, _NNI_BN_RELU_MODULE = 3, "batch_norm3d", intrinsic.BNReLU3d


adopt(globals())

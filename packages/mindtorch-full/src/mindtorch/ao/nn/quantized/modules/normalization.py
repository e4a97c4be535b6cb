"""Normalization of integers by their own mean and deviation."""

from __future__ import annotations

from typing import Any

import mindtorch as torch
from mindtorch import nn
from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.ao.nn.quantized.modules._quantizer import register_quantizer

__all__ = ["GroupNorm", "InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d", "LayerNorm"]


class _Scaled:
    """A module that knows how its result is quantized."""

    def _take(self, weight: Any, bias: Any, scale: Any, zero_point: Any, device: Any, dtype: Any) -> None:
        module: Any = self
        module.weight, module.bias = weight, bias
        register_quantizer(module, scale, zero_point, device, dtype)

    def _get_name(self) -> str:
        return f"Quantized{type(self).__name__}"

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """Return the module for one whose observer saw numbers."""
        scale, zero_point = mod.activation_post_process.calculate_qparams()
        return cls.from_reference(mod, scale, zero_point)

    @classmethod
    def from_reference(cls, mod: Any, scale: Any, zero_point: Any) -> Any:
        """Return the module with a given quantizer."""
        made: Any = cls
        return made(*cls._arguments(mod, float(scale), int(zero_point)))

    @staticmethod
    def _arguments(mod: Any, scale: float, zero_point: int) -> tuple[Any, ...]:
        return mod.num_features, mod.weight, mod.bias, scale, zero_point, mod.eps, mod.affine


class LayerNorm(_Scaled, nn.LayerNorm):
    """`nn.LayerNorm` of integers.

    >>> import torch.ao.nn.quantized as nnq
    >>> layer = nnq.LayerNorm(3, torch.nn.Parameter(torch.ones(3)), torch.nn.Parameter(torch.zeros(3)), 0.5, 10)
    >>> x = torch.quantize_per_tensor(torch.tensor([[-1.0, 0.5, 2.0]]), 0.5, 10, torch.quint8)
    >>> layer(x).dequantize()
    tensor([[-1.,  0.,  1.]])
    """

    def __init__(
        self,
        normalized_shape: Any,
        weight: Any,
        bias: Any,
        scale: Any,
        zero_point: Any,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        nn.LayerNorm.__init__(
            self, normalized_shape, eps=eps, elementwise_affine=elementwise_affine, device=device, dtype=dtype
        )
        self._take(weight, bias, scale, zero_point, device, dtype)

    def forward(self, input: Tensor) -> Any:
        """Normalize, and round."""
        return torch.ops.quantized.layer_norm(
            input, self.normalized_shape, self.weight, self.bias, self.eps, self.scale, self.zero_point
        )

    @staticmethod
    def _arguments(mod: Any, scale: float, zero_point: int) -> tuple[Any, ...]:
        return mod.normalized_shape, mod.weight, mod.bias, scale, zero_point, mod.eps, mod.elementwise_affine


class GroupNorm(_Scaled, nn.GroupNorm):
    """`nn.GroupNorm` of integers.

    >>> import torch.ao.nn.quantized as nnq
    >>> layer = nnq.GroupNorm(
    ...     1, 2, torch.nn.Parameter(torch.ones(2)), torch.nn.Parameter(torch.zeros(2)), 0.5, 10
    ... )
    >>> x = torch.quantize_per_tensor(torch.tensor([[[1.0], [3.0]]]), 0.5, 10, torch.quint8)
    >>> layer(x).dequantize()
    tensor([[[-1.],
             [ 1.]]])
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        weight: Any,
        bias: Any,
        scale: Any,
        zero_point: Any,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        nn.GroupNorm.__init__(self, num_groups, num_channels, eps, affine, device=device, dtype=dtype)
        self._take(weight, bias, scale, zero_point, device, dtype)

    def forward(self, input: Tensor) -> Any:
        """Normalize, and round."""
        return torch.ops.quantized.group_norm(
            input, self.num_groups, self.weight, self.bias, self.eps, self.scale, self.zero_point
        )

    @staticmethod
    def _arguments(mod: Any, scale: float, zero_point: int) -> tuple[Any, ...]:
        return mod.num_groups, mod.num_channels, mod.weight, mod.bias, scale, zero_point, mod.eps, mod.affine


class _InstanceNorm(_Scaled):
    def __init__(
        self,
        num_features: int,
        weight: Any,
        bias: Any,
        scale: Any,
        zero_point: Any,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device=device, dtype=dtype)  # type: ignore[call-arg]
        self._take(weight, bias, scale, zero_point, device, dtype)

    def forward(self, input: Tensor) -> Any:
        """Normalize, and round."""
        module: Any = self
        return torch.ops.quantized.instance_norm(
            input, module.weight, module.bias, module.eps, module.scale, module.zero_point
        )


class InstanceNorm1d(_InstanceNorm, nn.InstanceNorm1d):
    """`nn.InstanceNorm1d` of integers.

    >>> import torch.ao.nn.quantized as nnq
    >>> layer = nnq.InstanceNorm1d(
    ...     1, torch.nn.Parameter(torch.ones(1)), torch.nn.Parameter(torch.zeros(1)), 0.5, 10
    ... )
    >>> x = torch.quantize_per_tensor(torch.tensor([[[1.0, 3.0]]]), 0.5, 10, torch.quint8)
    >>> layer(x).dequantize()
    tensor([[[-1.,  1.]]])
    """


class InstanceNorm2d(_InstanceNorm, nn.InstanceNorm2d):
    """`nn.InstanceNorm2d` of integers.

    >>> import torch.ao.nn.quantized as nnq
    >>> layer = nnq.InstanceNorm2d(
    ...     1, torch.nn.Parameter(torch.ones(1)), torch.nn.Parameter(torch.zeros(1)), 0.5, 10
    ... )
    >>> x = torch.quantize_per_tensor(torch.tensor([[[[1.0, 3.0]]]]), 0.5, 10, torch.quint8)
    >>> layer(x).dequantize()
    tensor([[[[-1.,  1.]]]])
    """


class InstanceNorm3d(_InstanceNorm, nn.InstanceNorm3d):
    """`nn.InstanceNorm3d` of integers.

    >>> import torch.ao.nn.quantized as nnq
    >>> layer = nnq.InstanceNorm3d(
    ...     1, torch.nn.Parameter(torch.ones(1)), torch.nn.Parameter(torch.zeros(1)), 0.5, 10
    ... )
    >>> x = torch.quantize_per_tensor(torch.tensor([[[[[1.0, 3.0]]]]]), 0.5, 10, torch.quint8)
    >>> layer(x).dequantize()
    tensor([[[[[-1.,  1.]]]]])
    """


adopt(globals())

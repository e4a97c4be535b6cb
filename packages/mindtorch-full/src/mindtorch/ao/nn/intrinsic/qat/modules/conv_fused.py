"""Convolutions with normalization and ReLU that are trained with rounded weights."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import mindtorch as torch
from mindtorch import nn
from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.ao.nn import intrinsic, qat
from mindtorch.ao.nn.intrinsic import _FusedModule
from mindtorch.ao.nn.intrinsic.qat.modules._normalized import NormalizedModule
from mindtorch.ao.nn.qat.modules._configured import check_configured
from mindtorch.ao.nn.qat.modules.conv import plain_conv
from mindtorch.nn import functional, init
from mindtorch.nn.modules.conv import _ConvNd as _PlainConvNd
from mindtorch.nn.modules.utils import _ntuple
from mindtorch.nn.utils.fusion import fuse_conv_bn_weights

__all__ = [
    "ConvBn1d",
    "ConvBn2d",
    "ConvBn3d",
    "ConvBnReLU1d",
    "ConvBnReLU2d",
    "ConvBnReLU3d",
    "ConvReLU1d",
    "ConvReLU2d",
    "ConvReLU3d",
    "freeze_bn_stats",
    "update_bn_stats",
]
_NORMS = {1: nn.BatchNorm1d, 2: nn.BatchNorm2d, 3: nn.BatchNorm3d}
_MOVED = {
    "bn.weight": "gamma",
    "bn.bias": "beta",
    "bn.running_mean": "running_mean",
    "bn.running_var": "running_var",
    "bn.num_batches_tracked": "num_batches_tracked",
}
"""Where parameters of the normalization lie, and where the first version of state dicts had them."""


class _ConvBnNd(_PlainConvNd, NormalizedModule):
    _version = 2
    _rank: ClassVar[int]
    _FLOAT_MODULE: ClassVar[Any]
    _FLOAT_CONV_MODULE: ClassVar[Any]
    _FLOAT_BN_MODULE: ClassVar[Any]
    _FLOAT_RELU_MODULE: ClassVar[Any] = None
    _FUSED_FLOAT_MODULE: ClassVar[Any] = None

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: Any = None,
        padding_mode: str = "zeros",
        eps: float = 1e-05,
        momentum: float = 0.1,
        freeze_bn: bool = False,
        qconfig: Any = None,
    ) -> None:
        many = _ntuple(self._rank)
        _PlainConvNd.__init__(
            self,
            in_channels,
            out_channels,
            many(kernel_size),
            many(stride),
            many(padding),
            many(dilation),
            False,
            many(0),
            groups,
            False,
            padding_mode,
        )
        self._begin(_NORMS[self._rank](out_channels, eps, momentum, True, True), bias, freeze_bn, qconfig)
        self._enable_slow_path_for_better_numerical_stability = False

    def reset_bn_parameters(self) -> None:
        """Give normalization and bias new values."""
        super().reset_bn_parameters()
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            bound = 1 / math.sqrt(fan_in)
            init.uniform_(self.bias, -bound, bound)

    def _forward(self, input: Tensor) -> Any:
        if self._enable_slow_path_for_better_numerical_stability:
            return self._forward_slow(input)
        return self._forward_approximate(input)

    def _shapes(self) -> tuple[list[int], list[int]]:
        rank = self.weight.dim()
        return [-1, *[1] * (rank - 1)], [1, -1, *[1] * (rank - 2)]

    def _factor(self) -> tuple[Any, Any]:
        """Return by what the normalization multiplies, and the deviations it divides by."""
        if self.bn.running_var is None:
            raise AssertionError("self.bn.running_var must not be None")
        deviation = torch.sqrt(self.bn.running_var + self.bn.eps)
        return self.bn.weight / deviation, deviation

    def _forward_approximate(self, input: Tensor) -> Any:
        """Round the weight as normalization will scale it, and take the scale out of the result again."""
        factor, _ = self._factor()
        of_weight, of_bias = self._shapes()
        weight = self.weight_fake_quant(self.weight * factor.reshape(of_weight))
        if self.bias is not None:
            zero = torch.zeros_like(self.bias, dtype=input.dtype)
        else:
            zero = torch.zeros(self.out_channels, device=weight.device, dtype=input.dtype)
        found = self._conv_forward(input, weight, zero) / factor.reshape(of_bias)  # type: ignore[attr-defined]
        if self.bias is not None:
            found = found + self.bias.reshape(of_bias)
        return self.bn(found)

    def _forward_slow(self, input: Tensor) -> Any:
        """As `_forward_approximate`, with a second convolution in place of the division: factors of 0 are no problem."""
        if self.bn.running_mean is None:
            raise AssertionError("self.bn.running_mean must not be None")
        of_weight, of_bias = self._shapes()
        conv: Any = self._conv_forward  # type: ignore[attr-defined]
        zero = torch.zeros(self.out_channels, device=self.weight.device, dtype=input.dtype)
        if not self.bn.training:
            factor, deviation = self._factor()
            found = conv(input, self.weight_fake_quant(self.weight * factor.reshape(of_weight)), zero)
            mean = self.bn.running_mean - (self.bias if self.bias is not None else 0)
        else:
            plain = conv(input, self.weight, zero)
            with torch.no_grad():
                self.bn(plain if self.bias is None else plain + self.bias.reshape(of_bias))
            factor, running = self._factor()
            found = conv(input, self.weight_fake_quant(self.weight * factor.reshape(of_weight)), zero)
            dims = [0, *range(2, self.weight.dim())]
            mean = plain.mean(dims)
            variance = torch.square(plain - mean.reshape(of_bias)).mean(dims)
            deviation = torch.sqrt(variance + self.bn.eps)
            found = found * (running / deviation).reshape(of_bias)
        found = found + (self.bn.bias - self.bn.weight * mean / deviation).reshape(of_bias)
        if self.bias is not None:  # so that every parameter has a gradient
            found = found + (self.bias - self.bias).reshape(of_bias)
        return found

    def forward(self, input: Tensor) -> Any:
        """Convolve with the rounded weight, and normalize."""
        found = self._forward(input)
        return found if self._FLOAT_RELU_MODULE is None else functional.relu(found)

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, strict: bool, missing_keys: Any, *rest: Any
    ) -> None:
        if local_metadata.get("version") in (None, 1):
            for new, old in _MOVED.items():
                if prefix + old in state_dict:
                    state_dict[prefix + new] = state_dict.pop(prefix + old)
                elif prefix + new not in state_dict and strict:
                    missing_keys.append(prefix + new)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, strict, missing_keys, *rest)

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """Return the convolution with the parameters of a fused one, which has a configuration."""
        if type(mod) is not cls._FLOAT_MODULE:
            raise AssertionError(f"qat.{cls.__name__}.from_float only works for {cls._FLOAT_MODULE.__name__}")
        check_configured(mod)
        conv, bn = mod[0], mod[1]
        made: Any = cls(
            conv.in_channels,
            conv.out_channels,
            conv.kernel_size,
            conv.stride,
            conv.padding,
            conv.dilation,
            conv.groups,
            conv.bias is not None,
            conv.padding_mode,
            bn.eps,
            bn.momentum,
            False,
            mod.qconfig,
        )
        made.weight, made.bias = conv.weight, conv.bias
        made._take_norm(bn)
        return made

    def to_float(self) -> Any:
        """Return the plain convolution that normalizes, too, with ReLU behind it where there was one."""
        made = plain_conv(self)
        if self.bn.running_var is None or self.bn.running_mean is None:
            raise AssertionError("self.bn.running_var and self.bn.running_mean must not be None")
        bn = self.bn
        made.weight, made.bias = fuse_conv_bn_weights(
            made.weight, made.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
        )
        if self._FLOAT_RELU_MODULE is not None:
            made = self._FUSED_FLOAT_MODULE(made, self._FLOAT_RELU_MODULE())
        made.train(self.training)
        return made


class ConvBn1d(_ConvBnNd, nn.Conv1d):
    """A convolution over one dimension with normalization, whose weight is rounded.

    >>> import torch.ao.nn.intrinsic.qat as nniqat
    >>> from torch.ao.quantization import get_default_qat_qconfig
    >>> qconfig = get_default_qat_qconfig("x86")
    >>> layer = nniqat.ConvBn1d(1, 2, 3, qconfig=qconfig).eval()
    >>> layer(torch.ones(1, 1, 3)).shape, type(layer.weight_fake_quant).__name__
    (torch.Size([1, 2, 1]), 'FusedMovingAvgObsFakeQuantize')
    """

    _rank = 1
    _FLOAT_MODULE: ClassVar[Any] = intrinsic.ConvBn1d
    _FLOAT_CONV_MODULE, _FLOAT_BN_MODULE = nn.Conv1d, nn.BatchNorm1d


class ConvBnReLU1d(ConvBn1d):
    """A convolution over one dimension with normalization and ReLU, whose weight is rounded.

    >>> import torch.ao.nn.intrinsic.qat as nniqat
    >>> from torch.ao.quantization import get_default_qat_qconfig
    >>> qconfig = get_default_qat_qconfig("x86")
    >>> layer = nniqat.ConvBnReLU1d(1, 2, 3, qconfig=qconfig).eval()
    >>> layer(torch.ones(1, 1, 3)).shape, type(layer.weight_fake_quant).__name__
    (torch.Size([1, 2, 1]), 'FusedMovingAvgObsFakeQuantize')
    """

    _FLOAT_MODULE: ClassVar[Any] = intrinsic.ConvBnReLU1d
    _FUSED_FLOAT_MODULE, _FLOAT_RELU_MODULE = intrinsic.ConvReLU1d, nn.ReLU


class ConvBn2d(_ConvBnNd, nn.Conv2d):
    """A convolution over two dimensions with normalization, whose weight is rounded.

    >>> import torch.ao.nn.intrinsic.qat as nniqat
    >>> from torch.ao.quantization import get_default_qat_qconfig
    >>> qconfig = get_default_qat_qconfig("x86")
    >>> layer = nniqat.ConvBn2d(1, 2, 3, qconfig=qconfig).eval()
    >>> layer(torch.ones(1, 1, 3, 3)).shape, type(layer.weight_fake_quant).__name__
    (torch.Size([1, 2, 1, 1]), 'FusedMovingAvgObsFakeQuantize')
    """

    _rank = 2
    _FLOAT_MODULE: ClassVar[Any] = intrinsic.ConvBn2d
    _FLOAT_CONV_MODULE, _FLOAT_BN_MODULE = nn.Conv2d, nn.BatchNorm2d


class ConvBnReLU2d(ConvBn2d):
    """A convolution over two dimensions with normalization and ReLU, whose weight is rounded.

    >>> import torch.ao.nn.intrinsic.qat as nniqat
    >>> from torch.ao.quantization import get_default_qat_qconfig
    >>> qconfig = get_default_qat_qconfig("x86")
    >>> layer = nniqat.ConvBnReLU2d(1, 2, 3, qconfig=qconfig).eval()
    >>> layer(torch.ones(1, 1, 3, 3)).shape, type(layer.weight_fake_quant).__name__
    (torch.Size([1, 2, 1, 1]), 'FusedMovingAvgObsFakeQuantize')
    """

    _FLOAT_MODULE: ClassVar[Any] = intrinsic.ConvBnReLU2d
    _FUSED_FLOAT_MODULE, _FLOAT_RELU_MODULE = intrinsic.ConvReLU2d, nn.ReLU


class ConvBn3d(_ConvBnNd, nn.Conv3d):
    """A convolution over three dimensions with normalization, whose weight is rounded.

    >>> import torch.ao.nn.intrinsic.qat as nniqat
    >>> from torch.ao.quantization import get_default_qat_qconfig
    >>> qconfig = get_default_qat_qconfig("x86")
    >>> layer = nniqat.ConvBn3d(1, 2, 3, qconfig=qconfig).eval()
    >>> layer(torch.ones(1, 1, 3, 3, 3)).shape, type(layer.weight_fake_quant).__name__
    (torch.Size([1, 2, 1, 1, 1]), 'FusedMovingAvgObsFakeQuantize')
    """

    _rank = 3
    _FLOAT_MODULE: ClassVar[Any] = intrinsic.ConvBn3d
    _FLOAT_CONV_MODULE, _FLOAT_BN_MODULE = nn.Conv3d, nn.BatchNorm3d


class ConvBnReLU3d(ConvBn3d):
    """A convolution over three dimensions with normalization and ReLU, whose weight is rounded.

    >>> import torch.ao.nn.intrinsic.qat as nniqat
    >>> from torch.ao.quantization import get_default_qat_qconfig
    >>> qconfig = get_default_qat_qconfig("x86")
    >>> layer = nniqat.ConvBnReLU3d(1, 2, 3, qconfig=qconfig).eval()
    >>> layer(torch.ones(1, 1, 3, 3, 3)).shape, type(layer.weight_fake_quant).__name__
    (torch.Size([1, 2, 1, 1, 1]), 'FusedMovingAvgObsFakeQuantize')
    """

    _FLOAT_MODULE: ClassVar[Any] = intrinsic.ConvBnReLU3d
    _FUSED_FLOAT_MODULE, _FLOAT_RELU_MODULE = intrinsic.ConvReLU3d, nn.ReLU


class _ConvReLU:
    """A convolution with ReLU; its observer of the weight is made twice, as torch makes it."""

    _FLOAT_BN_MODULE = None
    _FLOAT_RELU_MODULE = nn.ReLU

    def __init__(self, *args: Any, qconfig: Any = None, **kwargs: Any) -> None:
        super().__init__(*args, qconfig=qconfig, **kwargs)  # type: ignore[call-arg]
        self.weight_fake_quant = qconfig.weight()

    def forward(self, input: Tensor) -> Any:
        """Convolve with the rounded weight; what is positive of it."""
        return functional.relu(super().forward(input))  # type: ignore[misc]


class ConvReLU1d(_ConvReLU, qat.Conv1d, _FusedModule):
    """A convolution over one dimension with ReLU, whose weight is rounded.

    >>> import torch.ao.nn.intrinsic.qat as nniqat
    >>> from torch.ao.quantization import get_default_qat_qconfig
    >>> qconfig = get_default_qat_qconfig("x86")
    >>> layer = nniqat.ConvReLU1d(1, 2, 3, qconfig=qconfig).eval()
    >>> layer(torch.ones(1, 1, 3)).shape, type(layer.weight_fake_quant).__name__
    (torch.Size([1, 2, 1]), 'FusedMovingAvgObsFakeQuantize')
    """

    _FLOAT_MODULE = intrinsic.ConvReLU1d


class ConvReLU2d(_ConvReLU, qat.Conv2d, _FusedModule):
    """A convolution over two dimensions with ReLU, whose weight is rounded.

    >>> import torch.ao.nn.intrinsic.qat as nniqat
    >>> from torch.ao.quantization import get_default_qat_qconfig
    >>> qconfig = get_default_qat_qconfig("x86")
    >>> layer = nniqat.ConvReLU2d(1, 2, 3, qconfig=qconfig).eval()
    >>> layer(torch.ones(1, 1, 3, 3)).shape, type(layer.weight_fake_quant).__name__
    (torch.Size([1, 2, 1, 1]), 'FusedMovingAvgObsFakeQuantize')
    """

    _FLOAT_MODULE = intrinsic.ConvReLU2d


class ConvReLU3d(_ConvReLU, qat.Conv3d, _FusedModule):
    """A convolution over three dimensions with ReLU, whose weight is rounded.

    >>> import torch.ao.nn.intrinsic.qat as nniqat
    >>> from torch.ao.quantization import get_default_qat_qconfig
    >>> qconfig = get_default_qat_qconfig("x86")
    >>> layer = nniqat.ConvReLU3d(1, 2, 3, qconfig=qconfig).eval()
    >>> layer(torch.ones(1, 1, 3, 3, 3)).shape, type(layer.weight_fake_quant).__name__
    (torch.Size([1, 2, 1, 1, 1]), 'FusedMovingAvgObsFakeQuantize')
    """

    _FLOAT_MODULE = intrinsic.ConvReLU3d


def update_bn_stats(mod: Any) -> None:
    """Let the normalization of a module learn: `model.apply(update_bn_stats)`.

    >>> import torch.ao.nn.intrinsic.qat as nniqat
    >>> from torch.ao.quantization import get_default_qat_qconfig
    >>> qconfig = get_default_qat_qconfig("x86")
    >>> layer = nniqat.ConvBn2d(1, 2, 3, freeze_bn=True, qconfig=qconfig)
    >>> _ = layer.apply(nniqat.update_bn_stats)
    >>> layer.bn.training
    True
    """
    if isinstance(mod, _ConvBnNd):
        mod.update_bn_stats()


def freeze_bn_stats(mod: Any) -> None:
    """Let the normalization of a module stay as it is.

    >>> import torch.ao.nn.intrinsic.qat as nniqat
    >>> from torch.ao.quantization import get_default_qat_qconfig
    >>> qconfig = get_default_qat_qconfig("x86")
    >>> layer = nniqat.ConvBn2d(1, 2, 3, qconfig=qconfig)
    >>> _ = layer.apply(nniqat.freeze_bn_stats)
    >>> layer.bn.training
    False
    """
    if isinstance(mod, _ConvBnNd):
        mod.freeze_bn_stats()


adopt(globals())

"""Convolutions of integers."""

from __future__ import annotations

from typing import Any, ClassVar

import mindtorch as torch
from mindtorch import nn
from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.ao.nn import intrinsic
from mindtorch.ao.nn.quantized.modules._quantizer import load_quantizer, save_quantizer
from mindtorch.ao.nn.quantized.modules.utils import WeightedQuantizedModule, _quantize_weight
from mindtorch.nn import functional
from mindtorch.nn.modules.utils import _ntuple, _reverse_repeat_tuple
from mindtorch.nn.utils.fusion import fuse_conv_bn_weights

__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]

_SUPPORTED_PADDING = {"zeros", "reflect"}
_SHAPES = {1: "(N, C, L)", 2: "(N, C, H, W)", 3: "(N, C, D, H, W)"}
_STATE = (
    "in_channels out_channels kernel_size stride padding dilation transposed output_padding groups padding_mode"
).split()


class _ConvNd(WeightedQuantizedModule):
    _rank: ClassVar[int]
    _operator: ClassVar[str]
    _FLOAT_MODULE: ClassVar[Any]
    _NNIQAT_CONV_BN_MODULE: ClassVar[Any] = None
    _NNI_CONV_RELU_MODULE: ClassVar[Any] = None
    _packed_params: Any

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
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        many = _ntuple(self._rank)
        steps = many(kernel_size), many(stride), many(padding), many(dilation), False, many(0)
        self._init(in_channels, out_channels, *steps, groups, bias, padding_mode, device)

    def _init(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any,
        padding: Any,
        dilation: Any,
        transposed: bool,
        output_padding: Any,
        groups: int,
        bias: bool,
        padding_mode: str = "zeros",
        device: Any = None,
    ) -> None:
        super().__init__()
        if out_channels <= 0:
            raise ValueError(f"out_channels must be greater than 0, got {out_channels}")
        if in_channels % groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups != 0:
            raise ValueError("out_channels must be divisible by groups")
        self.in_channels, self.out_channels, self.kernel_size = in_channels, out_channels, kernel_size
        self.stride, self.padding, self.dilation = stride, padding, dilation
        self.transposed, self.output_padding, self.groups = transposed, output_padding, groups
        if padding_mode not in _SUPPORTED_PADDING:
            raise ValueError(f"'padding_mode' {padding_mode} is not supported by quantized convolution")
        self.padding_mode = padding_mode
        channels = [in_channels, out_channels // groups] if transposed else [out_channels, in_channels // groups]
        weight = torch._empty_affine_quantized(
            [*channels, *kernel_size], scale=1, zero_point=0, dtype=torch.qint8, device=device
        )
        self.set_weight_bias(weight, torch.zeros(out_channels, dtype=torch.float, device=device) if bias else None)
        self.scale = 1.0
        self.zero_point = 0

    def set_weight_bias(self, w: Any, b: Any) -> None:
        """Take a weight and a bias."""
        padding = self.padding if self.padding_mode == "zeros" else (0,) * self._rank
        prepack = getattr(torch.ops.quantized, f"{self._operator}_prepack")
        border = [self.output_padding] if self.transposed else []
        steps = self.stride, padding, *border, self.dilation, self.groups
        self._packed_params = prepack(w, b, *steps)

    def _weight_bias(self) -> Any:
        return self._packed_params.unpack()

    def weight(self) -> Any:
        """Return the weight."""
        return self._weight_bias()[0]

    def bias(self) -> Any:
        """Return the bias, in float32."""
        return self._weight_bias()[1]

    def _input(self, input: Tensor) -> Any:
        """Return the input with its border, where that is made of its own numbers."""
        if len(input.shape) != self._rank + 2:
            raise ValueError(f"Input shape must be `{_SHAPES[self._rank]}`!")
        if self.padding_mode == "zeros":
            return input
        return functional.pad(input, list(_reverse_repeat_tuple(self.padding, 2)), mode=self.padding_mode)

    def forward(self, input: Tensor) -> Any:
        """Convolve integers."""
        operator = getattr(torch.ops.quantized, self._operator)
        return operator(self._input(input), self._packed_params, self.scale, self.zero_point)

    def _get_name(self) -> str:
        return f"Quantized{type(self).__name__}"

    def extra_repr(self) -> str:
        """The sizes, and how the result is quantized."""
        s = "{in_channels}, {out_channels}, kernel_size={kernel_size}, stride={stride}, scale={scale}, "
        s += "zero_point={zero_point}"
        if self.padding != (0,) * len(self.padding):
            s += ", padding={padding}"
        if self.dilation != (1,) * len(self.dilation):
            s += ", dilation={dilation}"
        if self.output_padding != (0,) * len(self.output_padding):
            s += ", output_padding={output_padding}"
        if self.groups != 1:
            s += ", groups={groups}"
        if self.bias() is None:
            s += ", bias=False"
        return s.format(**self.__dict__)

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "weight"], destination[prefix + "bias"] = self._weight_bias()
        save_quantizer(self, destination, prefix)

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, strict: bool, *rest: Any
    ) -> None:
        self.set_weight_bias(state_dict.pop(prefix + "weight"), state_dict.pop(prefix + "bias"))
        load_quantizer(self, state_dict, prefix)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, False, *rest)

    def __getstate__(self) -> Any:
        steps = tuple(getattr(self, name) for name in _STATE)
        return (*steps, *self._weight_bias(), self.scale, self.zero_point, self.training)

    def __setstate__(self, state: Any) -> None:
        nn.Module.__init__(self)
        for name, value in zip(_STATE, state, strict=False):
            setattr(self, name, value)
        self.set_weight_bias(*state[len(_STATE) : len(_STATE) + 2])
        self.scale, self.zero_point, self.training = state[len(_STATE) + 2 :]

    def __deepcopy__(self, memo: Any) -> Any:
        made = type(self).__new__(type(self))
        made.__setstate__(self.__getstate__())
        return made

    def __copy__(self) -> Any:
        return self.__deepcopy__({})

    @classmethod
    def get_qconv(cls, mod: Any, activation_post_process: Any, weight_post_process: Any = None) -> Any:
        """Return the convolution for one of numbers, by the observers of its result and of its weight."""
        observer = mod.qconfig.weight() if weight_post_process is None else weight_post_process
        observer(mod.weight)
        if observer.dtype != torch.qint8:
            raise AssertionError(f"Weight observer must have a dtype of qint8, got {observer.dtype}")
        steps = [mod.in_channels, mod.out_channels, mod.kernel_size, mod.stride, mod.padding]
        steps += [mod.output_padding, mod.groups] if mod.transposed else [mod.dilation, mod.groups]
        last = mod.dilation if mod.transposed else mod.padding_mode
        make: Any = cls
        made = make(*steps, mod.bias is not None, last)
        made.set_weight_bias(_quantize_weight(mod.weight.float(), observer), mod.bias)
        if activation_post_process is not None and activation_post_process.dtype != torch.float:
            scale, zero_point = activation_post_process.calculate_qparams()
            made.scale, made.zero_point = float(scale), int(zero_point)
        return made

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """Return the convolution for one of numbers, whose observers saw some."""
        activation = getattr(mod, "activation_post_process", None)
        if hasattr(mod, "weight_fake_quant"):
            if type(mod) is cls._NNIQAT_CONV_BN_MODULE:
                _fold_normalization(mod)
            if activation is None:
                raise AssertionError("Input QAT module must have observer attached")
            return cls.get_qconv(mod, activation, mod.weight_fake_quant)
        if type(mod) is not cls._FLOAT_MODULE:
            raise AssertionError(
                f"nnq.{cls.__name__}.from_float only works for {cls._FLOAT_MODULE.__name__} "
                f"but got: {type(mod).__name__}"
            )
        if not hasattr(mod, "qconfig"):
            raise AssertionError("Input float module must have qconfig defined.")
        if type(mod) is cls._NNI_CONV_RELU_MODULE:
            mod = mod[0]
        return cls.get_qconv(mod, activation, mod.qconfig.weight())

    @classmethod
    def from_reference(cls, ref_qconv: Any, output_scale: Any, output_zero_point: Any) -> Any:
        """Return the convolution for one that dequantizes its weight."""
        made = cls(
            ref_qconv.in_channels,
            ref_qconv.out_channels,
            ref_qconv.kernel_size,
            ref_qconv.stride,
            ref_qconv.padding,
            ref_qconv.dilation,
            ref_qconv.groups,
            ref_qconv.bias is not None,
            ref_qconv.padding_mode,
        )
        made.set_weight_bias(ref_qconv.get_quantized_weight(), ref_qconv.bias)
        made.scale, made.zero_point = float(output_scale), int(output_zero_point)
        return made


def _fold_normalization(mod: Any) -> None:
    bn = mod.bn
    mod.weight, mod.bias = fuse_conv_bn_weights(
        mod.weight, mod.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
    )


class Conv1d(_ConvNd):
    """`nn.Conv1d` of integers.

    >>> import torch.ao.nn.quantized as nnq
    >>> layer = nnq.Conv1d(1, 2, 3)
    >>> x = torch.quantize_per_tensor(torch.ones(1, 1, 3), 0.5, 0, torch.quint8)
    >>> layer(x).shape, layer.weight().dtype
    (torch.Size([1, 2, 1]), torch.qint8)
    """

    _FLOAT_MODULE: ClassVar[Any] = nn.Conv1d
    _rank, _operator = 1, "conv1d"
    _NNIQAT_CONV_BN_MODULE, _NNI_CONV_RELU_MODULE = intrinsic.qat.ConvBn1d, intrinsic.ConvReLU1d


class Conv2d(_ConvNd):
    """`nn.Conv2d` of integers.

    >>> import torch.ao.nn.quantized as nnq
    >>> layer = nnq.Conv2d(1, 2, 3)
    >>> x = torch.quantize_per_tensor(torch.ones(1, 1, 3, 3), 0.5, 0, torch.quint8)
    >>> layer(x).shape, layer.weight().dtype
    (torch.Size([1, 2, 1, 1]), torch.qint8)
    """

    _FLOAT_MODULE: ClassVar[Any] = nn.Conv2d
    _rank, _operator = 2, "conv2d"
    _NNIQAT_CONV_BN_MODULE, _NNI_CONV_RELU_MODULE = intrinsic.qat.ConvBn2d, intrinsic.ConvReLU2d


class Conv3d(_ConvNd):
    """`nn.Conv3d` of integers.

    >>> import torch.ao.nn.quantized as nnq
    >>> layer = nnq.Conv3d(1, 2, 3)
    >>> x = torch.quantize_per_tensor(torch.ones(1, 1, 3, 3, 3), 0.5, 0, torch.quint8)
    >>> layer(x).shape, layer.weight().dtype
    (torch.Size([1, 2, 1, 1, 1]), torch.qint8)
    """

    _FLOAT_MODULE: ClassVar[Any] = nn.Conv3d
    _rank, _operator = 3, "conv3d"
    _NNIQAT_CONV_BN_MODULE, _NNI_CONV_RELU_MODULE = intrinsic.qat.ConvBn3d, intrinsic.ConvReLU3d


class _ConvTransposeNd(_ConvNd):
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {self.__class__.__name__}')
        many = _ntuple(self._rank)
        steps = many(kernel_size), many(stride), many(padding), many(dilation), True, many(output_padding)
        self._init(in_channels, out_channels, *steps, groups, bias, padding_mode, device)

    def _get_name(self) -> str:
        return f"QuantizedConvTranspose{self._rank}d"

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """Return the convolution for one of numbers, whose observers saw some."""
        if type(mod) is not cls._FLOAT_MODULE:
            raise AssertionError(f" nnq.{cls.__name__}.from_float only works for {cls._FLOAT_MODULE.__name__}")
        if not hasattr(mod, "qconfig"):
            raise AssertionError("Input float module must have qconfig defined.")
        return cls.get_qconv(mod, getattr(mod, "activation_post_process", None), mod.qconfig.weight())


class ConvTranspose1d(_ConvTransposeNd):
    """`nn.ConvTranspose1d` of integers.

    >>> import torch.ao.nn.quantized as nnq
    >>> layer = nnq.ConvTranspose1d(1, 2, 2)
    >>> layer
    QuantizedConvTranspose1d(1, 2, kernel_size=(2,), stride=(1,), scale=1.0, zero_point=0)
    """

    _rank, _operator, _FLOAT_MODULE = 1, "conv_transpose1d", nn.ConvTranspose1d


class ConvTranspose2d(_ConvTransposeNd):
    """`nn.ConvTranspose2d` of integers.

    >>> import torch.ao.nn.quantized as nnq
    >>> layer = nnq.ConvTranspose2d(1, 2, 2)
    >>> layer
    QuantizedConvTranspose2d(1, 2, kernel_size=(2, 2), stride=(1, 1), scale=1.0, zero_point=0)
    """

    _rank, _operator, _FLOAT_MODULE = 2, "conv_transpose2d", nn.ConvTranspose2d


class ConvTranspose3d(_ConvTransposeNd):
    """`nn.ConvTranspose3d` of integers.

    >>> import torch.ao.nn.quantized as nnq
    >>> layer = nnq.ConvTranspose3d(1, 2, 2)
    >>> layer
    QuantizedConvTranspose3d(1, 2, kernel_size=(2, 2, 2), stride=(1, 1, 1), scale=1.0, zero_point=0)
    """

    _rank, _operator, _FLOAT_MODULE = 3, "conv_transpose3d", nn.ConvTranspose3d


adopt(globals())

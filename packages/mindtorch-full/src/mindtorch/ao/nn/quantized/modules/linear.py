"""A linear layer of integers."""

from __future__ import annotations

from typing import Any, ClassVar

import mindtorch as torch
from mindtorch import nn
from mindtorch._naming import adopt
from mindtorch._quantized.packed import LinearPackedParams as _Packed
from mindtorch._tensor import Tensor
from mindtorch.ao.nn import intrinsic
from mindtorch.ao.nn.quantized.modules._quantizer import load_quantizer, save_quantizer
from mindtorch.ao.nn.quantized.modules.utils import (
    WeightedQuantizedModule,
    _hide_packed_params_repr,
    _quantize_weight,
)
from mindtorch.nn.modules.linear import NonDynamicallyQuantizableLinear
from mindtorch.nn.utils.fusion import fuse_linear_bn_weights
from mindtorch.nn.utils.parametrize import type_before_parametrizations

__all__ = ["Linear", "LinearPackedParams"]


class LinearPackedParams(nn.Module):
    """Weight and bias of a linear layer, which a state dict has as a pair.

    >>> from torch.ao.nn.quantized.modules.linear import LinearPackedParams
    >>> packed = LinearPackedParams(torch.qint8)
    >>> packed.set_weight_bias(torch.quantize_per_tensor(torch.ones(1, 2), 0.5, 0, torch.qint8), None)
    >>> packed._weight_bias()[0].dequantize()
    tensor([[1., 1.]])
    """

    _version = 3
    _packed_params: _Packed

    def __init__(self, dtype: Any = torch.qint8) -> None:
        super().__init__()
        self.dtype = dtype
        if dtype == torch.float16:
            weight = torch.zeros([1, 1], dtype=torch.float)
        else:
            weight = torch._empty_affine_quantized([1, 1], scale=1.0, zero_point=0, dtype=torch.qint8)
        self.set_weight_bias(weight, None)

    def set_weight_bias(self, weight: Any, bias: Any) -> None:
        """Take a weight and a bias."""
        if self.dtype == torch.qint8:
            self._packed_params = torch.ops.quantized.linear_prepack(weight, bias)
        elif self.dtype == torch.float16:
            self._packed_params = torch.ops.quantized.linear_prepack_fp16(weight, bias)
        else:
            raise RuntimeError("Unsupported dtype on dynamic quantized linear!")

    def _weight_bias(self) -> Any:
        if self.dtype not in (torch.qint8, torch.float16):
            raise RuntimeError("Unsupported dtype on dynamic quantized linear!")
        return self._packed_params.unpack()

    def forward(self, x: Tensor) -> Any:
        """Return `x`."""
        return x

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        destination[prefix + "dtype"] = self.dtype
        destination[prefix + "_packed_params"] = self._weight_bias()

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, strict: bool, *rest: Any
    ) -> None:
        version = local_metadata.get("version") or 1
        self.dtype = torch.qint8 if version < 2 else state_dict.pop(prefix + "dtype")
        if version < 3:
            weight, bias = state_dict.pop(prefix + "weight"), state_dict.pop(prefix + "bias")
        else:
            weight, bias = state_dict.pop(prefix + "_packed_params")
        self.set_weight_bias(weight, bias)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, False, *rest)

    def __repr__(self) -> str:
        return repr(self._weight_bias())


class Linear(WeightedQuantizedModule):
    """`nn.Linear` of integers: input, weight and result are quantized.

    >>> import torch.ao.nn.quantized as nnq
    >>> layer = nnq.Linear(3, 2)
    >>> layer(torch.quantize_per_tensor(torch.ones(1, 3), 0.5, 0, torch.quint8)).shape, layer.weight().dtype
    (torch.Size([1, 2]), torch.qint8)
    """

    _version = 3
    _FLOAT_MODULE: ClassVar[Any] = (nn.Linear, NonDynamicallyQuantizableLinear)

    def __init__(self, in_features: int, out_features: int, bias_: bool = True, dtype: Any = torch.qint8) -> None:
        super().__init__()
        self.in_features, self.out_features = in_features, out_features
        bias = torch.zeros(out_features, dtype=torch.float) if bias_ else None
        if dtype == torch.qint8:
            weight = torch._empty_affine_quantized(
                [out_features, in_features], scale=1, zero_point=0, dtype=torch.qint8
            )
        elif dtype == torch.float16:
            weight = torch.zeros([out_features, in_features], dtype=torch.float)
        else:
            raise RuntimeError("Unsupported dtype specified for quantized Linear!")
        self._packed_params = LinearPackedParams(dtype)
        self._packed_params.set_weight_bias(weight, bias)
        self.scale = 1.0
        self.zero_point = 0

    def _get_name(self) -> str:
        return "QuantizedLinear"

    def extra_repr(self) -> str:
        """The sizes, and how the result is quantized."""
        return (
            f"in_features={self.in_features}, out_features={self.out_features}, scale={self.scale}, "
            f"zero_point={self.zero_point}, qscheme={self.weight().qscheme()}"
        )

    def __repr__(self) -> str:
        return _hide_packed_params_repr(self, LinearPackedParams)

    def forward(self, x: Tensor) -> Any:
        """Multiply integers."""
        return torch.ops.quantized.linear(x, self._packed_params._packed_params, self.scale, self.zero_point)

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(destination, prefix, keep_vars)
        save_quantizer(self, destination, prefix)

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, strict: bool, *rest: Any
    ) -> None:
        load_quantizer(self, state_dict, prefix)
        if local_metadata.get("version") in (None, 1):
            for name in ("weight", "bias"):
                state_dict[f"{prefix}_packed_params.{name}"] = state_dict.pop(prefix + name)
        super()._load_from_state_dict(state_dict, prefix, local_metadata, False, *rest)

    def _weight_bias(self) -> Any:
        return self._packed_params._weight_bias()

    def weight(self) -> Any:
        """Return the weight."""
        return self._weight_bias()[0]

    def bias(self) -> Any:
        """Return the bias, in float32."""
        return self._weight_bias()[1]

    def set_weight_bias(self, w: Any, b: Any) -> None:
        """Take another weight and bias."""
        self._packed_params.set_weight_bias(w, b)

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """Return the layer for one of numbers, whose observers saw some."""
        activation = getattr(mod, "activation_post_process", None)
        if hasattr(mod, "weight_fake_quant"):
            if type_before_parametrizations(mod) == intrinsic.qat.LinearBn1d:
                bn = mod.bn
                mod.weight, mod.bias = fuse_linear_bn_weights(
                    mod.weight, mod.bias, bn.running_mean, bn.running_var, bn.eps, bn.weight, bn.bias
                )
            observer = mod.weight_fake_quant
        else:
            kinds = cls._FLOAT_MODULE if isinstance(cls._FLOAT_MODULE, (tuple, list)) else (cls._FLOAT_MODULE,)
            if type_before_parametrizations(mod) not in kinds:
                names = ", ".join(kind.__name__ for kind in kinds)
                raise AssertionError(f"nnq.{cls.__name__}.from_float only works for {names}, but got: {type(mod)}")
            if not hasattr(mod, "qconfig"):
                raise AssertionError("Input float module must have qconfig defined")
            if type_before_parametrizations(mod) == intrinsic.LinearReLU:
                mod = mod[0]
            observer = mod.weight_fake_quant if hasattr(mod, "weight_fake_quant") else mod.qconfig.weight()
        if not use_precomputed_fake_quant:
            observer(mod.weight)
        assert activation is not None
        scale, zero_point = activation.calculate_qparams()
        if observer.dtype != torch.qint8:
            raise AssertionError(f"Weight observer must have dtype torch.qint8, got {observer.dtype}")
        made = cls(mod.in_features, mod.out_features, dtype=observer.dtype)
        made.set_weight_bias(_quantize_weight(mod.weight.float(), observer), mod.bias)
        made.scale, made.zero_point = float(scale), int(zero_point)
        return made

    @classmethod
    def from_reference(cls, ref_qlinear: Any, output_scale: Any, output_zero_point: Any) -> Any:
        """Return the layer for one that dequantizes its weight."""
        made = cls(ref_qlinear.in_features, ref_qlinear.out_features)
        made.set_weight_bias(ref_qlinear.get_quantized_weight(), ref_qlinear.bias)
        made.scale, made.zero_point = float(output_scale), int(output_zero_point)
        return made


adopt(globals())

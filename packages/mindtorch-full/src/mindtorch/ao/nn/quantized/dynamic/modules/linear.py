"""`Linear` with a quantized weight, whose inputs are quantized as they come."""

from __future__ import annotations

from typing import Any, ClassVar

import mindtorch as torch
from mindtorch import nn
from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.ao.nn import intrinsic, qat
from mindtorch.ao.nn.quantized.modules import linear
from mindtorch.ao.nn.quantized.modules.utils import _quantize_weight
from mindtorch.nn.modules.linear import NonDynamicallyQuantizableLinear

__all__ = ["Linear"]


class Linear(linear.Linear):
    """`nn.Linear` with an int8 weight; each input is quantized by its own range, and the result is float32.

    >>> layer = torch.nn.Linear(2, 3)
    >>> layer.qconfig = torch.ao.quantization.default_dynamic_qconfig
    >>> made = torch.ao.nn.quantized.dynamic.Linear.from_float(layer)
    >>> made(torch.ones(4, 2)).shape, made.weight().dtype
    (torch.Size([4, 3]), torch.qint8)
    """

    _version: ClassVar[int] = 4

    def __init__(self, in_features: int, out_features: int, bias_: bool = True, dtype: Any = torch.qint8) -> None:
        super().__init__(in_features, out_features, bias_, dtype)
        self.version = 4

    def forward(self, x: Tensor) -> Any:
        """Multiply integers exactly, and round the scaled sum once."""
        packed = self._packed_params
        if packed.dtype == torch.qint8:
            return torch.ops.quantized.linear_dynamic(x, packed._packed_params, reduce_range=True).to(x.dtype)
        if packed.dtype == torch.float16:
            return torch.ops.quantized.linear_dynamic_fp16(x, packed._packed_params).to(x.dtype)
        raise RuntimeError("Unsupported dtype on dynamic quantized linear!")

    def _get_name(self) -> str:
        return "DynamicQuantizedLinear"

    def extra_repr(self) -> str:
        """The sizes and how the weight is quantized."""
        text = f"in_features={self.in_features}, out_features={self.out_features}, dtype={self._packed_params.dtype}"
        return text + (f", qscheme={self.weight().qscheme()}" if self._packed_params.dtype == torch.qint8 else "")

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """Return the layer for one of numbers, which has a configuration."""
        kinds = [nn.Linear, NonDynamicallyQuantizableLinear, intrinsic.LinearReLU, qat.dynamic.Linear]
        if type(mod) not in kinds:
            raise AssertionError(
                "nn.quantized.dynamic.Linear.from_float only works for one of"
                f"{[kind.__name__ for kind in kinds]}, got {type(mod)}"
            )
        if not hasattr(mod, "qconfig"):
            raise AssertionError("Input float module must have qconfig defined")
        if type(mod) is intrinsic.LinearReLU:
            mod = mod[0]
        given = mod.qconfig is not None and mod.qconfig.weight is not None
        observer = (mod.qconfig if given else torch.ao.quantization.default_dynamic_qconfig).weight()
        dtype = observer.dtype
        if dtype not in (torch.qint8, torch.float16):
            raise AssertionError(
                f"The only supported dtypes for dynamic quantized linear are qint8 and float16, got: {dtype}"
            )
        observer(mod.weight)
        weight = mod.weight.float()
        made = cls(mod.in_features, mod.out_features, dtype=dtype)
        made.set_weight_bias(_quantize_weight(weight, observer) if dtype == torch.qint8 else weight, mod.bias)
        return made

    @classmethod
    def from_reference(cls, ref_qlinear: Any) -> Any:  # type: ignore[override]
        """Return the layer for one that dequantizes its weight."""
        made = cls(ref_qlinear.in_features, ref_qlinear.out_features, dtype=ref_qlinear.weight_dtype)
        made.set_weight_bias(ref_qlinear.get_quantized_weight(), ref_qlinear.bias)
        return made


adopt(globals())

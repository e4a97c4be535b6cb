"""Activations of integers, which know how their result is quantized."""

from __future__ import annotations

import warnings
from typing import Any

import mindtorch as torch
from mindtorch import nn
from mindtorch._naming import adopt
from mindtorch._tensor import Tensor
from mindtorch.ao.nn.quantized.modules._quantizer import register_quantizer

__all__ = ["ELU", "Hardswish", "LeakyReLU", "PReLU", "ReLU6", "Sigmoid", "Softmax"]


def _observed(mod: Any) -> tuple[float, int]:
    scale, zero_point = mod.activation_post_process.calculate_qparams()
    return float(scale), int(zero_point)


class ReLU6(nn.ReLU):
    """`nn.ReLU6` of integers; the quantizer stays.

    >>> import torch.ao.nn.quantized as nnq
    >>> x = torch.quantize_per_tensor(torch.tensor([[-1.0, 0.5, 2.0]]), 0.5, 10, torch.quint8)
    >>> nnq.ReLU6()(x).dequantize()
    tensor([[0.0000, 0.5000, 2.0000]])
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(inplace)
        self.inplace = inplace

    def forward(self, input: Tensor) -> Any:
        """Clamp."""
        return torch.ops.quantized.relu6(input, self.inplace)

    def _get_name(self) -> str:
        return "QuantizedReLU6"

    @staticmethod
    def from_float(mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """Return the module for one of numbers."""
        return ReLU6(mod.inplace)


class Hardswish(nn.Hardswish):
    """`nn.Hardswish` of integers.

    >>> import torch.ao.nn.quantized as nnq
    >>> x = torch.quantize_per_tensor(torch.tensor([[-1.0, 0.5, 2.0]]), 0.5, 10, torch.quint8)
    >>> nnq.Hardswish(0.5, 10)(x).dequantize()
    tensor([[-0.5000,  0.5000,  1.5000]])
    """

    def __init__(self, scale: float, zero_point: int, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        register_quantizer(self, scale, zero_point, device, dtype)

    def forward(self, input: Tensor) -> Any:
        """Compute with numbers, and round."""
        return torch.ops.quantized.hardswish(input, self.scale, self.zero_point)

    def _get_name(self) -> str:
        return "QuantizedHardswish"

    @staticmethod
    def from_float(mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """Return the module for one whose observer saw numbers."""
        return Hardswish(*_observed(mod))

    @classmethod
    def from_reference(cls, mod: Any, scale: Any, zero_point: Any) -> Any:
        """Return the module with a given quantizer."""
        return cls(float(scale), int(zero_point))


class ELU(nn.ELU):
    """`nn.ELU` of integers.

    >>> import torch.ao.nn.quantized as nnq
    >>> x = torch.quantize_per_tensor(torch.tensor([[-1.0, 0.5, 2.0]]), 0.5, 10, torch.quint8)
    >>> nnq.ELU(0.5, 10)(x).dequantize()
    tensor([[-0.5000,  0.5000,  2.0000]])
    """

    def __init__(self, scale: float, zero_point: int, alpha: float = 1.0) -> None:
        super().__init__(alpha)
        self.scale, self.zero_point = scale, zero_point

    def forward(self, input: Tensor) -> Any:
        """Compute with numbers, and round."""
        return torch.ops.quantized.elu(input, self.scale, self.zero_point, self.alpha)

    def _get_name(self) -> str:
        return "QuantizedELU"

    @staticmethod
    def from_float(mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """Return the module for one whose observer saw numbers."""
        return ELU(*_observed(mod), mod.alpha)

    @classmethod
    def from_reference(cls, mod: Any, scale: Any, zero_point: Any) -> Any:
        """Return the module with a given quantizer."""
        return cls(float(scale), int(zero_point), mod.alpha)


class LeakyReLU(nn.LeakyReLU):
    """`nn.LeakyReLU` of integers.

    >>> import torch.ao.nn.quantized as nnq
    >>> x = torch.quantize_per_tensor(torch.tensor([[-1.0, 0.5, 2.0]]), 0.5, 10, torch.quint8)
    >>> nnq.LeakyReLU(0.5, 10)(x).dequantize()
    tensor([[0.0000, 0.5000, 2.0000]])
    """

    def __init__(
        self,
        scale: float,
        zero_point: int,
        negative_slope: float = 1e-2,
        inplace: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(negative_slope, inplace)
        register_quantizer(self, scale, zero_point, device, dtype)

    def forward(self, input: Tensor) -> Any:
        """Compute with numbers, and round."""
        return torch.ops.quantized.leaky_relu(input, self.negative_slope, self.inplace, self.scale, self.zero_point)

    def _get_name(self) -> str:
        return "QuantizedLeakyReLU"

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """Return the module for one whose observer saw numbers."""
        return cls(*_observed(mod), mod.negative_slope, mod.inplace)

    @classmethod
    def from_reference(cls, mod: Any, scale: Any, zero_point: Any) -> Any:
        """Return the module with a given quantizer."""
        return cls(float(scale), int(zero_point), mod.negative_slope, mod.inplace)


class Sigmoid(nn.Sigmoid):
    """`nn.Sigmoid` of integers.

    >>> import torch.ao.nn.quantized as nnq
    >>> x = torch.quantize_per_tensor(torch.tensor([[-1.0, 0.5, 2.0]]), 0.5, 10, torch.quint8)
    >>> nnq.Sigmoid(0.5, 0)(x).dequantize()
    tensor([[0.5000, 0.5000, 1.0000]])
    """

    def __init__(self, output_scale: float, output_zero_point: int) -> None:
        super().__init__()
        self.output_scale, self.output_zero_point = output_scale, output_zero_point

    def forward(self, input: Tensor) -> Any:
        """Compute with numbers, and round."""
        return torch.ops.quantized.sigmoid(input, self.output_scale, self.output_zero_point)

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """Return the module for one whose observer saw numbers."""
        return cls(*_observed(mod))


class Softmax(nn.Softmax):
    """`nn.Softmax` of integers.

    >>> import torch.ao.nn.quantized as nnq
    >>> x = torch.quantize_per_tensor(torch.tensor([[-1.0, 0.5, 2.0]]), 0.5, 10, torch.quint8)
    >>> nnq.Softmax(1, 0.25, 0)(x).dequantize()
    tensor([[0.0000, 0.2500, 0.7500]])
    """

    def __init__(self, dim: int | None = None, scale: float = 1.0, zero_point: int = 0) -> None:
        super().__init__()
        self.dim, self.scale, self.zero_point = dim, scale, zero_point

    def forward(self, input: Tensor) -> Any:
        """Compute with numbers, and round."""
        dim = self.dim
        if dim is None:
            dim = nn.functional._get_softmax_dim("softmax", input.dim(), 5)
        return torch.ops.quantized.softmax(input, dim, self.scale, self.zero_point)

    def _get_name(self) -> str:
        return "QuantizedSoftmax"

    @staticmethod
    def from_float(mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """Return the module for one whose observer saw numbers."""
        return Softmax(mod.dim, *_observed(mod))

    @classmethod
    def from_reference(cls, mod: Any, scale: Any, zero_point: Any) -> Any:
        """Return the module with a given quantizer."""
        return cls(mod.dim, float(scale), int(zero_point))


class PReLU(nn.Module):
    """`nn.PReLU` of integers.

    >>> import torch.ao.nn.quantized as nnq
    >>> layer = nnq.PReLU(0.5, 10)
    >>> layer.weight.dequantize() if False else layer
    QuantizedPReLU()
    """

    def __init__(self, output_scale: float, output_zero_point: int, num_parameters: int = 1) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.scale, self.zero_point = output_scale, output_zero_point
        weight = torch.randn(num_parameters, dtype=torch.float)
        self.set_weight(torch.quantize_per_tensor(weight, scale=1.0, zero_point=0, dtype=torch.quint8))

    def set_weight(self, w: Any) -> None:
        """Take the shares of what is negative."""
        self.weight = w

    def forward(self, input: Tensor) -> Any:
        """Compute with numbers, and round."""
        return torch.ops.quantized.prelu(input, self.weight, self.scale, self.zero_point)

    def _get_name(self) -> str:
        return "QuantizedPReLU"

    @classmethod
    def from_float(cls, mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """Return the module for one whose observer saw numbers."""
        return cls.from_reference(mod, *_observed(mod))

    @classmethod
    def from_reference(cls, mod: Any, scale: Any, zero_point: Any) -> Any:
        """Return the module with a given quantizer."""
        made = cls(float(scale), int(zero_point), mod.num_parameters)
        weight = mod.weight.detach().float()
        observer = mod.qconfig.weight()
        observer(weight)
        if observer.dtype != torch.quint8:
            warnings.warn(f"PReLU's weight observer should have dtype quint8 but got {observer.dtype}", stacklevel=2)
        own_scale, own_zero_point = observer.calculate_qparams()
        made.set_weight(torch.quantize_per_tensor(weight, float(own_scale), int(own_zero_point), torch.quint8))
        return made


adopt(globals())

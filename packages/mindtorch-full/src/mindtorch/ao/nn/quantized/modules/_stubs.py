"""Where a quantized model begins and ends."""

from __future__ import annotations

from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch._tensor import Tensor


class Quantize(torch.nn.Module):
    """Quantizes what comes.

    >>> import torch.ao.nn.quantized as nnq
    >>> nnq.Quantize(0.5, 10, torch.quint8)(torch.tensor([1.0, 2.2])).int_repr()
    tensor([12, 14], dtype=torch.uint8)
    """

    scale: Any
    zero_point: Any

    def __init__(self, scale: float, zero_point: int, dtype: Any, factory_kwargs: Any = None) -> None:
        given = torch.nn.factory_kwargs(factory_kwargs)
        super().__init__()
        self.register_buffer("scale", torch.tensor([scale], **given))
        whole = {name: value for name, value in given.items() if name != "dtype"}
        self.register_buffer("zero_point", torch.tensor([zero_point], dtype=torch.long, **whole))
        self.dtype = dtype

    def forward(self, X: Tensor) -> Any:
        """Return the integers that stand for `X`."""
        return torch.quantize_per_tensor(X, float(self.scale), int(self.zero_point), self.dtype)

    @staticmethod
    def from_float(mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """Return the module for a mark whose observer saw numbers."""
        if not hasattr(mod, "activation_post_process"):
            raise AssertionError(f"Module {type(mod).__name__} must have activation_post_process attribute")
        scale, zero_point = mod.activation_post_process.calculate_qparams()
        return Quantize(scale.float().item(), zero_point.long().item(), mod.activation_post_process.dtype)

    def extra_repr(self) -> str:
        """The quantizer."""
        return f"scale={self.scale}, zero_point={self.zero_point}, dtype={self.dtype}"


class DeQuantize(torch.nn.Module):
    """Returns numbers for integers.

    >>> import torch.ao.nn.quantized as nnq
    >>> nnq.DeQuantize()(torch.quantize_per_tensor(torch.tensor([1.0, 2.2]), 0.5, 10, torch.quint8))
    tensor([1., 2.])
    """

    def forward(self, Xq: Tensor) -> Any:
        """Return the numbers that `Xq` stands for."""
        return Xq.dequantize()

    @staticmethod
    def from_float(mod: Any, use_precomputed_fake_quant: bool = False) -> Any:
        """Return the module for a mark."""
        return DeQuantize()


adopt(globals(), "torch.ao.nn.quantized.modules")

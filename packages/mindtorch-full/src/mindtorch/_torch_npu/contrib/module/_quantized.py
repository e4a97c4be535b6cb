"""Modules of quantised products: `LinearQuant`, `LinearA8W8Quant`, `LinearWeightQuant`, `QuantConv2d`."""

from __future__ import annotations

import warnings

import mindtorch as torch
from mindtorch import nn
from mindtorch.nn import Parameter
from mindtorch.tensor.tensor import Tensor

__all__ = ["LinearA8W8Quant", "LinearQuant", "LinearWeightQuant", "QuantConv2d"]


def _given(module: nn.Module, name: str, wanted: bool, *sizes: int, dtype: torch.dtype | None = None) -> None:
    """Give a module a parameter without gradient, or None in its place."""
    module.register_parameter(name, Parameter(torch.empty(sizes, dtype=dtype), False) if wanted else None)


class LinearQuant(nn.Module):
    """A linear layer of numbers of eight bits; its parameters are what a quantiser has written into them."""

    def __init__(
        self, in_features: int, out_features: int, *, bias: bool = True, offset: bool = False,
        pertoken_scale: bool = False, device: torch.device | None = None, dtype: torch.dtype | None = None,
        output_dtype: torch.dtype | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.in_features, self.out_features, self.output_dtype = in_features, out_features, output_dtype
        _given(self, "weight", True, out_features, in_features)
        _given(self, "scale", True, out_features)
        _given(self, "offset", offset, out_features, dtype=torch.float32)
        _given(self, "pertoken_scale", pertoken_scale, out_features, dtype=torch.float32)
        _given(self, "bias", bias, out_features, dtype=torch.int32)

    def forward(self, linear_quant_input: Tensor) -> Tensor:
        """Return the product, scaled. ValueError unless input and weight are both int8 or both int32."""
        types = linear_quant_input.dtype, self.weight.dtype
        if types not in ((torch.int8, torch.int8), (torch.int32, torch.int32)):
            raise ValueError(
                "input and weight should be both torch.int32 or both torch.int8 datatype, "
                f"but now input is {types[0]}, weight is {types[1]}."
            )
        scale = self.scale
        wide = self.output_dtype in (torch.bfloat16, torch.int32)
        if self.pertoken_scale is None and scale.dtype is torch.float32 and not wide:
            scale = torch.ops.npu.npu_trans_quant_param(scale, self.offset)
        return torch.ops.npu.npu_quant_matmul(
            linear_quant_input, self.weight.transpose(-2, -1), scale, offset=self.offset,
            pertoken_scale=self.pertoken_scale, bias=self.bias, output_dtype=self.output_dtype,
        )  # fmt: skip


class LinearA8W8Quant(LinearQuant):
    """`LinearQuant` under its former name, with types that are checked."""

    def __init__(
        self, in_features: int, out_features: int, *, bias: bool = True, offset: bool = False,
        pertoken_scale: bool = False, device: torch.device | None = None, dtype: torch.dtype | None = None,
        output_dtype: torch.dtype | None = None,
    ) -> None:  # fmt: skip
        super().__init__(
            in_features, out_features, bias=bias, offset=offset, pertoken_scale=pertoken_scale,
            output_dtype=output_dtype,
        )  # fmt: skip
        warnings.warn(
            "torch_npu.contrib.module.LinearA8W8Quant is deprecated and will be removed in a future version. "
            "Use torch_npu.contrib.module.LinearQuant instead.",
            FutureWarning,
            stacklevel=2,
        )

    def forward(self, linear_quant_input: Tensor) -> Tensor:
        """Return the product, scaled. ValueError for types that cannot be."""
        allowed = {
            "scale": (torch.int64, torch.float32, torch.bfloat16),
            "offset": (torch.float32,),
            "bias": (torch.int32, torch.bfloat16, torch.float16, torch.float32),
            "pertoken_scale": (torch.float32,),
        }
        for name, types in allowed.items():
            found = getattr(self, name)
            if found is not None and found.dtype not in types:
                wanted = " or ".join(
                    (", ".join(map(str, types[:-1])), str(types[-1])) if types[1:] else [str(types[0])]
                )
                raise ValueError(f"{name} should be {wanted} datatype, but now it is {found.dtype}.")
        if self.output_dtype not in (None, torch.int8, torch.float16, torch.bfloat16):
            raise ValueError(
                f"output_dtype should be torch.int8, torch.float16 or torch.bfloat16, but now it is {self.output_dtype}."
            )
        return super().forward(linear_quant_input)


class LinearWeightQuant(nn.Module):
    """A linear layer whose weight alone has eight bits."""

    def __init__(
        self, in_features: int, out_features: int, bias: bool = True, device: torch.device | None = None,
        dtype: torch.dtype | None = None, antiquant_offset: bool = False, quant_scale: bool = False,
        quant_offset: bool = False, antiquant_group_size: int = 0, inner_precise: int = 0,
        weight_dtype: int | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        _given(self, "weight", True, out_features, in_features)
        _given(self, "antiquant_scale", True, out_features)
        _given(self, "antiquant_offset", antiquant_offset, out_features)
        _given(self, "quant_scale", quant_scale, out_features)
        _given(self, "quant_offset", quant_offset, out_features)
        _given(self, "bias", bias, out_features)
        self.antiquant_group_size, self.inner_precise = antiquant_group_size, inner_precise
        self.weight_dtype = weight_dtype
        if device is not None:
            self.to(device)

    def forward(self, x: Tensor) -> Tensor:
        """Return the product with the weight at its scale."""
        turned = [
            one.transpose(-1, -2) if one is not None and one.dim() == 2 else one
            for one in (self.antiquant_scale, self.antiquant_offset)
        ]
        more = {} if self.weight_dtype is None else {"weight_dtype": self.weight_dtype}
        return torch.ops.npu.npu_weight_quant_batchmatmul(
            x, self.weight.transpose(-1, -2), *turned, self.quant_scale, self.quant_offset, self.bias,
            self.antiquant_group_size, self.inner_precise, **more,
        )  # fmt: skip


class QuantConv2d(nn.Module):
    """A convolution of numbers of eight bits."""

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: int | tuple[int, int], output_dtype: torch.dtype,
        stride: int | tuple[int, int] = 1, padding: int | tuple[int, int] = 0, dilation: int | tuple[int, int] = 1,
        groups: int = 1, bias: bool = True, offset: bool = False, offset_x: int = 0, round_mode: str = "rint",
        input_dtype: int | None = None, weight_dtype: int | None = None, device: torch.device | None = None,
        dtype: torch.dtype | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if offset:
            raise ValueError("offset must be False")
        self.in_channels, self.out_channels, self.groups = in_channels, out_channels, groups
        pairs = [one if isinstance(one, tuple) else (one, one) for one in (kernel_size, stride, padding, dilation)]
        self.kernel_size, self.stride, self.padding, self.dilation = pairs
        self.offset_x, self.round_mode, self.output_dtype = offset_x, round_mode, output_dtype
        self.input_dtype, self.weight_dtype = input_dtype, weight_dtype
        _given(self, "weight", True, out_channels, in_channels // groups, *self.kernel_size)
        _given(self, "scale", True, out_channels, dtype=torch.int64)
        _given(self, "bias", bias, out_channels)
        _given(self, "offset", False)

    def forward(self, quant_conv2d_input: Tensor) -> Tensor:
        """Return the convolution, scaled."""
        scale = self.scale
        if scale.dtype is torch.float32:
            scale = torch.ops.npu.npu_trans_quant_param(scale)
        return torch.ops.npu.npu_quant_conv2d(
            quant_conv2d_input, self.weight, scale, self.stride, self.padding, self.dilation, self.groups,
            self.offset_x, self.round_mode, self.output_dtype, self.bias, self.offset,
        )  # fmt: skip

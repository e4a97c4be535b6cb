"""Layers of numbers whose weights are integers: their input is quantized by its own range as it comes."""

from __future__ import annotations

from typing import Any

import mindtorch as torch
from mindtorch._tensor import Tensor

from .packed import LinearPackedParams
from .products import scaled_product


def linear_dynamic(input: Tensor, packed: LinearPackedParams, reduce_range: bool = False, relu: bool = False) -> Any:
    """Rows of numbers times a weight of integers, all of them with one scale."""
    weight, bias = packed.unpack()
    if weight.qscheme() != torch.per_tensor_affine:
        found = _by_channel(input.detach(), packed, reduce_range)
        return found.relu() if relu else found
    found = torch.ops.quantized._linear_dynamic(
        input.detach(),
        *packed.panels,
        None if bias is None else bias.detach(),
        weight.shape[0],
        weight.q_scale(),
        weight.q_zero_point(),
    )
    return found.relu() if relu else found


def _by_channel(input: Tensor, packed: LinearPackedParams, reduce_range: bool) -> Any:
    """As `linear_dynamic`, for a weight with a scale for each row."""
    rows = input.reshape(-1, input.shape[-1])
    whole = torch.quantize_per_tensor_dynamic(rows, torch.quint8, reduce_range)
    found = torch.from_numpy(scaled_product(whole, packed))
    return found.reshape(*input.shape[:-1], packed.weight.shape[0])


def linear_dynamic_fp16(input: Tensor, packed: LinearPackedParams, relu: bool = False) -> Any:
    """Rows of numbers times a weight of numbers that float16 holds."""
    weight, bias = packed.unpack()
    found = torch.nn.functional.linear(input.detach(), weight, None if bias is None else bias.detach())
    return found.relu() if relu else found

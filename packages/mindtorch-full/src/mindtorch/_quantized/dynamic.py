"""Layers of numbers whose weights are integers: their input is quantized by its own range as it comes."""

from __future__ import annotations

from typing import Any

import mindtorch as torch
from mindtorch._tensor import Tensor
from mindtorch_dispatch.meta.quantized import PANEL, WORD

from .packed import LinearPackedParams
from .products import scaled_product


def _panels(whole: Any) -> Any:
    """Return a matrix of integers as the product reads it: panels of its rows, in words of its columns."""
    rows, depth = whole.shape
    padded = torch.nn.functional.pad(whole, [0, -depth % WORD, 0, -rows % PANEL])
    return padded.view(-1, PANEL, padded.shape[1] // WORD, WORD).transpose(1, 2).contiguous()


def linear_dynamic(input: Tensor, packed: LinearPackedParams, reduce_range: bool = False, relu: bool = False) -> Any:
    """Rows of numbers times a weight of integers, all of them with one scale."""
    weight, bias = packed.unpack()
    if weight.qscheme() != torch.per_tensor_affine:
        found = _by_channel(input.detach(), packed, reduce_range)
        return found.relu() if relu else found
    kept = getattr(packed, "panels", None)
    if kept is None:
        panels = _panels(weight.int_repr())
        packed.panels = kept = (panels, panels.sum((1, 3), dtype=torch.int32).flatten())
    found = torch.ops.quantized._linear_dynamic(
        input.detach(),
        *kept,
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

"""Attention."""

from __future__ import annotations

from typing import Any

from mindtorch_dispatch.call import aten
from mindtorch_dispatch.typing import Tensor

from ..derivative import derivative, joint


@joint("query", "key", "value")
def flash(
    grad: Tensor,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    result0: Tensor,
    result1: Tensor,
    dropout_p: float,
    is_causal: bool,
    attn_mask: Tensor | None,
    scale: float | None,
) -> Any:
    """The three gradients from one kernel."""
    return aten._scaled_dot_product_flash_attention_for_cpu_backward(
        grad, query, key, value, result0, result1, dropout_p, is_causal, attn_mask=attn_mask, scale=scale
    )


derivative("_scaled_dot_product_flash_attention_for_cpu", flash, outputs=(0,))

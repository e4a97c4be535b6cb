"""Attention of inference under torch_npu's names."""

from __future__ import annotations

from typing import Any

import mindtorch as torch
from mindtorch._torch_npu.attention import npu_fusion_attention

__all__ = ["npu_fused_infer_attention_score", "npu_incre_flash_attention", "npu_prompt_flash_attention"]


def npu_prompt_flash_attention(
    query: Any, key: Any, value: Any, *, padding_mask: Any = None, atten_mask: Any = None, pse_shift: Any = None,
    num_heads: int = 1, scale_value: float = 1.0, pre_tokens: int = 2147473647, next_tokens: int = 0,
    input_layout: str = "BSH", num_key_value_heads: int = 0, sparse_mode: int = 0, **more: Any,
) -> Any:  # fmt: skip
    """Return attention over a whole prompt. NotImplementedError for quantised operands and lengths of each row."""
    return _infer("npu_prompt_flash_attention", query, key, value, padding_mask, atten_mask, pse_shift, num_heads,
                  num_key_value_heads, scale_value, input_layout, sparse_mode, more)  # fmt: skip


def npu_incre_flash_attention(
    query: Any, key: Any, value: Any, *, padding_mask: Any = None, atten_mask: Any = None, pse_shift: Any = None,
    num_heads: int = 1, scale_value: float = 1.0, input_layout: str = "BSH", num_key_value_heads: int = 0, **more: Any,
) -> Any:  # fmt: skip
    """Return attention of the newest token. NotImplementedError for quantised operands, pages and lengths of each row."""
    return _infer("npu_incre_flash_attention", query, key, value, padding_mask, atten_mask, pse_shift, num_heads,
                  num_key_value_heads, scale_value, input_layout, 0, more)  # fmt: skip


def npu_fused_infer_attention_score(
    query: Any, key: Any, value: Any, *, pse_shift: Any = None, atten_mask: Any = None, num_heads: int = 1,
    scale: float = 1.0, pre_tokens: int = 2147483647, next_tokens: int = 2147483647, input_layout: str = "BSH",
    num_key_value_heads: int = 0, sparse_mode: int = 0, inner_precise: int = 0, softmax_lse_flag: bool = False, **more: Any,
) -> tuple[Any, Any]:  # fmt: skip
    """Return attention of inference and, empty, the logarithms of its sums, which must not be asked for."""
    if softmax_lse_flag:
        raise NotImplementedError("torch_npu.npu_fused_infer_attention_score: softmax_lse_flag is not supported")
    made = _infer("npu_fused_infer_attention_score", query, key, value, None, atten_mask, pse_shift, num_heads,
                  num_key_value_heads, scale, input_layout, sparse_mode, more)  # fmt: skip
    return made, query.new_empty(1, dtype=torch.float32)


def _infer(
    name: str, query: Any, key: Any, value: Any, padding: Any, mask: Any, shift: Any, heads: int, kv_heads: int,
    scale: float, layout: str, mode: int, more: dict[str, Any],
) -> Any:  # fmt: skip
    given = [key_ for key_, value_ in more.items() if value_ is not None and value_ is not False and value_ != 0]
    if padding is not None or given:
        raise NotImplementedError(f"torch_npu.{name}: {', '.join(given) or 'padding_mask'} is not supported")
    return npu_fusion_attention(
        query, key, value, heads, layout, pse=shift, atten_mask=mask, scale=scale, sparse_mode=mode
    )[0]

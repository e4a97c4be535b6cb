"""Attention of inference under torch_npu's names."""

from __future__ import annotations

from collections.abc import Sequence

import mindtorch as torch
from mindtorch._torch_npu._operator import operator
from mindtorch._torch_npu.operators.attention import npu_fusion_attention
from mindtorch.tensor.tensor import Tensor

__all__ = ["npu_fused_infer_attention_score", "npu_incre_flash_attention", "npu_prompt_flash_attention"]

_LENGTHS = "int[]? actual_seq_lengths=None"
_QUANTISED = (
    "Tensor? quant_scale1=None, Tensor? quant_scale2=None, Tensor? quant_offset2=None, Tensor? antiquant_scale=None, "
    "Tensor? antiquant_offset=None, Tensor? block_table=None, Tensor? kv_padding_size=None"
)


@operator(
    "npu_prompt_flash_attention(Tensor query, Tensor key, Tensor value, *, Tensor? padding_mask=None, "
    f"Tensor? atten_mask=None, Tensor? pse_shift=None, {_LENGTHS}, Tensor? deq_scale1=None, Tensor? quant_scale1=None, "
    "Tensor? deq_scale2=None, Tensor? quant_scale2=None, Tensor? quant_offset2=None, int num_heads=1, "
    "float scale_value=1.0, int pre_tokens=2147473647, int next_tokens=0, str input_layout='BSH', "
    "int num_key_value_heads=0, int[]? actual_seq_lengths_kv=None, int sparse_mode=0) -> Tensor"
)
def npu_prompt_flash_attention(
    query: Tensor, key: Tensor, value: Tensor, *, atten_mask: Tensor | None = None, pse_shift: Tensor | None = None,
    num_heads: int = 1, scale_value: float = 1.0, pre_tokens: int = 2147473647, next_tokens: int = 0,
    input_layout: str = "BSH", num_key_value_heads: int = 0, sparse_mode: int = 0, **more: object,
) -> Tensor:  # fmt: skip
    """Return attention over a whole prompt. NotImplementedError for quantised operands and lengths of each row.

    Without a mask `pre_tokens` and `next_tokens` say how far before and behind itself a row sees, which the vendor's
    operator reads only beside a mask: they are kept.
    """
    _plain("npu_prompt_flash_attention", more)
    return _infer(query, key, value, atten_mask, pse_shift, num_heads, scale_value, input_layout, sparse_mode)


@operator(
    "npu_incre_flash_attention(Tensor query, Tensor key, Tensor value, *, Tensor? padding_mask=None, "
    f"Tensor? atten_mask=None, Tensor? pse_shift=None, {_LENGTHS}, Tensor? dequant_scale1=None, "
    f"Tensor? dequant_scale2=None, {_QUANTISED}, int num_heads=1, float scale_value=1.0, str input_layout='BSH', "
    "int num_key_value_heads=0, int block_size=0, int inner_precise=1) -> Tensor"
)
def npu_incre_flash_attention(
    query: Tensor, key: Tensor, value: Tensor, *, atten_mask: Tensor | None = None, pse_shift: Tensor | None = None,
    num_heads: int = 1, scale_value: float = 1.0, input_layout: str = "BSH", num_key_value_heads: int = 0,
    inner_precise: int = 1, actual_seq_lengths: Sequence[int] | None = None, **more: object,
) -> Tensor:  # fmt: skip
    """Return attention of the newest token. NotImplementedError for quantised operands and pages.

    `actual_seq_lengths` says how many keys each sample has.
    """
    _plain("npu_incre_flash_attention", more)
    if actual_seq_lengths is not None:
        atten_mask = _behind(key, actual_seq_lengths, input_layout, atten_mask)
    return _infer(query, key, value, atten_mask, pse_shift, num_heads, scale_value, input_layout, 0)


def _behind(key: Tensor, lengths: Sequence[int], layout: str, mask: Tensor | None) -> Tensor:
    """Return a mask that hides the keys behind each sample's length."""
    count, columns = key.shape[0], key.shape[2 if layout == "BNSD" else 1]
    ends = torch.tensor(list(lengths) * (count if len(lengths) == 1 else 1), device=key.device)
    hidden = (torch.arange(columns, device=key.device) >= ends.unsqueeze(1)).reshape(count, 1, 1, columns)
    return hidden if mask is None else hidden | mask.bool().reshape(count, 1, 1, columns)


@operator(
    "npu_fused_infer_attention_score(Tensor query, Tensor key, Tensor value, *, Tensor? pse_shift=None, "
    f"Tensor? atten_mask=None, {_LENGTHS}, int[]? actual_seq_lengths_kv=None, Tensor? dequant_scale1=None, "
    f"Tensor? dequant_scale2=None, {_QUANTISED}, Tensor? key_antiquant_scale=None, Tensor? key_antiquant_offset=None, "
    "Tensor? value_antiquant_scale=None, Tensor? value_antiquant_offset=None, Tensor? query_padding_size=None, "
    "Tensor? key_shared_prefix=None, Tensor? value_shared_prefix=None, int[]? actual_shared_prefix_len=None, "
    "Tensor? query_rope=None, Tensor? key_rope=None, int num_heads=1, float scale=1.0, int pre_tokens=2147483647, "
    "int next_tokens=2147483647, str input_layout='BSH', int num_key_value_heads=0, int sparse_mode=0, "
    "int inner_precise=0, int block_size=0, int antiquant_mode=0, int key_antiquant_mode=0, int value_antiquant_mode=0, "
    "bool softmax_lse_flag=False) -> (Tensor, Tensor)"
)
def npu_fused_infer_attention_score(
    query: Tensor, key: Tensor, value: Tensor, *, pse_shift: Tensor | None = None, atten_mask: Tensor | None = None,
    num_heads: int = 1, scale: float = 1.0, pre_tokens: int = 2147483647, next_tokens: int = 2147483647,
    input_layout: str = "BSH", num_key_value_heads: int = 0, sparse_mode: int = 0, inner_precise: int = 0,
    softmax_lse_flag: bool = False, **more: object,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return attention of inference and, empty, the logarithms of its sums, which must not be asked for."""
    if softmax_lse_flag:
        raise NotImplementedError("torch_npu.npu_fused_infer_attention_score: softmax_lse_flag is not supported")
    _plain("npu_fused_infer_attention_score", more)
    made = _infer(query, key, value, atten_mask, pse_shift, num_heads, scale, input_layout, sparse_mode)
    return made, query.new_empty(1, dtype=torch.float32)


def _plain(name: str, more: dict[str, object]) -> None:
    """Refuse arguments that are not computed with."""
    given = [key for key, value in more.items() if value is not None and value is not False and value != 0]
    if given:
        raise NotImplementedError(f"torch_npu.{name}: {', '.join(given)} is not supported")


def _infer(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, shift: Tensor | None, heads: int, scale: float,
    layout: str, mode: int,
) -> Tensor:  # fmt: skip
    return npu_fusion_attention(
        query, key, value, heads, layout, pse=shift, atten_mask=mask, scale=scale, sparse_mode=mode
    )[0]

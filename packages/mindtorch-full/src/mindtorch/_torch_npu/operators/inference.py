"""Attention of inference under torch_npu's names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import mindtorch as torch
from mindtorch._ops import ops
from mindtorch._torch_npu._operator import operator, refuse_given
from mindtorch._torch_npu.operators.attention import npu_fusion_attention
from mindtorch.tensor.tensor import Tensor

__all__ = [
    "npu_fused_infer_attention_score", "npu_fused_infer_attention_score_v2", "npu_incre_flash_attention",
    "npu_prompt_flash_attention",
]  # fmt: skip

LAYOUTS = ("BSH", "BSND", "BNSD", "BNSD_BSND", "TND")
EVERY = 2147483647
Numbers = Sequence[int] | None

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
    refuse_given("npu_prompt_flash_attention", **more)
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
    refuse_given("npu_incre_flash_attention", **more)
    if actual_seq_lengths is not None:
        atten_mask = _behind(key, actual_seq_lengths, input_layout, atten_mask)
    return _infer(query, key, value, atten_mask, pse_shift, num_heads, scale_value, input_layout, 0)


def _behind(key: Tensor, lengths: Sequence[int], layout: str, mask: Tensor | None) -> Tensor:
    """Return a mask that hides the keys behind each sample's length."""
    count, columns = key.shape[0], key.shape[2 if layout == "BNSD" else 1]
    ends = torch.tensor(list(lengths) * (count if len(lengths) == 1 else 1), device=key.device)
    hidden = (torch.arange(columns, device=key.device) >= ends.unsqueeze(1)).reshape(count, 1, 1, columns)
    return hidden if mask is None else hidden | mask.bool().reshape(count, 1, 1, columns)


_SCORE = (
    f"Tensor? pse_shift=None, Tensor? atten_mask=None, {_LENGTHS}, int[]? actual_seq_lengths_kv=None, "
    f"Tensor? dequant_scale1=None, Tensor? dequant_scale2=None, {_QUANTISED}, Tensor? key_antiquant_scale=None, "
    "Tensor? key_antiquant_offset=None, Tensor? value_antiquant_scale=None, Tensor? value_antiquant_offset=None, "
    "Tensor? query_padding_size=None, Tensor? key_shared_prefix=None, Tensor? value_shared_prefix=None, "
    "int[]? actual_shared_prefix_len=None, Tensor? query_rope=None, Tensor? key_rope=None, int num_heads=1, "
    "float scale=1.0, int pre_tokens=2147483647, int next_tokens=2147483647, str input_layout='BSH', "
    "int num_key_value_heads=0, int sparse_mode=0, int inner_precise=0, int block_size=0, int antiquant_mode=0, "
    "int key_antiquant_mode=0, int value_antiquant_mode=0, bool softmax_lse_flag=False"
)
_SCORE_2 = (
    "Tensor? query_rope=None, Tensor? key_rope=None, Tensor? pse_shift=None, Tensor? atten_mask=None, "
    "int[]? actual_seq_qlen=None, int[]? actual_seq_kvlen=None, Tensor? block_table=None, "
    "Tensor? dequant_scale_query=None, Tensor? dequant_scale_key=None, Tensor? dequant_offset_key=None, "
    "Tensor? dequant_scale_value=None, Tensor? dequant_offset_value=None, Tensor? dequant_scale_key_rope=None, "
    "Tensor? quant_scale_out=None, Tensor? quant_offset_out=None, Tensor? learnable_sink=None, int num_query_heads=1, "
    "int num_key_value_heads=0, float softmax_scale=1.0, int pre_tokens=2147483647, int next_tokens=2147483647, "
    "str input_layout='BSH', int sparse_mode=0, int block_size=0, int query_quant_mode=0, int key_quant_mode=0, "
    "int value_quant_mode=0, int inner_precise=0, bool return_softmax_lse=False"
)
_THREE, _PAIR = "Tensor query, Tensor key, Tensor value, *", "-> (Tensor, Tensor)"
_INTO = "Tensor? workspace=None, Tensor(a!)[] out"


@operator(f"npu_fused_infer_attention_score({_THREE}, {_SCORE}) {_PAIR}")
def npu_fused_infer_attention_score(
    query: Tensor, key: Tensor, value: Tensor, *, pse_shift: Tensor | None = None, atten_mask: Tensor | None = None,
    actual_seq_lengths: Numbers = None, actual_seq_lengths_kv: Numbers = None, block_table: Tensor | None = None,
    num_heads: int = 1, scale: float = 1.0, pre_tokens: int = EVERY, next_tokens: int = EVERY,
    input_layout: str = "BSH", num_key_value_heads: int = 0, sparse_mode: int = 0, inner_precise: int = 0,
    block_size: int = 0, softmax_lse_flag: bool = False, **more: object,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return attention of inference and the logarithm of every row's sum, one 0 where that is not asked for.

    Samples may be shorter than the tensors are; keys may lie in pages, of which `block_table` has the numbers. The layout
    TND holds samples one after the other, ending where the lengths say. NotImplementedError for quantised operands.
    """
    refuse_given("npu_fused_infer_attention_score", **more)
    return _scored(
        query, key, value, pse_shift, atten_mask, actual_seq_lengths, actual_seq_lengths_kv, block_table, num_heads,
        num_key_value_heads, scale, pre_tokens, next_tokens, input_layout, sparse_mode, block_size, softmax_lse_flag,
    )  # fmt: skip


@operator(f"npu_fused_infer_attention_score_v2({_THREE}, {_SCORE_2}) {_PAIR}")
def npu_fused_infer_attention_score_v2(
    query: Tensor, key: Tensor, value: Tensor, *, pse_shift: Tensor | None = None, atten_mask: Tensor | None = None,
    actual_seq_qlen: Numbers = None, actual_seq_kvlen: Numbers = None, block_table: Tensor | None = None,
    num_query_heads: int = 1, num_key_value_heads: int = 0, softmax_scale: float = 1.0, pre_tokens: int = EVERY,
    next_tokens: int = EVERY, input_layout: str = "BSH", sparse_mode: int = 0, block_size: int = 0,
    inner_precise: int = 0, return_softmax_lse: bool = False, **more: object,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return `npu_fused_infer_attention_score`, whose arguments have other names here."""
    refuse_given("npu_fused_infer_attention_score_v2", **more)
    return _scored(
        query, key, value, pse_shift, atten_mask, actual_seq_qlen, actual_seq_kvlen, block_table, num_query_heads,
        num_key_value_heads, softmax_scale, pre_tokens, next_tokens, input_layout, sparse_mode, block_size,
        return_softmax_lse,
    )  # fmt: skip


def _scored(
    query: Tensor, key: Tensor, value: Tensor, pse: Tensor | None, mask: Tensor | None, lengths: Numbers,
    key_lengths: Numbers, table: Tensor | None, heads: int, key_heads: int, scale: float, before: int, after: int,
    layout: str, mode: int, block_size: int, logsumexp: bool,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    if layout not in LAYOUTS or mode not in range(5):
        raise NotImplementedError(f"torch_npu: attention of inference with layout {layout} and sparse_mode {mode}")
    if layout == "TND" and lengths is None:
        raise RuntimeError("torch_npu: the layout TND needs the ends of the samples")
    if table is not None and key_lengths is None:
        raise RuntimeError("torch_npu: keys in pages need the lengths of the samples' keys")
    ends = (None if one is None else [int(each) for each in one] for one in (lengths, key_lengths))
    made: tuple[Tensor, Tensor] = ops.npu._npu_infer_attention(
        query, key, value, pse, mask, *ends, table, heads, key_heads or heads, scale, before, after, layout, mode,
        block_size, logsumexp,
    )  # fmt: skip
    return made


def _family(name: str, arguments: str, function: Callable[..., tuple[Tensor, Tensor]]) -> None:
    """Declare what goes with an operator whose lengths change between a graph's runs."""

    def into(
        *args: Any, workspace: Tensor | None = None, out: Sequence[Tensor], **kwargs: Any
    ) -> tuple[Tensor, Tensor]:
        made = function(*args, **kwargs)
        return out[0].copy_(made[0]), out[1].copy_(made[1])

    def outputs(*args: Any, **kwargs: Any) -> tuple[Tensor, Tensor]:
        first, second = function(*args, **kwargs)
        return torch.empty_like(first), torch.empty_like(second)

    def workspace(query: Tensor, *args: object, **kwargs: object) -> Tensor:
        return query.new_empty(0, dtype=torch.uint8)

    # The allocator gives workspaces here: one of no bytes stands for the one that a program takes along.
    for suffix, given, returned, made in (
        (f"{name}.out", f"{arguments}, {_INTO}", _PAIR, into),
        (f"_{name}_infer_output", arguments, _PAIR, outputs),
        (f"_{name}_get_max_workspace", arguments, "-> Tensor", workspace),
    ):
        operator(f"{suffix}({_THREE}, {given}) {returned}")(made)


_family("npu_fused_infer_attention_score", _SCORE, npu_fused_infer_attention_score)
_family("npu_fused_infer_attention_score_v2", _SCORE_2, npu_fused_infer_attention_score_v2)


@operator(
    "_npu_paged_attention(Tensor query, Tensor key_cache, Tensor value_cache, int num_kv_heads, int num_heads, "
    "float scale_value, Tensor block_table, Tensor context_lens, Tensor(a!) out, *, Tensor? workspace=None) -> ()"
)
def _npu_paged_attention(
    query: Tensor, key_cache: Tensor, value_cache: Tensor, num_kv_heads: int, num_heads: int, scale_value: float,
    block_table: Tensor, context_lens: Tensor, out: Tensor, *, workspace: Tensor | None = None,
) -> None:  # fmt: skip
    """Write attention of each sample's newest token into `out`; caches are of page, place, head and width."""
    keys, values = (one.flatten(2) for one in (key_cache, value_cache))
    made, _ = _scored(
        query.unsqueeze(2), keys, values, None, None, None, context_lens.tolist(), block_table, num_heads, num_kv_heads,
        scale_value, EVERY, EVERY, "BNSD", 0, key_cache.shape[1], False,
    )  # fmt: skip
    out.copy_(made.squeeze(2))


def _infer(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, shift: Tensor | None, heads: int, scale: float,
    layout: str, mode: int,
) -> Tensor:  # fmt: skip
    return npu_fusion_attention(
        query, key, value, heads, layout, pse=shift, atten_mask=mask, scale=scale, sparse_mode=mode
    )[0]

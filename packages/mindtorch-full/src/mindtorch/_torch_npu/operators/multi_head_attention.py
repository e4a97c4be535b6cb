"""Attention whose dropout, and whose projections, are part of the operator, under torch_npu's names."""

from __future__ import annotations

import mindtorch as torch
from mindtorch._torch_npu._operator import operator, refuse
from mindtorch.nn import functional as F
from mindtorch.tensor.tensor import Tensor

__all__ = [
    "npu_fused_attention_score", "npu_fused_attention_score_fwd", "npu_multi_head_attention",
]  # fmt: skip

_TURNS = (
    "Scalar scale, float keep_prob, bool query_transpose=False, bool key_transpose=False, "
    "bool bmm_score_transpose_a=False, bool bmm_score_transpose_b=False, bool value_transpose=False, "
    "bool dx_transpose=False"
)
_LAYERS = "Tensor query_layer, Tensor key_layer, Tensor value_layer, Tensor attention_mask"


def _scored(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor, scale: float, keep_prob: float
) -> tuple[Tensor, Tensor, Tensor]:
    weights = torch.softmax(query @ key.transpose(-2, -1) * scale + mask, -1)
    if keep_prob == 1:
        return weights @ value, weights, weights.new_empty(0, dtype=torch.uint8)
    dropped, bits = torch.ops.npu._npu_dropout(weights, 1 - keep_prob)
    return dropped @ value, weights, bits


def _unturned(name: str, *turns: bool) -> None:
    if any(turns):
        refuse(name, "an operand that is transposed")


@operator(f"npu_fused_attention_score_fwd({_LAYERS}, {_TURNS}) -> (Tensor, Tensor, Tensor)")
def npu_fused_attention_score_fwd(
    query_layer: Tensor, key_layer: Tensor, value_layer: Tensor, attention_mask: Tensor, scale: float,
    keep_prob: float, query_transpose: bool = False, key_transpose: bool = False, bmm_score_transpose_a: bool = False,
    bmm_score_transpose_b: bool = False, value_transpose: bool = False, dx_transpose: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Return attention with a mask that is added to the scaled scores, its weights, and the bits of dropout."""
    turns = (query_transpose, key_transpose, bmm_score_transpose_a, bmm_score_transpose_b, value_transpose)
    _unturned("npu_fused_attention_score_fwd", *turns)
    return _scored(query_layer, key_layer, value_layer, attention_mask, scale, keep_prob)


@operator(f"npu_fused_attention_score({_LAYERS}, {_TURNS}) -> Tensor")
def npu_fused_attention_score(
    query_layer: Tensor, key_layer: Tensor, value_layer: Tensor, attention_mask: Tensor, scale: float,
    keep_prob: float, query_transpose: bool = False, key_transpose: bool = False, bmm_score_transpose_a: bool = False,
    bmm_score_transpose_b: bool = False, value_transpose: bool = False, dx_transpose: bool = False,
) -> Tensor:  # fmt: skip
    """Return attention with a mask that is added to the scaled scores: a row for each token, its heads side by side."""
    turns = (query_transpose, key_transpose, bmm_score_transpose_a, bmm_score_transpose_b, value_transpose)
    _unturned("npu_fused_attention_score", *turns)
    made = _scored(query_layer, key_layer, value_layer, attention_mask, scale, keep_prob)[0]
    return made.permute(0, 2, 1, 3).reshape(made.shape[0] * made.shape[2], -1)


@operator(
    "npu_multi_head_attention(Tensor query, Tensor key, Tensor value, Tensor query_weight, Tensor key_weight, "
    "Tensor value_weight, Tensor attn_mask, Tensor out_proj_weight, Tensor? query_bias, Tensor? key_bias, "
    "Tensor? value_bias, Tensor? out_proj_bias, Tensor? dropout_mask, int attn_head_num, int attn_dim_per_head, "
    "int src_len, int tgt_len, float dropout_prob, bool softmax_use_float) "
    "-> (Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor)"
)
def npu_multi_head_attention(
    query: Tensor, key: Tensor, value: Tensor, query_weight: Tensor, key_weight: Tensor, value_weight: Tensor,
    attn_mask: Tensor, out_proj_weight: Tensor, query_bias: Tensor | None, key_bias: Tensor | None,
    value_bias: Tensor | None, out_proj_bias: Tensor | None, dropout_mask: Tensor | None, attn_head_num: int,
    attn_dim_per_head: int, src_len: int, tgt_len: int, dropout_prob: float, softmax_use_float: bool,
) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """Return attention of rows of samples, dropout's bits, and what came of each step, which its own backward uses."""
    if dropout_mask is not None:
        refuse("npu_multi_head_attention", "dropout_mask")
    steps = ((query, query_weight, query_bias, tgt_len), (key, key_weight, key_bias, src_len))
    q, k, v = (
        F.linear(rows, weight, bias).reshape(-1, length, attn_head_num, attn_dim_per_head).transpose(1, 2)
        for rows, weight, bias, length in (*steps, (value, value_weight, value_bias, src_len))
    )
    scores = (q @ k.transpose(-2, -1)) * attn_dim_per_head**-0.5 + attn_mask
    weights = torch.softmax(scores.float() if softmax_use_float else scores, -1).to(q.dtype)
    bits = weights.new_empty(0, dtype=torch.uint8)
    dropped = weights
    if dropout_prob > 0:
        dropped, bits = torch.ops.npu._npu_dropout(weights, dropout_prob)
    context = (dropped @ v).transpose(1, 2).reshape(query.shape[0], -1)
    return F.linear(context, out_proj_weight, out_proj_bias), bits, q, k, v, scores, weights, context

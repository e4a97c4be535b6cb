"""Attention."""

from ..decomp import attention as composed
from ..decomp import native_attention as native
from ..meta import attention as rules
from ..table import CORE, op

_QKV = "Tensor query, Tensor key, Tensor value"
_MASKED = f"{_QKV}, Tensor? attn_mask=None, float dropout_p=0., bool is_causal=False"

op(
    f"scaled_dot_product_attention({_MASKED}, *, float? scale=None, bool enable_gqa=False) -> Tensor",
    composite=composed.scaled_dot_product_attention,
    variants="nn",
)
op(
    f"_scaled_dot_product_attention_math({_MASKED}, Tensor? dropout_mask=None, *, float? scale=None, "
    "bool enable_gqa=False) -> (Tensor, Tensor)",
    composite=composed.attention_math,
    variants="function",
)
op(
    f"_fused_sdp_choice({_MASKED}, *, float? scale=None, bool enable_gqa=False) -> int",
    composite=composed.fused_choice,
    variants="function",
)
op(
    f"_scaled_dot_product_flash_attention_for_cpu({_QKV}, float dropout_p=0., bool is_causal=False, *, "
    "Tensor? attn_mask=None, float? scale=None) -> (Tensor output, Tensor logsumexp)",
    rules.flash,
    variants="function",
    static=("dropout_p",),
    tags={CORE},
)
op(
    f"_scaled_dot_product_flash_attention_for_cpu_backward(Tensor grad_out, {_QKV}, Tensor out, Tensor logsumexp, "
    "float dropout_p, bool is_causal, *, Tensor? attn_mask=None, float? scale=None) "
    "-> (Tensor grad_query, Tensor grad_key, Tensor grad_value)",
    rules.flash_backward,
    variants="",
    tags={CORE},
)
op(
    f"_flash_attention_forward({_QKV}, Tensor? cum_seq_q, Tensor? cum_seq_k, SymInt max_q, SymInt max_k, float dropout_p, "
    "bool is_causal, bool return_debug_mask, *, float? scale=None, SymInt? window_size_left=None, "
    "SymInt? window_size_right=None, Tensor? seqused_k=None, Tensor? alibi_slopes=None, Tensor? block_table=None, "
    "int? num_splits=None) "
    "-> (Tensor output, Tensor softmax_logsumexp, Tensor rng_state, Tensor unused, Tensor debug_attn_mask)",
    composite=composed.accelerator_only("_flash_attention_forward"),
    variants="",
)
op(
    f"_efficient_attention_forward({_QKV}, Tensor? bias, Tensor? cu_seqlens_q, Tensor? cu_seqlens_k, "
    "SymInt? max_seqlen_q, SymInt? max_seqlen_k, float dropout_p, int custom_mask_type, bool compute_log_sumexp=False, *, "
    "float? scale=None, Tensor? seqlen_k=None, int? window_size=None) -> (Tensor output, Tensor logsumexp, "
    "Tensor philox_seed, Tensor philox_offset, SymInt max_seqlen_batch_q, SymInt max_seqlen_batch_k)",
    composite=composed.accelerator_only("_efficient_attention_forward"),
    variants="",
)
op(
    "_transform_bias_rescale_qkv(Tensor qkv, Tensor qkv_bias, int num_heads) -> (Tensor, Tensor, Tensor)",
    composite=native.transform_bias_rescale_qkv,
    variants="function",
)
_PACKED = "int embed_dim, int {heads}, Tensor qkv_weight, Tensor qkv_bias, Tensor proj_weight, Tensor proj_bias"
op(
    f"_native_multi_head_attention({_QKV}, {_PACKED.format(heads='num_head')}, Tensor? mask=None, bool need_weights=True, "
    "bool average_attn_weights=True, int? mask_type=None) -> (Tensor, Tensor)",
    composite=native.native_multi_head_attention,
    variants="function",
)
op(
    f"_transformer_encoder_layer_fwd(Tensor src, {_PACKED.format(heads='num_heads')}, bool use_gelu, bool norm_first, "
    "float eps, Tensor norm_weight_1, Tensor norm_bias_1, Tensor norm_weight_2, Tensor norm_bias_2, Tensor ffn_weight_1, "
    "Tensor ffn_bias_1, Tensor ffn_weight_2, Tensor ffn_bias_2, Tensor? mask=None, int? mask_type=None) -> Tensor",
    composite=native.transformer_encoder_layer_fwd,
    variants="function",
)

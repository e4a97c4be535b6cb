"""`MultiheadAttention` of `torch_npu.contrib`, as fairseq has it, over `npu_multi_head_attention`."""

from __future__ import annotations

import math
from typing import Any

import mindtorch as torch
from mindtorch import nn
from mindtorch.tensor.tensor import Tensor

__all__ = ["MultiheadAttention"]


class MultiheadAttention(nn.Module):
    """Attention of several heads over rows of a batch, one sample behind the other."""

    def __init__(
        self, embed_dim: int, num_heads: int, kdim: int | None = None, vdim: int | None = None, dropout: float = 0.0,
        bias: bool = True, add_bias_kv: bool = False, add_zero_attn: bool = False, self_attention: bool = False,
        encoder_decoder_attention: bool = False, q_noise: float = 0.0, qn_block_size: int = 8,
    ) -> None:  # fmt: skip
        super().__init__()
        if q_noise > 0:
            raise NotImplementedError("torch_npu.contrib.MultiheadAttention: q_noise is not supported")
        self.embed_dim, self.num_heads, self.head_dim = embed_dim, num_heads, embed_dim // num_heads
        self.kdim, self.vdim = kdim or embed_dim, vdim or embed_dim
        self.qkv_same_dim = self.kdim == self.vdim == embed_dim
        self.dropout_prob = dropout
        if self.head_dim * num_heads != embed_dim:
            raise ValueError("embed_dim must be divisible by num_heads")
        self.scaling = self.head_dim**-0.5
        self.self_attention, self.encoder_decoder_attention = self_attention, encoder_decoder_attention
        if self_attention and not self.qkv_same_dim:
            raise ValueError("Self-attention requires query, key and value to be of the same size")
        self.k_proj = nn.Linear(self.kdim, embed_dim, bias=bias)
        self.v_proj = nn.Linear(self.vdim, embed_dim, bias=bias)
        self.q_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.out_proj = nn.Linear(embed_dim, embed_dim, bias=bias)
        self.bias_k = nn.Parameter(torch.empty(1, 1, embed_dim)) if add_bias_kv else None
        self.bias_v = nn.Parameter(torch.empty(1, 1, embed_dim)) if add_bias_kv else None
        self.add_zero_attn = add_zero_attn
        self.onnx_trace = self.tpu = False
        self.reset_parameters()

    def prepare_for_onnx_export_(self) -> None:
        """Remember that the model is exported."""
        self.onnx_trace = True

    def prepare_for_tpu_(self, **kwargs: object) -> None:
        """Remember that the model runs on other chips."""
        self.tpu = True

    def reset_parameters(self) -> None:
        """Draw the weights."""
        gain = 1 / math.sqrt(2) if self.qkv_same_dim else 1.0
        for one in (self.k_proj, self.v_proj, self.q_proj):
            nn.init.xavier_uniform_(one.weight, gain=gain)
        nn.init.xavier_uniform_(self.out_proj.weight)
        if self.out_proj.bias is not None:
            nn.init.constant_(self.out_proj.bias, 0.0)
        for given in (self.bias_k, self.bias_v):
            if given is not None:
                nn.init.xavier_normal_(given)

    def transpose_for_scores(self, x: Tensor) -> Tensor:
        """Return rows with the heads first; the sizes are attributes that the program has set."""
        own: Any = self
        shape = (own.batch_size, own.squence_length, own.num_attention_heads, own.attention_head_size)
        return torch.ops.npu.npu_confusion_transpose(x, (0, 2, 1, 3), shape, False)

    def forward(
        self, query: Tensor, key: Tensor | None, value: Tensor | None, bsz: int, tgt_len: int, s_len: int,
        key_padding_mask: Tensor | None = None, incremental_state: object = None, need_weights: bool = True,
        static_kv: bool = False, attn_mask: Tensor | None = None, before_softmax: bool = False,
        need_head_weights: bool = False,
    ) -> tuple[Tensor, None]:  # fmt: skip
        """Return attention of rows of samples, and None in place of its weights."""
        if key is None or value is None:
            raise ValueError("key and value are needed")
        return self.multi_attn(query, key, value, key_padding_mask, bsz, tgt_len), None

    def multi_attn(
        self, query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Tensor | None, bsz: int, tgt_len: int
    ) -> Tensor:
        """Return attention of rows of samples; the mask is added to the scores."""
        source = key.size(0) // bsz
        mask = query.new_zeros(bsz, 1, tgt_len, source) if key_padding_mask is None else key_padding_mask
        return torch.ops.npu.npu_multi_head_attention(
            query, key, value, self.q_proj.weight, self.k_proj.weight, self.v_proj.weight, mask, self.out_proj.weight,
            self.q_proj.bias, self.k_proj.bias, self.v_proj.bias, self.out_proj.bias, None, self.num_heads,
            self.head_dim, source, tgt_len, self.dropout_prob if self.training else 0.0, True,
        )[0]  # fmt: skip

    def apply_sparse_mask(self, attn_weights: Tensor, tgt_len: int, src_len: int, bsz: int) -> Tensor:
        """Return the weights as they are; for subclasses."""
        return attn_weights

    def upgrade_state_dict_named(self, state_dict: dict[str, Tensor], name: str) -> None:
        """Split the joint weight that former checkpoints have."""
        prefix = f"{name}." if name else ""
        for end in ("weight", "bias"):
            for key in [one for one in state_dict if one.endswith(f"{prefix}in_proj_{end}")]:
                parts = state_dict.pop(key).chunk(3)
                for letter, part in zip("qkv", parts, strict=True):
                    state_dict[f"{prefix}{letter}_proj.{end}"] = part

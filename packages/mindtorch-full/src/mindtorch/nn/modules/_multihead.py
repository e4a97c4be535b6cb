"""Multi-head attention; public through ``nn.modules.activation``."""

from collections.abc import Iterable
from typing import Any

import mindtorch
from mindtorch._tensor import Tensor
from mindtorch.nn import functional as F
from mindtorch.nn import init
from mindtorch.nn.modules._fast_path import why_not_attention
from mindtorch.nn.modules.linear import NonDynamicallyQuantizableLinear
from mindtorch.nn.modules.module import Module
from mindtorch.nn.parameter import Parameter


class MultiheadAttention(Module):
    """Attention of ``num_heads`` heads over projected queries, keys and values.

    Inputs are (L, N, E), with ``batch_first`` (N, L, E), or unbatched (L, E).

    >>> attention = torch.nn.MultiheadAttention(8, num_heads=2, batch_first=True)
    >>> x = torch.ones(1, 3, 8)
    >>> output, weights = attention(x, x, x)
    >>> output.shape, weights.shape
    (torch.Size([1, 3, 8]), torch.Size([1, 3, 3]))
    """

    __constants__ = ["batch_first"]
    bias_k: Tensor | None
    bias_v: Tensor | None

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                "embed_dim and num_heads must be greater than 0, got "
                f"embed_dim={embed_dim} and num_heads={num_heads} instead"
            )
        made = {"device": device, "dtype": dtype}
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = kdim if kdim is not None else embed_dim
        self.vdim = vdim if vdim is not None else embed_dim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != self.embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")
        if self._qkv_same_embed_dim:
            self.in_proj_weight = Parameter(mindtorch.empty((3 * embed_dim, embed_dim), **made))
            self.register_parameter("q_proj_weight", None)
            self.register_parameter("k_proj_weight", None)
            self.register_parameter("v_proj_weight", None)
        else:
            self.q_proj_weight = Parameter(mindtorch.empty((embed_dim, embed_dim), **made))
            self.k_proj_weight = Parameter(mindtorch.empty((embed_dim, self.kdim), **made))
            self.v_proj_weight = Parameter(mindtorch.empty((embed_dim, self.vdim), **made))
            self.register_parameter("in_proj_weight", None)
        if bias:
            self.in_proj_bias = Parameter(mindtorch.empty(3 * embed_dim, **made))
        else:
            self.register_parameter("in_proj_bias", None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, **made)
        if add_bias_kv:
            self.bias_k = Parameter(mindtorch.empty((1, 1, embed_dim), **made))
            self.bias_v = Parameter(mindtorch.empty((1, 1, embed_dim), **made))
        else:
            self.bias_k = self.bias_v = None
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        if self._qkv_same_embed_dim:
            init.xavier_uniform_(self.in_proj_weight)
        else:
            init.xavier_uniform_(self.q_proj_weight)
            init.xavier_uniform_(self.k_proj_weight)
            init.xavier_uniform_(self.v_proj_weight)
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)
        if self.bias_k is not None:
            init.xavier_normal_(self.bias_k)
        if self.bias_v is not None:
            init.xavier_normal_(self.bias_v)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Modules pickled before separate projections existed lack the flag.
        state.setdefault("_qkv_same_embed_dim", True)
        super().__setstate__(state)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """Return the attended values, of the query's shape, and the weights (None unless ``need_weights``).

        Weights are (N, L, S), or (N, heads, L, S) with ``average_attn_weights=False``.
        """
        is_batched = query.dim() == 3
        why_not_fast_path = why_not_attention(self, query, key, value, (key_padding_mask, attn_mask))
        key_padding_mask = F._canonical_mask(
            mask=key_padding_mask,
            mask_name="key_padding_mask",
            other_type=F._none_or_dtype(attn_mask),
            other_name="attn_mask",
            target_type=query.dtype,
        )
        attn_mask = F._canonical_mask(
            mask=attn_mask,
            mask_name="attn_mask",
            other_type=None,
            other_name="",
            target_type=query.dtype,
            check_other=False,
        )
        if not why_not_fast_path:
            merged, kind = self.merge_masks(attn_mask, key_padding_mask, query)
            return self._attend_at_once(query, merged, need_weights, average_attn_weights, kind)
        _refuse_nested((query, key, value), why_not_fast_path)
        swapped = self.batch_first and is_batched
        if swapped:
            query, key, value = _swap_batch_first(query, key, value)
        separate = {} if self._qkv_same_embed_dim else self._separate_weights()
        output, weights = F.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
            **separate,
        )
        return (output.transpose(1, 0) if swapped else output), weights

    def _attend_at_once(self, query: Tensor, mask: Tensor | None, *options: Any) -> tuple[Tensor, Tensor | None]:
        """Return what `forward` does, of the operator of inference."""
        weights = (self.in_proj_weight, self.in_proj_bias, self.out_proj.weight, self.out_proj.bias)
        found: tuple[Tensor, Tensor | None] = mindtorch._native_multi_head_attention(
            query, query, query, self.embed_dim, self.num_heads, *weights, mask, *options
        )
        return found

    def _separate_weights(self) -> dict[str, Any]:
        return {
            "use_separate_proj_weight": True,
            "q_proj_weight": self.q_proj_weight,
            "k_proj_weight": self.k_proj_weight,
            "v_proj_weight": self.v_proj_weight,
        }

    def merge_masks(
        self, attn_mask: Tensor | None, key_padding_mask: Tensor | None, query: Tensor
    ) -> tuple[Tensor | None, int | None]:
        """Join both masks into one that broadcasts to (N, heads, L, S).

        Returns the mask and its kind: 0 attention mask, 1 padding mask, 2 merged, None where there is no mask.
        """
        kind: int | None = None
        merged: Tensor | None = None
        if key_padding_mask is not None:
            kind = 1
            merged = key_padding_mask
        if attn_mask is not None:
            batch_size, seq_len, _ = query.shape
            kind = 2
            if attn_mask.dim() == 3:
                expanded = attn_mask.view(batch_size, -1, seq_len, seq_len)
            else:
                expanded = attn_mask.view(1, 1, seq_len, seq_len).expand(batch_size, self.num_heads, -1, -1)
            merged = expanded
            if key_padding_mask is not None:
                padding = key_padding_mask.view(batch_size, 1, 1, seq_len).expand(-1, self.num_heads, -1, -1)
                merged = expanded + padding
        return merged, kind


def _refuse_nested(tensors: Iterable[Tensor], why_not_fast_path: str) -> None:
    if any(tensor.is_nested for tensor in tensors):
        raise AssertionError(
            "MultiheadAttention does not support NestedTensor outside of its fast path. The fast path was not hit because "
            f"{why_not_fast_path}"
        )


def _swap_batch_first(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Move the batch to dimension 1, keeping equal inputs equal so that one projection can serve them all."""
    if key is value:
        if query is key:
            query = query.transpose(1, 0)
            return query, query, query
        query, key = query.transpose(1, 0), key.transpose(1, 0)
        return query, key, key
    return query.transpose(1, 0), key.transpose(1, 0), value.transpose(1, 0)

"""Multi-head attention over packed projections."""

import math
import warnings
from typing import Any

import mindtorch
from mindtorch._tensor import Tensor
from mindtorch.nn.functional.activation import softmax
from mindtorch.nn.functional.dropout import dropout
from mindtorch.ops_table import aten
from mindtorch_dispatch.frames import frames_up


def _in_projection_packed(q: Tensor, k: Tensor, v: Tensor, w: Tensor, b: Tensor | None = None) -> list[Tensor]:
    """Project query, key and value with one weight (3*E, E), in as few products as their identities allow."""
    size = q.size(-1)
    if k is v:
        if q is k:
            projected = aten.linear(q, w, b)
            # One contiguous tensor per projection, from one product.
            projected = projected.unflatten(-1, (3, size)).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()
            return [projected[0], projected[1], projected[2]]
        w_q, w_kv = w.split([size, size * 2])
        b_q, b_kv = (None, None) if b is None else b.split([size, size * 2])
        query = aten.linear(q, w_q, b_q)
        pair = aten.linear(k, w_kv, b_kv)
        pair = pair.unflatten(-1, (2, size)).unsqueeze(0).transpose(0, -2).squeeze(-2).contiguous()
        return [query, pair[0], pair[1]]
    w_q, w_k, w_v = w.chunk(3)
    b_q, b_k, b_v = (None, None, None) if b is None else b.chunk(3)
    return [aten.linear(q, w_q, b_q), aten.linear(k, w_k, b_k), aten.linear(v, w_v, b_v)]


def _in_projection(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    b_q: Tensor | None = None,
    b_k: Tensor | None = None,
    b_v: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Project query, key and value with a weight each."""
    q_size, k_size, v_size = q.size(-1), k.size(-1), v.size(-1)
    for name, weight, expected in (
        ("query", w_q, (q_size, q_size)),
        ("key", w_k, (q_size, k_size)),
        ("value", w_v, (q_size, v_size)),
    ):
        if weight.shape != expected:
            raise AssertionError(f"expecting {name} weights shape of {expected}, but got {weight.shape}")
    for name, bias in (("query", b_q), ("key", b_k), ("value", b_v)):
        if bias is not None and bias.shape != (q_size,):
            raise AssertionError(f"expecting {name} bias shape of {(q_size,)}, but got {bias.shape}")
    return aten.linear(q, w_q, b_q), aten.linear(k, w_k, b_k), aten.linear(v, w_v, b_v)


def _mha_shape_check(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    key_padding_mask: Tensor | None,
    attn_mask: Tensor | None,
    num_heads: int,
) -> bool:
    """Return whether the inputs are batched; AssertionError where their dimensions do not fit together."""
    dims = query.dim()
    if dims not in (2, 3):
        raise AssertionError(f"query should be unbatched 2D or batched 3D tensor but received {dims}-D query tensor")
    kind = "batched" if dims == 3 else "unbatched"
    if key.dim() != dims or value.dim() != dims:
        raise AssertionError(
            f"For {kind} ({dims}-D) `query`, expected `key` and `value` to be {dims}-D but found {key.dim()}-D and "
            f"{value.dim()}-D tensors respectively"
        )
    if key_padding_mask is not None and key_padding_mask.dim() != dims - 1:
        raise AssertionError(
            f"For {kind} ({dims}-D) `query`, expected `key_padding_mask` to be `None` or {dims - 1}-D but found "
            f"{key_padding_mask.dim()}-D tensor instead"
        )
    if attn_mask is not None:
        if attn_mask.dim() not in (2, 3):
            raise AssertionError(
                f"For {kind} ({dims}-D) `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found "
                f"{attn_mask.dim()}-D tensor instead"
            )
        if dims == 2 and attn_mask.dim() == 3:
            expected = (num_heads, query.shape[0], key.shape[0])
            if attn_mask.shape != expected:
                raise AssertionError(f"Expected `attn_mask` shape to be {expected} but got {attn_mask.shape}")
    return dims == 3


def _canonical_mask(
    mask: Tensor | None,
    mask_name: str,
    other_type: Any,
    other_name: str,
    target_type: Any,
    check_other: bool = True,
) -> Tensor | None:
    """Return ``mask`` as numbers to add to scores: True becomes -inf."""
    if mask is None:
        return None
    is_float = mindtorch.is_floating_point(mask)
    if mask.dtype != mindtorch.bool and not is_float:
        raise AssertionError(f"only bool and floating types of {mask_name} are supported")
    if check_other and other_type is not None and mask.dtype != other_type:
        warnings.warn(
            f"Support for mismatched {mask_name} and {other_name} is deprecated. Use same type for both instead.",
            stacklevel=frames_up(2),
        )
    if is_float:
        return mask
    return mindtorch.zeros_like(mask, dtype=target_type).masked_fill_(mask, float("-inf"))


def _none_or_dtype(input: Tensor | None) -> Any:
    """Return the dtype of ``input``, or None."""
    if input is None:
        return None
    if isinstance(input, Tensor):
        return input.dtype
    raise RuntimeError("input to _none_or_dtype() must be None or torch.Tensor")


def _check_key_padding_mask(key_padding_mask: Tensor, src_len: int, bsz: int) -> None:
    """Raise AssertionError unless the mask is (batch, source length)."""
    if key_padding_mask.shape[0] != bsz:
        raise AssertionError(f"Expected key_padded_mask.shape[0] to be {bsz}, but got {key_padding_mask.shape[0]}")
    if key_padding_mask.shape[1] != src_len:
        raise AssertionError(f"Expected key_padded_mask.shape[1] to be {src_len}, but got {key_padding_mask.shape[1]}")


def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Return attended values (L, N, E) of queries (L, N, E) over (S, N, E), and the weights if asked for.

    >>> attention = torch.nn.MultiheadAttention(4, num_heads=2)
    >>> x = torch.ones(3, 1, 4)
    >>> output, weights = torch.nn.functional.multi_head_attention_forward(
    ...     x, x, x, 4, 2, attention.in_proj_weight, attention.in_proj_bias, None, None, False, 0.0,
    ...     attention.out_proj.weight, attention.out_proj.bias,
    ... )
    >>> output.shape, weights.shape
    (torch.Size([3, 1, 4]), torch.Size([1, 3, 3]))
    """
    is_batched = _mha_shape_check(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not is_batched:
        query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    heads = _Heads(query, key, embed_dim_to_check, num_heads)
    key_padding_mask = _canonical_mask(
        key_padding_mask, "key_padding_mask", _none_or_dtype(attn_mask), "attn_mask", query.dtype
    )
    attn_mask, is_causal = _causal_mask(attn_mask, is_causal, key_padding_mask, need_weights, query)
    _check_kv_shapes(key, value, use_separate_proj_weight)
    by = (q_proj_weight, k_proj_weight, v_proj_weight) if use_separate_proj_weight else in_proj_weight
    q, k, v = _project(query, key, value, by, in_proj_bias)
    attn_mask = heads.check_mask(attn_mask)
    if _check_extra(bias_k, bias_v, static_k, static_v):
        k = mindtorch.cat([k, bias_k.repeat(1, heads.batch, 1)])
        v = mindtorch.cat([v, bias_v.repeat(1, heads.batch, 1)])
        attn_mask, key_padding_mask = _grown(attn_mask), _grown(key_padding_mask)
    q = heads.split(q)
    k = heads.split(k) if static_k is None else heads.check_static(static_k, "static_k")
    v = heads.split(v) if static_v is None else heads.check_static(static_v, "static_v")
    if add_zero_attn:
        k, v = heads.with_zeros(k), heads.with_zeros(v)
        attn_mask, key_padding_mask = _grown(attn_mask), _grown(key_padding_mask)
    attn_mask = heads.merge_masks(attn_mask, key_padding_mask, k.size(1))
    attend = heads.attend_with_weights if need_weights else heads.attend
    output, weights = attend(q, k, v, attn_mask, dropout_p if training else 0.0, is_causal)
    if need_weights and average_attn_weights:
        weights = weights.mean(dim=1)
    output = aten.linear(output, out_proj_weight, out_proj_bias)
    output = output.view(heads.target_len, heads.batch, output.size(1))
    if is_batched:
        return output, weights
    return output.squeeze(1), weights.squeeze(0) if need_weights else None


def _check_extra(
    bias_k: Tensor | None, bias_v: Tensor | None, static_k: Tensor | None, static_v: Tensor | None
) -> bool:
    """Return whether key and value get a learned position; AssertionError where the arguments contradict."""
    if bias_k is not None and bias_v is not None:
        if static_k is not None or static_v is not None:
            name = "key" if static_k is not None else "value"
            raise AssertionError(f"bias cannot be added to static {name}.")
        return True
    if bias_k is not None or bias_v is not None:
        raise AssertionError(f"bias_{'k' if bias_k is not None else 'v'} must be None")
    return False


def _causal_mask(
    attn_mask: Tensor | None, is_causal: bool, key_padding_mask: Tensor | None, need_weights: bool, query: Tensor
) -> tuple[Tensor | None, bool]:
    """Return the mask as numbers and the causal hint, of which one may make the other superfluous."""
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
            "`generate_square_subsequent_mask` to create this mask."
        )
    if is_causal and key_padding_mask is None and not need_weights:
        return None, True
    attn_mask = _canonical_mask(attn_mask, "attn_mask", None, "", query.dtype, check_other=False)
    return attn_mask, is_causal and key_padding_mask is None


def _check_kv_shapes(key: Tensor, value: Tensor, separate: bool) -> None:
    if separate:
        if key.shape[:2] != value.shape[:2]:
            raise AssertionError(
                f"key's sequence and batch dims {key.shape[:2]} do not match value's {value.shape[:2]}"
            )
    elif key.shape != value.shape:
        raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")


def _project(query: Tensor, key: Tensor, value: Tensor, weights: Any, bias: Tensor | None) -> Any:
    """Return the projected query, key and value, by one packed weight or by a tuple of three."""
    if weights is None:
        raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None")
    if not isinstance(weights, tuple):
        return _in_projection_packed(query, key, value, weights, bias)
    for name, weight in zip("qkv", weights, strict=True):
        if weight is None:
            raise AssertionError(f"use_separate_proj_weight is True but {name}_proj_weight is None")
    biases = (None, None, None) if bias is None else bias.chunk(3)
    return _in_projection(query, key, value, *weights, *biases)


def _grown(mask: Tensor | None) -> Tensor | None:
    """Return ``mask`` with one more source position, which is seen."""
    return None if mask is None else aten.pad(mask, (0, 1))


class _Heads:
    """Sizes of one attention call, and the steps that need them."""

    def __init__(self, query: Tensor, key: Tensor, embed_dim_to_check: int, num_heads: int) -> None:
        self.target_len, self.batch, self.embed_dim = query.shape
        self.source_len = key.shape[0]
        self.num_heads = num_heads
        if self.embed_dim != embed_dim_to_check:
            raise AssertionError(f"was expecting embedding dimension of {embed_dim_to_check}, but got {self.embed_dim}")
        self.head_dim = self.embed_dim // num_heads
        if self.head_dim * num_heads != self.embed_dim:
            raise AssertionError(f"embed_dim {self.embed_dim} not divisible by num_heads {num_heads}")

    def check_mask(self, mask: Tensor | None) -> Tensor | None:
        """Return the attention mask with a dimension for the heads."""
        if mask is None:
            return None
        rows = (self.target_len, self.source_len)
        expected = rows if mask.dim() == 2 else (self.batch * self.num_heads, *rows)
        if mask.shape != expected:
            raise RuntimeError(f"The shape of the {mask.dim()}D attn_mask is {mask.shape}, but should be {expected}.")
        return mask.unsqueeze(0) if mask.dim() == 2 else mask

    def split(self, x: Tensor) -> Tensor:
        """Map (T, N, E) to (N*heads, T, head_dim)."""
        return x.view(x.shape[0], self.batch * self.num_heads, self.head_dim).transpose(0, 1)

    def check_static(self, x: Tensor, name: str) -> Tensor:
        """Return a given key or value; AssertionError unless it is (N*heads, S, head_dim)."""
        if x.size(0) != self.batch * self.num_heads:
            raise AssertionError(f"expecting {name}.size(0) of {self.batch * self.num_heads}, but got {x.size(0)}")
        if x.size(2) != self.head_dim:
            raise AssertionError(f"expecting {name}.size(2) of {self.head_dim}, but got {x.size(2)}")
        return x

    def with_zeros(self, x: Tensor) -> Tensor:
        """Return key or value with one more position, of zeros."""
        zeros = mindtorch.zeros((self.batch * self.num_heads, 1, self.head_dim), dtype=x.dtype, device=x.device)
        return mindtorch.cat([x, zeros], dim=1)

    def merge_masks(self, mask: Tensor | None, padding: Tensor | None, source_len: int) -> Tensor | None:
        """Return both masks as one that broadcasts to (N*heads, L, S)."""
        if padding is None:
            return mask
        _check_key_padding_mask(padding, source_len, self.batch)
        padding = (
            padding.view(self.batch, 1, 1, source_len)
            .expand(-1, self.num_heads, -1, -1)
            .reshape(self.batch * self.num_heads, 1, source_len)
        )
        return padding if mask is None else mask + padding

    def attend_with_weights(
        self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout_p: float, is_causal: bool
    ) -> tuple[Tensor, Tensor]:
        """Return values (L*N, E) and the weights (N, heads, L, S)."""
        if is_causal and mask is None:
            raise AssertionError("FIXME: is_causal not implemented for need_weights")
        scaled = q * math.sqrt(1.0 / float(self.head_dim))
        if mask is not None:
            weights = mindtorch.baddbmm(mask, scaled, k.transpose(-2, -1))
        else:
            weights = mindtorch.bmm(scaled, k.transpose(-2, -1))
        weights = softmax(weights, dim=-1)
        if dropout_p > 0.0:
            weights = dropout(weights, p=dropout_p)
        output = mindtorch.bmm(weights, v).transpose(0, 1).reshape(self.target_len * self.batch, self.embed_dim)
        return output, weights.view(self.batch, self.num_heads, self.target_len, k.size(1))

    def attend(
        self, q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout_p: float, is_causal: bool
    ) -> tuple[Tensor, None]:
        """Return values (L*N, E) without making the weights."""
        if mask is not None:
            if mask.size(0) == 1 and mask.dim() == 3:
                mask = mask.unsqueeze(0)
            else:
                mask = mask.view(self.batch, self.num_heads, -1, k.size(1))
        q = q.view(self.batch, self.num_heads, self.target_len, self.head_dim)
        k = k.view(self.batch, self.num_heads, k.size(1), self.head_dim)
        v = v.view(self.batch, self.num_heads, v.size(1), self.head_dim)
        output = aten.scaled_dot_product_attention(q, k, v, mask, dropout_p, is_causal)
        output = output.permute(2, 0, 1, 3).reshape(self.batch * self.target_len, self.embed_dim)
        return output, None

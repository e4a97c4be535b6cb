"""Attention of `torch.nn.functional` in what this compiler compiles."""

from __future__ import annotations

import inspect
import math

import mindtorch as torch
from mindtorch import Tensor
from mindtorch.nn import functional as F


def _canonical_mask(
    mask: Tensor | None,
    mask_name: str,
    other_type: int | None,
    other_name: str,
    target_type: int,
    check_other: bool = True,
) -> Tensor | None:
    if mask is not None:
        is_float = torch.is_floating_point(mask)
        if mask.dtype != torch.bool and not is_float:
            raise AssertionError(f"only bool and floating types of {mask_name} are supported")
        if not is_float:
            # In compiled code dtypes are numbers.
            mask = torch.zeros_like(mask, dtype=target_type).masked_fill_(  # type: ignore[arg-type]
                mask, float("-inf")
            )
    return mask


def _none_or_dtype(input: Tensor | None) -> int | None:
    if input is None:
        return None
    return input.dtype  # type: ignore[return-value]


def _mha_shape_check(
    query: Tensor, key: Tensor, value: Tensor, key_padding_mask: Tensor | None, attn_mask: Tensor | None, num_heads: int
) -> bool:
    dims = query.dim()
    if dims not in (2, 3):
        raise AssertionError(f"query should be unbatched 2D or batched 3D tensor but received {dims}-D query tensor")
    if key.dim() != dims or value.dim() != dims:
        raise AssertionError(
            f"For {dims}-D `query`, expected `key` and `value` to be {dims}-D but found {key.dim()}-D and {value.dim()}-D "
            "tensors respectively"
        )
    if key_padding_mask is not None and key_padding_mask.dim() != dims - 1:
        raise AssertionError(
            f"For {dims}-D `query`, expected `key_padding_mask` to be `None` or {dims - 1}-D but found "
            f"{key_padding_mask.dim()}-D tensor instead"
        )
    if attn_mask is not None and attn_mask.dim() not in (2, 3):
        raise AssertionError(
            f"For {dims}-D `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found {attn_mask.dim()}-D tensor instead"
        )
    return dims == 3


def _attention_mask(mask: Tensor | None, batches: int, target_len: int, source_len: int) -> Tensor | None:
    """Return the mask with a dimension for the heads."""
    if mask is not None:
        if mask.dim() == 2:
            if mask.size() != [target_len, source_len]:
                raise RuntimeError(
                    f"The shape of the 2D attn_mask is {mask.size()}, but should be {(target_len, source_len)}."
                )
            mask = mask.unsqueeze(0)
        elif mask.size() != [batches, target_len, source_len]:
            raise RuntimeError(
                f"The shape of the 3D attn_mask is {mask.size()}, but should be {(batches, target_len, source_len)}."
            )
    return mask


def _grown(mask: Tensor | None) -> Tensor | None:
    if mask is not None:
        mask = torch._C._nn.pad(mask, [0, 1])
    return mask


def _split(x: Tensor, static: Tensor | None, batches: int, head_dim: int) -> Tensor:
    """Return what is given, or the heads of a tensor (T, N, E) as (N*heads, T, head_dim)."""
    if static is not None:
        return static
    return x.view(x.size(0), batches, head_dim).transpose(0, 1)


def _padded_mask(mask: Tensor | None, padding: Tensor | None, batch: int, num_heads: int, length: int) -> Tensor | None:
    """Return both masks as one."""
    if padding is not None:
        padding = padding.view(batch, 1, 1, length).expand(-1, num_heads, -1, -1).reshape(batch * num_heads, 1, length)
        if mask is None:
            mask = padding
        else:
            mask = mask + padding
    return mask


def _projected(
    query: Tensor, key: Tensor, value: Tensor, w_q: Tensor, w_k: Tensor, w_v: Tensor, bias: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    if bias is None:
        return torch._C._nn.linear(query, w_q), torch._C._nn.linear(key, w_k), torch._C._nn.linear(value, w_v)
    b_q, b_k, b_v = bias.chunk(3)
    return (
        torch._C._nn.linear(query, w_q, b_q),
        torch._C._nn.linear(key, w_k, b_k),
        torch._C._nn.linear(value, w_v, b_v),
    )


def _packed(
    query: Tensor, key: Tensor, value: Tensor, weight: Tensor | None, bias: Tensor | None
) -> tuple[Tensor, Tensor, Tensor]:
    assert key.size() == value.size(), f"key shape {key.size()} does not match value shape {value.size()}"
    assert weight is not None, "use_separate_proj_weight is False but in_proj_weight is None"
    w_q, w_k, w_v = weight.chunk(3)
    return _projected(query, key, value, w_q, w_k, w_v, bias)


def _apart(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    w_q: Tensor | None,
    w_k: Tensor | None,
    w_v: Tensor | None,
    bias: Tensor | None,
) -> tuple[Tensor, Tensor, Tensor]:
    assert w_q is not None, "use_separate_proj_weight is True but q_proj_weight is None"
    assert w_k is not None, "use_separate_proj_weight is True but k_proj_weight is None"
    assert w_v is not None, "use_separate_proj_weight is True but v_proj_weight is None"
    return _projected(query, key, value, w_q, w_k, w_v, bias)


def _causal_mask(
    attn_mask: Tensor | None, is_causal: bool, padding: Tensor | None, need_weights: bool, query: Tensor
) -> tuple[Tensor | None, bool]:
    """Return the mask as numbers and the causal hint, of which one may make the other superfluous."""
    if is_causal and attn_mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
            "`generate_square_subsequent_mask` to create this mask."
        )
    if is_causal and padding is None and not need_weights:
        return None, True
    mask = F._canonical_mask(attn_mask, "attn_mask", None, "", query.dtype, False)
    return mask, is_causal and padding is None


def _attended(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout_p: float, is_causal: bool, batch: int, num_heads: int
) -> Tensor:
    """Return values (L*N, E) without making the weights."""
    if mask is not None:
        if mask.size(0) == 1 and mask.dim() == 3:
            mask = mask.unsqueeze(0)
        else:
            mask = mask.view(batch, num_heads, -1, k.size(1))
    target_len, head_dim = q.size(1), q.size(2)
    q = q.view(batch, num_heads, target_len, head_dim)
    k = k.view(batch, num_heads, k.size(1), head_dim)
    v = v.view(batch, num_heads, v.size(1), head_dim)
    output = torch._C._nn.scaled_dot_product_attention(q, k, v, mask, dropout_p, is_causal)
    return output.permute(2, 0, 1, 3).reshape(batch * target_len, num_heads * head_dim)


def _attended_by_weights(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout_p: float, batch: int, num_heads: int
) -> tuple[Tensor, Tensor]:
    """Return values (L*N, E) and the weights (N, heads, L, S)."""
    target_len, head_dim = q.size(1), q.size(2)
    scaled = q * math.sqrt(1.0 / float(head_dim))
    if mask is not None:
        weights = torch.baddbmm(mask, scaled, k.transpose(-2, -1))
    else:
        weights = torch.bmm(scaled, k.transpose(-2, -1))
    weights = torch.softmax(weights, -1)
    if dropout_p > 0.0:
        weights = torch.dropout(weights, dropout_p, True)
    output = torch.bmm(weights, v).transpose(0, 1).reshape(target_len * batch, num_heads * head_dim)
    return output, weights.view(batch, num_heads, target_len, k.size(1))


def _values(
    q: Tensor, k: Tensor, v: Tensor, mask: Tensor | None, dropout_p: float, is_causal: bool, batch: int, num_heads: int,
    need_weights: bool,
) -> tuple[Tensor, Tensor | None]:  # fmt: skip
    """Return values (L*N, E), and the weights where they are needed."""
    if need_weights:
        assert not (is_causal and mask is None), "FIXME: is_causal not implemented for need_weights"
        return _attended_by_weights(q, k, v, mask, dropout_p, batch, num_heads)
    return _attended(q, k, v, mask, dropout_p, is_causal, batch, num_heads), None


def multi_head_attention_forward(
    query: Tensor, key: Tensor, value: Tensor, embed_dim_to_check: int, num_heads: int, in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None, bias_k: Tensor | None, bias_v: Tensor | None, add_zero_attn: bool, dropout_p: float,
    out_proj_weight: Tensor, out_proj_bias: Tensor | None, training: bool = True, key_padding_mask: Tensor | None = None,
    need_weights: bool = True, attn_mask: Tensor | None = None, use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None, k_proj_weight: Tensor | None = None, v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None, static_v: Tensor | None = None, average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:  # fmt: skip
    """Values that queries attend to, and the weights."""
    is_batched = F._mha_shape_check(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not is_batched:
        query, key, value = query.unsqueeze(1), key.unsqueeze(1), value.unsqueeze(1)
        if key_padding_mask is not None:
            key_padding_mask = key_padding_mask.unsqueeze(0)
    target_len, batch, embed_dim = query.size(0), query.size(1), query.size(2)
    batches = batch * num_heads
    kind = F._none_or_dtype(attn_mask)
    padding = F._canonical_mask(key_padding_mask, "key_padding_mask", kind, "attn_mask", query.dtype)
    mask, is_causal = _causal_mask(attn_mask, is_causal, padding, need_weights, query)
    assert embed_dim == embed_dim_to_check, (
        f"was expecting embedding dimension of {embed_dim_to_check}, but got {embed_dim}"
    )
    head_dim = embed_dim // num_heads
    assert head_dim * num_heads == embed_dim, f"embed_dim {embed_dim} not divisible by num_heads {num_heads}"
    if use_separate_proj_weight:
        q, k, v = _apart(query, key, value, q_proj_weight, k_proj_weight, v_proj_weight, in_proj_bias)
    else:
        q, k, v = _packed(query, key, value, in_proj_weight, in_proj_bias)
    mask = _attention_mask(mask, batches, target_len, key.size(0))
    if bias_k is not None and bias_v is not None:
        k = torch.cat([k, bias_k.repeat(1, batch, 1)])
        v = torch.cat([v, bias_v.repeat(1, batch, 1)])
        mask, padding = _grown(mask), _grown(padding)
    q, k, v = (
        _split(q, None, batches, head_dim),
        _split(k, static_k, batches, head_dim),
        _split(v, static_v, batches, head_dim),
    )
    if add_zero_attn:
        zeros = torch.zeros(batches, 1, head_dim, dtype=k.dtype, device=k.device)
        k, v = torch.cat([k, zeros], 1), torch.cat([v, zeros], 1)
        mask, padding = _grown(mask), _grown(padding)
    mask = _padded_mask(mask, padding, batch, num_heads, k.size(1))
    if not training:
        dropout_p = 0.0
    output, weights = _values(q, k, v, mask, dropout_p, is_causal, batch, num_heads, need_weights)
    if weights is not None:
        if average_attn_weights:
            weights = weights.mean(dim=1)
        if not is_batched:
            weights = weights.squeeze(0)
    output = torch._C._nn.linear(output, out_proj_weight, out_proj_bias)
    output = output.view(target_len, batch, output.size(1))
    if not is_batched:
        output = output.squeeze(1)
    return output, weights


DEFINED = {name: one for name, one in dict(globals()).items() if inspect.isfunction(one)}
"""The definitions by the names of the functions."""
for _one in DEFINED.values():
    _one.__module__ = "torch.nn.functional"

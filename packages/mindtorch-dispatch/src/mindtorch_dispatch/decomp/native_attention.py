"""The attention and the encoder layer of inference, which take packed projections: `torch._native_multi_head_attention`."""

from __future__ import annotations

import math
from typing import Any

from mindtorch_storage.dtype import bool as boolean

from ..call import aten
from ..meta.checks import check
from ..typing import Tensor


def transform_bias_rescale_qkv(qkv: Tensor, qkv_bias: Tensor, num_heads: int) -> tuple[Any, Any, Any]:
    """Queries divided by the root of a head's width, keys and values of all heads, from a product of packed weights."""
    if qkv.dim() < 3:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-qkv.dim()}, {qkv.dim() - 1}], but got 2)"
        )
    batch, length, width = qkv.shape
    width //= 3
    if width % num_heads:
        raise RuntimeError(
            "Expected D % num_head == 0 to be true, but got false.  (Could this error message be improved?  If so, please "
            "report an enhancement request to PyTorch.)"
        )
    head = width // num_heads
    parts = aten.permute(aten.reshape(aten.add(qkv, qkv_bias), [batch, length, 3, num_heads, head]), [2, 0, 3, 1, 4])
    packed = aten.contiguous(parts)
    aten.div_(aten.select(packed, 0, 0), math.sqrt(head))
    query, key, value = aten.unbind(packed)
    return query, key, value


def _check_dimensions(name: str, tensor: Tensor) -> None:
    check(tensor.dim() == 3, lambda: f"expected 3-D `{name}`, got {tensor.dim()}-D tensor")


def _check(query: Any, key: Any, value: Any, width: int, heads: int, weight: Any, bias: Any) -> None:
    _check_dimensions("query", query)
    last = query.shape[2]
    check(last == width, lambda: f"passed-in embed_dim {width} didn't match last dim of query {last}")
    _check_dimensions("key", key)
    _check_dimensions("value", value)
    check(query.shape == key.shape == value.shape, lambda: "expected `query`/`key`/`value` shapes to match")
    check(weight.dim() == 2, lambda: f"expected 2-D `qkv_weight`, got {weight.dim()}-D tensor")
    check(width * 3 == weight.shape[0], lambda: "expected `qkv_weight` first dim to be 3x embed_dim")
    check(width == weight.shape[1], lambda: "expected `qkv_weight` second dim to be embed_Dim")
    check(bias.dim() == 1, lambda: f"expected 1-D `qkv_bias`, got {bias.dim()}-D tensor")
    check(bias.shape[0] == 3 * width, lambda: "expected `qkv_bias` first dim and first dim of query to be equal")
    check(width % heads == 0, lambda: "`embed_dim` must divide evenly by `num_heads`")


def _projected(query: Any, key: Any, value: Any, weight: Any, bias: Any, heads: int) -> tuple[Any, Any, Any]:
    """Return the queries, keys and values of all heads."""
    if query is key and key is value:
        packed = aten.matmul(query, aten.t(weight))
    else:
        parts = zip((query, key, value), aten.chunk(weight, 3), strict=True)
        packed = aten.cat([aten.matmul(one, aten.t(part)) for one, part in parts], 2)
    return transform_bias_rescale_qkv(packed, bias, heads)


def native_multi_head_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim: int,
    num_head: int,
    qkv_weight: Tensor,
    qkv_bias: Tensor,
    proj_weight: Tensor,
    proj_bias: Tensor,
    mask: Tensor | None = None,
    need_weights: bool = True,
    average_attn_weights: bool = True,
    mask_type: int | None = None,
) -> tuple[Any, Any]:
    """Attended values after the last projection, and the weights (of all heads, or their mean) or None."""
    _check(query, key, value, embed_dim, num_head, qkv_weight, qkv_bias)
    if query.numel() == 0:
        return aten.empty_like(query), None
    queries, keys, values = _projected(query, key, value, qkv_weight, qkv_bias, num_head)
    if mask is None and not need_weights:
        weights, attended = None, aten.scaled_dot_product_attention(queries, keys, values, scale=1.0)
    else:
        scores = aten.matmul(queries, aten.transpose(keys, 2, 3))
        weights = aten.softmax(scores, 3) if mask is None else _masked(scores, mask, mask_type)
        attended = aten.matmul(weights, values)
    joined = aten.reshape(aten.transpose(attended, 1, 2), list(query.shape))
    result = aten.linear(joined, proj_weight, proj_bias)
    if not need_weights:
        return result, None
    return result, aten.mean(weights, [1]) if average_attn_weights else weights


def _masked(scores: Tensor, mask: Tensor, mask_type: int | None) -> Any:
    return aten._masked_softmax(scores, mask if mask.dtype is boolean else mask.to(boolean), 3, mask_type)


def transformer_encoder_layer_fwd(
    src: Tensor,
    embed_dim: int,
    num_heads: int,
    qkv_weight: Tensor,
    qkv_bias: Tensor,
    proj_weight: Tensor,
    proj_bias: Tensor,
    use_gelu: bool,
    norm_first: bool,
    eps: float,
    norm_weight_1: Tensor,
    norm_bias_1: Tensor,
    norm_weight_2: Tensor,
    norm_bias_2: Tensor,
    ffn_weight_1: Tensor,
    ffn_bias_1: Tensor,
    ffn_weight_2: Tensor,
    ffn_bias_2: Tensor,
    mask: Tensor | None = None,
    mask_type: int | None = None,
) -> Any:
    """One encoder layer: attention and a network of two layers, each with a residual and a norm after or before it."""
    if src.numel() == 0:
        return aten.clone(src)

    def attend(x: Any) -> Any:
        packed = (embed_dim, num_heads, qkv_weight, qkv_bias, proj_weight, proj_bias, mask, False, True, mask_type)
        return native_multi_head_attention(x, x, x, *packed)[0]

    def feed(x: Any) -> Any:
        hidden = aten.linear(x, ffn_weight_1, ffn_bias_1)
        return aten.linear(aten.gelu(hidden) if use_gelu else aten.relu(hidden), ffn_weight_2, ffn_bias_2)

    def norm(x: Any, weight: Tensor, bias: Tensor) -> Any:
        return aten.layer_norm(x, [embed_dim], weight, bias, eps)

    first, second = (norm_weight_1, norm_bias_1), (norm_weight_2, norm_bias_2)
    if norm_first:
        x = aten.add(src, attend(norm(src, *first)))
        return aten.add(x, feed(norm(x, *second)))
    x = norm(aten.add(src, attend(src)), *first)
    return norm(aten.add(x, feed(x)), *second)

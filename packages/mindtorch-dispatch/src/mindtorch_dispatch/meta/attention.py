"""Meta rules of attention."""

from __future__ import annotations

from collections.abc import Sequence

from mindtorch_storage.dtype import float32
from mindtorch_storage.spec import Spec
from mindtorch_storage.strides import preserved_strides

from .checks import check
from .rule import meta_rule


def _like(spec: Spec, shape: Sequence[int] | None = None) -> Spec:
    shape = tuple(spec.shape if shape is None else shape)
    return Spec.of(spec.dtype, spec.device, shape, tuple(preserved_strides(shape, spec.stride)))


@meta_rule()
def flash(
    query: Spec,
    key: Spec,
    value: Spec,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    attn_mask: Spec | None = None,
    scale: float | None = None,
) -> tuple[Spec, Spec]:
    """`_scaled_dot_product_flash_attention_for_cpu`: the result, laid out as the query, and the log of the row sums."""
    check(
        query.dtype.is_floating_point,
        lambda: (
            "scaled_dot_product_attention_flash_attention: Expected data type in FP32, FP64, BF16, FP16, but got "
            f"{query.dtype.scalar_name} instead."
        ),
    )
    check(
        query.ndim == 4 and key.ndim == 4 and value.ndim == 4,
        lambda: "scaled_dot_product_attention_flash_attention: Accept only 4 dims inputs shape of {B, H, T, K}",
    )
    check(
        dropout_p == 0.0,
        lambda: "scaled_dot_product_attention_flash_attention: Currently do not support dropout > 0",
    )
    check(
        query.shape[3] == value.shape[3] and key.shape[3] == value.shape[3],
        lambda: "scaled_dot_product_attention_flash_attention: Q/K/V should have the same head size",
    )
    batch, heads, rows, _ = query.shape
    dtype = query.dtype if query.dtype.name == "float64" else float32
    sums = Spec.of(dtype, query.device, (batch, heads, rows), (rows * heads, 1, heads))
    return _like(query), sums


@meta_rule()
def flash_backward(
    grad_out: Spec,
    query: Spec,
    key: Spec,
    value: Spec,
    out: Spec,
    logsumexp: Spec,
    dropout_p: float,
    is_causal: bool,
    attn_mask: Spec | None = None,
    scale: float | None = None,
) -> tuple[Spec, Spec, Spec]:
    """`_scaled_dot_product_flash_attention_for_cpu_backward`: gradients of query, key and value."""
    return _like(query), _like(key), _like(value)

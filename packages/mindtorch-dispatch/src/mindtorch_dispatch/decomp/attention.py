"""Attention: which kernel torch takes on CPU, and the composition it takes otherwise."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from mindtorch_storage.dtype import bool as bool_dtype
from mindtorch_storage.dtype import dtype as Dtype
from mindtorch_storage.dtype import float32
from mindtorch_storage.tensor_base import TensorBase

from ..call import aten
from ..errors import missing_registration
from ..extend import devices
from ..meta.checks import c_type, check, wrap_dim
from ..table.rows import packets
from ..typing import Tensor
from .npu import npu

MATH, FLASH = 0, 1


@dataclass(slots=True)
class Choice:
    """Which implementations `scaled_dot_product_attention` may take (`torch.nn.attention.sdpa_kernel`)."""

    math: bool = True
    flash: bool = True


choice = Choice()


def _check_inputs(query: Any, key: Any, value: Any, mask: Any) -> None:
    dtypes = (query.dtype, key.dtype, value.dtype)
    check(
        dtypes[0] is dtypes[1] and dtypes[0] is dtypes[2],
        lambda: (
            "Expected query, key, and value to have the same dtype, but got query.dtype: "
            f"{c_type(dtypes[0])} key.dtype: {c_type(dtypes[1])} and value.dtype: {c_type(dtypes[2])} instead."
        ),
    )
    dims = (len(query.shape), len(key.shape), len(value.shape))
    check(
        min(dims) >= 2,
        lambda: (
            "Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: "
            f"{dims[0]} key.dim: {dims[1]} and value.dim: {dims[2]} instead."
        ),
    )
    check(
        mask is None or mask.dtype in (bool_dtype, float32, dtypes[0]),
        lambda: (
            "Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: "
            f"{c_type(mask.dtype)} and  query.dtype: {c_type(dtypes[0])} instead."
        ),
    )


def _mask_fits(query: TensorBase, key: Any, mask: Tensor | None) -> bool:
    if mask is None:
        return True
    if mask._sig.requires_grad:
        return False
    batch, heads, rows, _ = query.shape
    shape = tuple(mask.shape)
    if len(shape) not in (2, 4) or shape[-2] not in (1, rows) or shape[-1] not in (1, key.shape[2]):
        return False
    return len(shape) == 2 or (shape[0] in (1, batch) and shape[1] in (1, heads))


def takes_flash(
    query: TensorBase, key: Any, value: Any, mask: Tensor | None, dropout_p: float, enable_gqa: bool
) -> bool:
    """True when torch takes its fused CPU kernel for these inputs."""
    specs = [tensor._sig.spec for tensor in (query, key, value)]
    kind = specs[0].device.type
    if kind not in ("cpu", "meta"):
        own = devices.attention.get(kind)
        if own is None or not own(*specs, None if mask is None else mask._sig.spec):
            return False
    if not choice.flash or dropout_p > 0.0 or any(spec.ndim != 4 for spec in specs):
        return False
    q, k, v = (tuple(spec.shape) for spec in specs)
    if not (q[0] == k[0] == v[0] and q[3] == k[3] == v[3]) or 0 in (q[2], k[2], v[2]):
        return False
    if enable_gqa:
        if k[1] == 0 or v[1] != k[1] or q[1] % k[1]:
            return False
    elif not q[1] == k[1] == v[1]:
        return False
    if any(spec.stride[3] != 1 for spec in specs) or not specs[0].dtype.is_floating_point:
        return False
    return _mask_fits(query, key, mask)


def fused_choice(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None,
    dropout_p: float,
    is_causal: bool,
    scale: float | None,
    enable_gqa: bool,
) -> int:
    """`_fused_sdp_choice`: the number of the implementation that takes the call: FLASH where it can."""
    check(
        choice.math or choice.flash,
        lambda: (
            "No viable backend for scaled_dot_product_attention was found. This is likely due to turning off both the math "
            "kernel and the fused kernels."
        ),
    )
    if takes_flash(query, key, value, attn_mask, dropout_p, enable_gqa):
        return FLASH
    check(choice.math, lambda: "No available kernel.  Aborting execution.")
    return MATH


def _additive(mask: Tensor | None, dtype: Dtype) -> Any:
    """Return a bool mask as numbers to add to the scores."""
    if mask is None or mask.dtype is not bool_dtype:
        return mask
    return aten.masked_fill(aten.zeros_like(mask, dtype=dtype), aten.logical_not(mask), -math.inf)


def _check_products(query: TensorBase, key: Any, value: Any, enable_gqa: bool) -> None:
    """Raise what the products of operands without elements raise: they are not computed."""
    made = [aten.empty(list(one.shape), dtype=one.dtype, device="meta") for one in (query, key, value)]
    if enable_gqa:
        made[1:] = _repeated_heads(*made)
    aten.matmul(aten.matmul(made[0], aten.transpose(made[1], -2, -1)), made[2])


def scaled_dot_product_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None,
    dropout_p: float,
    is_causal: bool,
    scale: float | None,
    enable_gqa: bool,
) -> Any:
    """`softmax(query @ key.T * scale + mask) @ value`."""
    _check_inputs(query, key, value, attn_mask)
    if 0 in (query._sig.spec.numel, key._sig.spec.numel, value._sig.spec.numel):
        _check_products(query, key, value, enable_gqa)
        total = aten.add(aten.add(aten.sum(query), aten.sum(key)), aten.sum(value))
        zeros = aten.zeros((*query.shape[:-1], value.shape[-1]), dtype=query.dtype, device=query.device)
        return aten.add(zeros, aten.mul.Scalar(total, 0.0))
    flash = fused_choice(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa) == FLASH
    passed_on = flash and query.device.type in devices.attention
    mask = attn_mask if passed_on else _additive(attn_mask, query.dtype)
    if flash:
        return aten._scaled_dot_product_flash_attention_for_cpu(
            query, key, value, dropout_p, is_causal, attn_mask=mask, scale=scale
        )[0]
    if not (is_causal and mask is not None) and _drops_in_one(query, key, value, attn_mask, dropout_p, enable_gqa):
        return _dropped(query, key, value, attn_mask, dropout_p, is_causal, scale)
    return attention_math(query, key, value, mask, dropout_p, is_causal, None, scale, enable_gqa)[0]


def _drops_in_one(
    query: TensorBase, key: Any, value: Any, mask: Tensor | None, dropout_p: float, enable_gqa: bool
) -> bool:
    """Return whether the device's fused attention drops weights as well."""
    kind = query._sig.spec.device.type
    if kind not in devices.in_one_kernel or "dropout" not in devices.in_one_kernel[kind] or not 0 < dropout_p < 1:
        return False
    fixed = mask is None or not mask.requires_grad
    return fixed and takes_flash(query, key, value, mask, 0.0, enable_gqa)


def _dropped(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, dropout_p: float, is_causal: bool,
    scale: float | None,
) -> Any:  # fmt: skip
    """Return attention with dropout of a device that has both in one kernel; it adds to the scores before it scales."""
    rows, columns = query.shape[-2], key.shape[-2]
    factor = 1.0 / math.sqrt(query.shape[-1]) if scale is None else scale
    hidden, added = None, None
    if is_causal:
        hidden = aten.triu(aten.ones((rows, columns), dtype=bool_dtype, device=query.device), 1)
    elif mask is not None and mask.dtype is bool_dtype:
        hidden = aten.logical_not(mask)
    elif mask is not None:
        added = aten.expand(mask, [*((1, query.shape[1]) if mask.dim() == 2 else mask.shape[:2]), rows, columns])
        query, factor = aten.mul.Scalar(query, factor), 1.0
    kept = npu._npu_dropout_mask(query, math.prod(query.shape[:3]) * columns, dropout_p)
    return npu._npu_attention(query, key, value, added, hidden, kept, factor, 1.0 - dropout_p)[0]


def _causal_mask(query: TensorBase, key: Any, mask: Tensor | None) -> Any:
    check(
        mask is None,
        lambda: "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True",
    )
    ones = aten.ones((query.shape[-2], key.shape[-2]), dtype=bool_dtype, device=query.device)
    return _additive(aten.tril(ones), query.dtype)


def _repeated_heads(query: TensorBase, key: Any, value: Any) -> tuple[Any, Any]:
    heads, key_heads, value_heads = (one.shape[wrap_dim(-3, len(one.shape))] for one in (query, key, value))
    check(
        0 not in (key_heads, value_heads) and heads % key_heads == 0 and heads % value_heads == 0,
        lambda: "Number of heads in key and value must divide the number of heads in ",
    )
    return (
        key if key_heads == heads else aten.repeat_interleave(key, heads // key_heads, -3),
        value if value_heads == heads else aten.repeat_interleave(value, heads // value_heads, -3),
    )


def attention_math(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None,
    dropout_p: float,
    is_causal: bool,
    dropout_mask: Tensor | None,
    scale: float | None,
    enable_gqa: bool,
) -> tuple[Any, Any]:
    """`_scaled_dot_product_attention_math`: attention of other ops; its result and the weights."""
    dtype = query.dtype
    if dtype.name in ("float16", "bfloat16"):
        query, key, value = (aten._to_copy(tensor, dtype=float32) for tensor in (query, key, value))
    if is_causal:
        attn_mask = _causal_mask(query, key, attn_mask)
    attn_mask = _additive(attn_mask, query.dtype)
    factor = 1.0 / math.sqrt(query.shape[-1]) if scale is None else abs(scale)
    root = math.sqrt(factor)
    negative = scale is not None and scale < 0.0
    if enable_gqa:
        key, value = _repeated_heads(query, key, value)
    scaled = aten.mul.Scalar(query, -root if negative else root)
    weights = aten.matmul(scaled, aten.mul.Scalar(aten.transpose(key, -2, -1), root))
    if attn_mask is not None:
        weights = aten.add_(weights, attn_mask)
    weights = aten._safe_softmax(weights, -1)
    if dropout_p > 0.0:
        if dropout_mask is not None:
            weights = aten.masked_fill(weights, aten.logical_not(dropout_mask), 0.0)
            value = aten.mul.Scalar(value, 1.0 / (1 - dropout_p))
        else:
            weights = aten.dropout(weights, dropout_p, True)
    result = aten.matmul(weights, value)
    if result.dtype is dtype:
        return result, weights
    return aten._to_copy(result, dtype=dtype), aten._to_copy(weights, dtype=dtype)


def accelerator_only(name: str) -> Callable[..., Any]:
    """Return a function for an op that only accelerators of torch have: it raises as torch does on the CPU."""

    def refuse(query: Tensor, *args: object, **kwargs: object) -> NoReturn:
        raise missing_registration(packets[name].rows[0], [query], query.device)

    return refuse

"""Attention in one launch, where the chip has it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch_dispatch.extend import devices
from mindtorch_npu.backend import algebra as on
from mindtorch_npu.backend.arrays import DeviceArray
from mindtorch_npu.backend.binding import launch
from mindtorch_npu.backend.ops.lists import FLOATS, available, exists
from mindtorch_npu.backend.ops.random import draw
from mindtorch_npu.backend.register import written
from mindtorch_storage.spec import Spec

FORWARD, BACKWARD = "aclnnFlashAttentionScore", "aclnnFlashAttentionScoreGrad"
INFERENCE = "aclnnFusedInferAttentionScoreV3"
EVERY = 2**31 - 1
"""So many tokens before and after are seen: all."""
WIDEST, WIDEST_OF_INFERENCE = 768, 512
LANES = 8
"""How often the operator writes each row's largest score and sum, side by side."""
_FLOAT32 = np.dtype(np.float32)


def takes(query: Spec, key: Spec, value: Spec, mask: Spec | None) -> bool:
    """Return whether the chip's fused attention takes tensors of these specs; a mask that is added is of their type."""
    if query.np_dtype.name not in FLOATS or query.shape[-1] > WIDEST:
        return False
    return (mask is None or mask.np_dtype.kind == "b" or mask.np_dtype == query.np_dtype) and available(FORWARD)


def _hidden(query: DeviceArray, key: DeviceArray, mask: DeviceArray | None, causal: bool) -> DeviceArray | None:
    """Return what the operator leaves out: one where a row must not see a column."""
    rows, columns = query.shape[2], key.shape[2]
    if mask is not None and mask.dtype.kind != "b":
        return None
    if mask is not None:
        hidden = on.each("LogicalNot", mask)
        shape = (rows, columns) if mask.ndim == 2 else (*mask.shape[:2], rows, columns)
        return on.expanded(hidden, shape).packed()
    if not causal:
        return None
    return on.each("Triu", on.filled(query, True, (rows, columns), on.BOOL), 1)


def _added(query: DeviceArray, key: DeviceArray, mask: Any) -> DeviceArray | None:
    """Return what the operator adds to the scores before it scales them."""
    if mask is None or mask.dtype.kind == "b":
        return None
    lead = mask.shape[0] if mask.ndim == 4 else 1
    return on.expanded(mask, (lead, query.shape[1], query.shape[2], key.shape[2])).packed()


def _factor(query: DeviceArray, scale: float | None) -> float:
    return 1.0 / math.sqrt(query.shape[3]) if scale is None else scale


def _how(query: DeviceArray, factor: float) -> list[Any]:
    return [None, factor, 1.0, EVERY, EVERY, query.shape[1], "BNSD", 0, 0]


def _attention(
    outs: Sequence[DeviceArray],
    query: DeviceArray,
    key: DeviceArray,
    value: DeviceArray,
    dropout_p: float,
    is_causal: bool,
    mask: DeviceArray | None,
    scale: float | None,
) -> None:
    out, logsumexp = outs
    q, k, v = query.packed(), key.packed(), value.packed()
    batch, heads, rows, _ = q.shape
    factor, added = _factor(q, scale), _added(q, k, mask)
    if added is not None:  # it would be scaled, too: the query is, instead
        q, factor = on.mul(q, factor), 1.0
    made = on.filled(q, 0)
    largest, sums = (on.filled(q, 0, (batch, heads, rows, LANES), _FLOAT32) for _ in range(2))
    hidden = _hidden(q, k, mask, is_causal)
    launch(FORWARD, [q, k, v, added, None, None, hidden, *_how(q, factor), largest, sums, on.filled(q, 0, (0,)), made])
    on.copied(out, made)
    total = on.add(on.each("Log", on.cut(sums, 3, 0, 1)), on.cut(largest, 3, 0, 1))
    on.copied(logsumexp, on.reshaped(total, (batch, heads, rows)))


def _backward(
    outs: Sequence[DeviceArray],
    grad: DeviceArray,
    query: DeviceArray,
    key: DeviceArray,
    value: DeviceArray,
    out: DeviceArray,
    logsumexp: DeviceArray,
    dropout_p: float,
    is_causal: bool,
    mask: DeviceArray | None,
    scale: float | None,
) -> None:
    q, k, v, g, y = (one.packed() for one in (query, key, value, grad, out))
    batch, heads, rows, _ = q.shape
    # exp(score - largest) / sum is exp(score - logsumexp): the one saved number stands for both.
    shape = (batch, heads, rows, LANES)
    largest = on.expanded(on.reshaped(logsumexp, (batch, heads, rows, 1)), shape).packed()
    sums = on.filled(q, 1, shape, _FLOAT32)
    made = [on.filled(one, 0) for one in (q, k, v)]
    hidden = _hidden(q, k, mask, is_causal)
    factor, added = _factor(q, scale), _added(q, k, mask)
    if added is not None:
        q = on.mul(q, factor)
    given = [q, k, v, g, added, None, None, hidden, largest, sums, None, y]
    launch(BACKWARD, [*given, *_how(q, factor if added is None else 1.0), *made, on.filled(q, 0, (0,))])
    if added is not None:
        made[0] = on.mul(made[0], factor)
    for target, one in zip(outs, made, strict=True):
        on.copied(target, one)


def _given(
    query: DeviceArray, key: DeviceArray, pse: DeviceArray | None, hidden: DeviceArray | None
) -> tuple[DeviceArray | None, DeviceArray | None]:
    """Return what is added to the scores and what is hidden, as the operator takes them: of rank 4, or 2 for a mask."""
    rows, columns = query.shape[2], key.shape[2]
    if hidden is not None:
        lead = hidden.shape[:-2] if hidden.ndim == 4 else ()
        hidden = on.expanded(hidden, (*lead, rows, columns)).packed()
    return _added(query, key, pse), hidden


def _fusion(
    outs: Sequence[DeviceArray], query: DeviceArray, key: DeviceArray, value: DeviceArray, pse: DeviceArray | None,
    hidden: DeviceArray | None, kept: DeviceArray | None, scale: float, keep: float,
) -> None:  # fmt: skip
    q, k, v = query.packed(), key.packed(), value.packed()
    out, largest, sums = outs
    added, left_out = _given(q, k, pse, hidden)
    how = [None, float(scale), float(keep), EVERY, EVERY, q.shape[1], "BNSD", 0, 0]
    launch(FORWARD, [q, k, v, added, kept, None, left_out, *how, largest, sums, on.filled(q, 0, (0,)), out])


def _fusion_backward(
    outs: Sequence[DeviceArray], grad: DeviceArray, query: DeviceArray, key: DeviceArray, value: DeviceArray,
    pse: DeviceArray | None, hidden: DeviceArray | None, kept: DeviceArray | None, largest: DeviceArray,
    sums: DeviceArray, out: DeviceArray, scale: float, keep: float,
) -> None:  # fmt: skip
    q, k, v, g, y = (one.packed() for one in (query, key, value, grad, out))
    added, left_out = _given(q, k, pse, hidden)
    how = [None, float(scale), float(keep), EVERY, EVERY, q.shape[1], "BNSD", 0, 0]
    given = [q, k, v, g, added, kept, None, left_out, largest.packed(), sums.packed(), None, y]
    launch(BACKWARD, [*given, *how, *outs, on.filled(q, 0, (0,))])


def _takes_fusion(name: str, query: Any, key: Any, value: Any, pse: Any, hidden: Any, *rest: object) -> bool:
    """Return whether the operator computes attention of these: of one type, with masks of ranks that it takes."""
    first = query._sig.spec
    alike = all(one._sig.spec.np_dtype == first.np_dtype for one in (key, value, *([] if pse is None else [pse])))
    if not alike or first.np_dtype.name not in FLOATS or first.shape[-1] != value._sig.spec.shape[-1]:
        return False
    if first.shape[-1] > WIDEST or 0 in first.shape or 0 in key._sig.spec.shape:
        return False
    kinds = hidden is None or (hidden._sig.spec.ndim in (2, 4) and hidden._sig.spec.np_dtype.name in ("bool", "uint8"))
    return kinds and (pse is None or pse._sig.spec.ndim == 4) and available(name)


def _inference(
    outs: Sequence[DeviceArray], query: DeviceArray, key: DeviceArray, value: DeviceArray, pse: DeviceArray | None,
    mask: DeviceArray | None, lengths: Sequence[int] | None, key_lengths: Sequence[int] | None,
    table: DeviceArray | None, heads: int, key_heads: int, scale: float, before: int, after: int, layout: str, mode: int,
    block_size: int, logsumexp: bool,
) -> None:  # fmt: skip
    q, k, v = query.packed(), key.packed(), value.packed()
    added, left_out = (None if one is None else one.packed() for one in (pse, mask))
    pages = None if table is None else table.packed()
    ends = [None if one is None else list(one) for one in (lengths, key_lengths)]
    nothing: list[Any] = [None] * 7
    how = [heads, float(scale), before, after, layout, key_heads, mode, 0, block_size, 0, logsumexp, 0, 0]
    given = [q, [k], [v], added, left_out, *ends, *nothing, pages, *[None] * 9, *[None] * 3, *how]
    launch(INFERENCE, [*given, *outs])


def _takes_inference(query: Any, key: Any, value: Any, pse: Any, mask: Any, *rest: Any) -> bool:
    """Return whether the operator computes attention of these: halves of one type and width."""
    kinds = [one._sig.spec for one in (query, key, value)]
    if {spec.np_dtype.name for spec in kinds} not in ({"float16"}, {"bfloat16"}) or 0 in kinds[0].shape:
        return False
    heads, key_heads, layout, mode = rest[3], rest[4], rest[8], rest[9]
    width = kinds[0].shape[-1] // (heads if layout == "BSH" else 1)
    alike = kinds[1].shape == kinds[2].shape and width <= WIDEST_OF_INFERENCE and heads % key_heads == 0
    return alike and (mode == 0 or mask is not None) and available(INFERENCE)


def _mask_bits(
    out: DeviceArray, like: DeviceArray, numels: int, p: float, seed: int | None, offset: int | None, generator: object
) -> None:
    drawn = draw(out, generator, count=numels) if seed is None else (seed, offset or 0)
    launch("aclnnDropoutGenMask", [[numels], float(p), *drawn, out])


written("npu::_npu_dropout_mask", "DropoutGenMask", _mask_bits, lambda *values: exists("aclnnDropoutGenMask"))
written("npu::_npu_attention", "FlashAttentionScore", _fusion, lambda *values: _takes_fusion(FORWARD, *values))
written("npu::_npu_infer_attention", "FusedInferAttentionScoreV3", _inference, _takes_inference)
written(
    "npu::_npu_attention_backward",
    "FlashAttentionScoreGrad",
    _fusion_backward,
    lambda grad, *values: _takes_fusion(BACKWARD, *values),
)
written("_scaled_dot_product_flash_attention_for_cpu", "FlashAttentionScore", _attention)
written("_scaled_dot_product_flash_attention_for_cpu_backward", "FlashAttentionScoreGrad", _backward)
devices.attention["npu"] = takes

"""Fused attention, layout BNSD."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch_npu.simulator.kernels import kernel
from mindtorch_npu.simulator.typing import Array

LAYOUT = "BNSD"


def _grouped(query: Array, key: Array) -> tuple[Any, int]:
    """Return the heads of keys repeated for the groups of queries, and how many queries share one."""
    share = query.shape[1] // key.shape[1]
    return (np.repeat(key, share, 1) if share > 1 else key), share


def _scores(query: Array, key: Array, shift: object, hidden: Array | None, scale: float) -> Any:
    scores = query @ key.swapaxes(-1, -2)
    scores = (scores if shift is None else scores + shift) * query.dtype.type(scale)
    return scores if hidden is None else np.where(hidden.astype(bool), -np.inf, scores)


def _checked(
    layout: str, keep: float, drop: Array | None, padding: Sequence[int] | None, prefix: object, sparse: int
) -> None:
    if layout != LAYOUT or padding is not None or prefix is not None or sparse:
        raise ValueError("FlashAttentionScore: only BNSD without padding mask, prefix or sparse mode")
    if (drop is None) != (keep == 1.0):
        raise ValueError("FlashAttentionScore: a mask of dropout comes with keepProb below 1, and only then")


def _factors(drop: Array | None, keep: float, like: Array) -> Any:
    """Return what dropout multiplies weights with: one over the probability to be kept, or 0."""
    if drop is None:
        return like.dtype.type(1)
    kept = np.unpackbits(drop.reshape(-1), bitorder="little")[: like.size].reshape(like.shape)
    return kept.astype(like.dtype) * like.dtype.type(0 if keep == 0 else 1 / keep)


def _forward(
    query: Array,
    key: Array,
    value: Array,
    shift: object,
    drop: Array | None,
    padding: Sequence[int],
    hidden: Array | None,
    prefix: object,
    scale: float,
    keep: float,
    before: int,
    after: int,
    heads: int,
    layout: str,
    precise: int,
    sparse: int,
) -> Any:
    _checked(layout, keep, drop, padding, prefix, sparse)
    if heads != query.shape[1]:
        raise ValueError(f"FlashAttentionScore: headNum is {heads}, the query has {query.shape[1]} heads")
    keys, _ = _grouped(query, key)
    values, _ = _grouped(query, value)
    scores = _scores(query, keys, shift, hidden, scale)
    largest = scores.max(-1, keepdims=True)
    largest = np.where(np.isneginf(largest), 0, largest)
    weights = np.exp(scores - largest)
    sums = weights.sum(-1, keepdims=True)
    out = ((weights * _factors(drop, keep, weights)) @ values) / np.where(sums == 0, 1, sums)
    eight = (*query.shape[:3], 8)
    return np.broadcast_to(largest, eight), np.broadcast_to(sums, eight), None, out


def _backward(
    query: Array,
    key: Array,
    value: Array,
    grad: Array,
    shift: object,
    drop: Array | None,
    padding: Sequence[int],
    hidden: Array | None,
    largest: Array,
    sums: Array,
    softmax: object,
    out: Array,
    prefix: object,
    scale: float,
    keep: float,
    before: int,
    after: int,
    heads: int,
    layout: str,
    precise: int,
    sparse: int,
) -> Any:
    _checked(layout, keep, drop, padding, prefix, sparse)
    keys, share = _grouped(query, key)
    values, _ = _grouped(query, value)
    scores = _scores(query, keys, shift, hidden, scale)
    top = np.where(np.isneginf(largest[..., :1]), 0, largest[..., :1])
    weights = np.exp(scores - top) / np.where(sums[..., :1] == 0, 1, sums[..., :1])
    factors = _factors(drop, keep, weights)
    inner = (grad @ values.swapaxes(-1, -2)) * factors
    inner = weights * (inner - (grad * out).sum(-1, keepdims=True)) * query.dtype.type(scale)
    to_key, to_value = inner.swapaxes(-1, -2) @ query, (weights * factors).swapaxes(-1, -2) @ grad
    if share > 1:
        shape = (key.shape[0], key.shape[1], share, *key.shape[2:])
        to_key, to_value = to_key.reshape(shape).sum(2), to_value.reshape(shape).sum(2)
    return inner @ keys, to_key, to_value, None


kernel(
    "FlashAttentionScore",
    _forward,
    outputs=("softmaxMaxOut", "softmaxSumOut", "softmaxOutOut", "attentionOutOut"),
    workspace=True,
)
kernel("FlashAttentionScoreGrad", _backward, outputs=("dqOut", "dkOut", "dvOut", "dpseOut"), workspace=True)

"""Attention of inference: samples of their own lengths, keys that may lie in pages."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from mindtorch_npu.simulator.kernels import kernel
from mindtorch_npu.simulator.typing import Array

LAYOUTS = ("BSH", "BSND", "BNSD", "BNSD_BSND", "TND")
_HIDING = {2: "top left", 3: "bottom right", 4: "band"}
_WIDE = 2048
"""A mask of the modes that hide by place is a triangle of so many rows and columns, whatever the samples have."""


def _sample(x: Array, layout: str, heads: int, at: int, ends: Sequence[int] | None) -> Any:
    """Return rows, heads and width of a sample."""
    if layout == "TND":
        if ends is None:
            raise ValueError("FusedInferAttentionScore: TND needs the ends of the samples")
        return x[ends[at - 1] if at else 0 : ends[at]]
    one = x[at].reshape(x.shape[1], heads, -1) if layout == "BSH" else x[at]
    one = one.swapaxes(0, 1) if layout.startswith("BNSD") else one
    return one if not ends else one[: ends[at if len(ends) > 1 else 0]]


def _paged(x: Array, pages: Array, heads: int, length: int) -> Any:
    rows = (
        [x[pages[place // size], place % size] for size in [x.shape[1]] for place in range(length)]
        if x.ndim == 3
        else None
    )
    if rows is None:
        size = x.shape[2]
        return np.stack([x[pages[place // size], :, place % size] for place in range(length)])
    return np.stack(rows).reshape(length, heads, -1)


def _left_out(mask: Array | None, mode: int, at: int, rows: int, columns: int, before: int, after: int) -> Any:
    if mode in _HIDING:
        if mask is None or mask.shape[-2:] != (_WIDE, _WIDE):
            raise ValueError(f"FusedInferAttentionScore: sparseMode {mode} needs a mask of {_WIDE} rows and columns")
        row, column = np.arange(rows)[:, None], np.arange(columns)[None]
        place = column - row - (0 if mode == 2 else columns - rows)
        return (place > after) | (place < -before) if mode == 4 else place > 0
    if mask is None:
        return np.zeros((rows, columns), bool)
    lead = mask.reshape(-1, *mask.shape[-2:])
    return lead[at if len(lead) > 1 else 0][:rows, :columns].astype(bool)


def _infer(
    query: Array, keys: Sequence[Array], values: Sequence[Array], shift: Array | None, mask: Array | None,
    ends: Sequence[int] | None, key_ends: Sequence[int] | None, *rest: Any,
) -> Any:  # fmt: skip
    quantised, table, heads, scale, before, after, layout, key_heads, mode = (
        rest[:7], rest[7], *rest[20:26], rest[26]
    )  # fmt: skip
    wanted = rest[30]
    if layout not in LAYOUTS or any(one is not None for one in (*quantised, *rest[8:20])):
        raise ValueError("FusedInferAttentionScore: layout or quantised operands that the simulator does not compute")
    key_heads = key_heads or heads
    count = len(ends or ()) if layout == "TND" else query.shape[0]
    made, sums = [], []
    for at in range(count):
        q = _sample(query, layout, heads, at, ends)
        if table is None:
            k, v = (_sample(one[0], layout, key_heads, at, key_ends) for one in (keys, values))
        elif key_ends is None:
            raise ValueError("FusedInferAttentionScore: pages need the lengths of the keys")
        else:
            k, v = (_paged(one[0], table[at], key_heads, key_ends[at]) for one in (keys, values))
        hidden = _left_out(mask, mode, at, len(q), len(k), before, after)
        result, total = _one(q, k, v, shift, at, hidden, scale)
        made.append(result)
        sums.append(total)
    if layout == "TND":
        return np.concatenate(made), np.concatenate(sums)[..., None] if wanted else np.zeros(1)
    rows = query.shape[2] if layout.startswith("BNSD") else query.shape[1]
    out = np.zeros((count, rows, heads, made[0].shape[-1]), made[0].dtype)
    lse = np.full((count, heads, rows, 1), np.inf)
    for at, (result, total) in enumerate(zip(made, sums, strict=True)):
        out[at, : len(result)] = result
        lse[at, :, : len(result), 0] = total.T
    out = out.swapaxes(1, 2) if layout == "BNSD" else out.reshape(count, rows, -1) if layout == "BSH" else out
    return out, lse if wanted else np.zeros(1)


def _one(q: Any, k: Any, v: Any, shift: Array | None, at: int, hidden: Any, scale: float) -> tuple[Any, Any]:
    """Return a sample's result and the logarithms of its sums; both are of rows and heads."""
    share = q.shape[1] // k.shape[1]
    out = np.zeros((len(q), q.shape[1], v.shape[2]), q.dtype)
    total = np.full(q.shape[:2], -np.inf)
    for head in range(q.shape[1]):
        scores = q[:, head] @ k[:, head // share].T
        if shift is not None:
            lead = shift if shift.ndim == 4 else shift[None]
            scores = scores + lead[at if len(lead) > 1 else 0, head, : len(q), : len(k)]
        scores = np.where(hidden, -np.inf, scores * scale)
        top = scores.max(-1, keepdims=True, initial=-np.inf)
        top = np.where(np.isneginf(top), 0, top)
        weights = np.exp(scores - top)
        whole = weights.sum(-1, keepdims=True)
        out[:, head] = weights @ v[:, head // share] / np.where(whole == 0, 1, whole)
        total[:, head] = (np.log(whole) + top)[:, 0]
    return out, total


kernel("FusedInferAttentionScoreV3", _infer, outputs=("attentionOut", "softmaxLse"), workspace=True)

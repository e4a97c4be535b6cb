"""Attention batch by batch: the scores of one sample are made, normalized and used before the next ones."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..register import kernel


def _grouped(array: Any, heads: int) -> Any:
    """Return (heads, rows, width) as (key heads, queries per key head, rows, width)."""
    return array.reshape(heads, array.shape[0] // heads, *array.shape[1:])


def _scores(query: Any, key: Any, mask: Any, causal: Any, scale: float) -> Any:
    """Return the scores of one sample, (key heads, queries per key head, rows, columns)."""
    scores = np.matmul(query, key.swapaxes(-1, -2)[:, None])
    np.multiply(scores, scores.dtype.type(scale), scores)
    if mask is not None:
        np.add(scores, mask, scores)
    if causal is not None:
        np.copyto(scores, -np.inf, where=causal)
    return scores


def _causal(is_causal: bool, rows: int, columns: int) -> Any:
    """Return which columns a row must not see, None where it may see all."""
    return np.triu(np.ones((rows, columns), bool), 1) if is_causal else None


def _masks(mask: Any, batch: int, heads: int, groups: int) -> Iterator[Any]:
    """Yield each sample's mask in a shape that broadcasts to its scores."""
    for sample in range(batch):
        if mask is None or mask.ndim == 2:
            yield mask
            continue
        one = mask[sample if mask.shape[0] > 1 else 0]
        yield _grouped(one, heads) if one.shape[0] > 1 else one[None]


@kernel("_scaled_dot_product_flash_attention_for_cpu")
@np.errstate(invalid="ignore", divide="ignore")
def attention(
    outs: Any, query: Any, key: Any, value: Any, dropout_p: float, is_causal: bool, mask: Any, scale: float | None
) -> None:
    """Softmax of the scores times the values; rows whose scores are all -inf give zero, and zero as their sum."""
    out, logsumexp = outs
    batch, all_heads, rows, width = query.shape
    heads = key.shape[1]
    factor = 1.0 / math.sqrt(width) if scale is None else scale
    causal = _causal(is_causal, rows, key.shape[2])
    for sample, one in enumerate(_masks(mask, batch, heads, all_heads // heads)):
        weights = _scores(_grouped(query[sample], heads), key[sample], one, causal, factor)
        largest = np.maximum.reduce(weights, axis=-1, keepdims=True)
        largest[np.isneginf(largest)] = 0
        np.subtract(weights, largest, weights)
        np.exp(weights, weights)
        total = np.add.reduce(weights, axis=-1, keepdims=True)
        result = np.matmul(weights, value[sample][:, None])
        np.divide(result, total, result)
        nothing = total == 0
        np.copyto(result, 0, where=nothing)
        out[sample] = result.reshape(all_heads, rows, width)
        logsumexp[sample] = np.where(nothing, 0, np.log(total) + largest).reshape(all_heads, rows)


@kernel("_scaled_dot_product_flash_attention_for_cpu_backward")
@np.errstate(invalid="ignore")
def attention_backward(
    outs: Any,
    grad_out: Any,
    query: Any,
    key: Any,
    value: Any,
    out: Any,
    logsumexp: Any,
    dropout_p: float,
    is_causal: bool,
    mask: Any,
    scale: float | None,
) -> None:
    """Gradients of query, key and value; the weights are made again from the saved sums."""
    grad_query, grad_key, grad_value = outs
    batch, all_heads, rows, width = query.shape
    heads = key.shape[1]
    factor = query.dtype.type(1.0 / math.sqrt(width) if scale is None else scale)
    causal = _causal(is_causal, rows, key.shape[2])
    for sample, one in enumerate(_masks(mask, batch, heads, all_heads // heads)):
        grouped, grad = _grouped(query[sample], heads), _grouped(grad_out[sample], heads)
        weights = _scores(grouped, key[sample], one, causal, factor)
        sums = _grouped(logsumexp[sample], heads)[..., None].astype(weights.dtype, copy=False)
        np.subtract(weights, np.where(np.isneginf(sums), 0, sums), weights)
        np.exp(weights, weights)
        grad_value[sample] = np.matmul(weights.swapaxes(-1, -2), grad).sum(axis=1)
        scores = np.matmul(grad, value[sample].swapaxes(-1, -2)[:, None])
        # Over the columns, not over grad * out: where one weight is 1 the difference below is then exactly 0.
        along = np.einsum("hgrc,hgrc->hgr", scores, weights)[..., None]
        np.subtract(scores, along, scores)
        np.multiply(scores, weights, scores)
        np.multiply(scores, factor, scores)
        grad_query[sample] = np.matmul(scores, key[sample][:, None]).reshape(all_heads, rows, width)
        grad_key[sample] = np.matmul(scores.swapaxes(-1, -2), grouped).sum(axis=1)

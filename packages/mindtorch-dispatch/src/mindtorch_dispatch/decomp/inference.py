"""Attention of inference in the vendor's layouts, sample by sample: each with its own numbers of rows and columns."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

from mindtorch_storage.dtype import bool as bool_dtype
from mindtorch_storage.dtype import float32

from ..call import aten
from ..typing import Tensor
from .npu import attention

Lengths = Sequence[int] | None
TOP_LEFT, BOTTOM_RIGHT, BAND = 2, 3, 4
EVERY = 2**31 - 1


def infer_attention(
    query: Tensor, key: Tensor, value: Tensor, pse: Tensor | None, mask: Tensor | None, lengths: Lengths,
    key_lengths: Lengths, table: Tensor | None, heads: int, key_heads: int, scale: float, before: int, after: int,
    layout: str, mode: int, block_size: int, logsumexp: bool,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """`_npu_infer_attention`: the result, and the logarithms of the sums of each row, or one zero."""
    queries = list(_samples(query, layout, heads, lengths))
    if table is None:
        keys, values = (list(_samples(one, layout, key_heads, key_lengths)) for one in (key, value))
    else:
        keys, values = (list(_from_pages(one, table, key_heads, key_lengths or ())) for one in (key, value))
    made = []
    for place, (q, k, v) in enumerate(zip(queries, keys, values, strict=True)):
        rows, columns = q.shape[1], k.shape[1]
        seen = (_part(one, place, rows, columns) for one in (pse, mask))
        added, given = seen
        hidden = _hidden(q, given, mode, rows, columns, before, after)
        q, k, v = (aten.unsqueeze(x, 0) for x in (q, k, v))
        out, largest, sums = attention(q, k, v, added, hidden, None, scale, 1.0)
        total = aten.add(aten.log(sums), largest)
        made.append((aten.select(out, 0, 0), aten.slice(aten.select(total, 0, 0), 2, 0, 1)))
    out = _joined([one for one, _ in made], layout, query, heads)
    if not logsumexp:
        return out, aten.zeros([1], dtype=float32, device=query.device)
    totals = [one for _, one in made]
    return out, _joined(totals, "TND" if layout == "TND" else "BNSD", query, heads, _rows(query, layout), math.inf)


def _rows(query: Tensor, layout: str) -> int:
    return int(query.shape[1] if layout in ("BSH", "BSND") else query.shape[2])


def _samples(x: Tensor, layout: str, heads: int, lengths: Lengths) -> Iterator[Tensor]:
    """Give each sample's part, heads first, as far as its length."""
    if layout == "TND":
        ends = list(lengths or ())
        for start, end in zip([0, *ends], ends, strict=False):
            yield aten.transpose(aten.slice(x, 0, start, end), 0, 1)
        return
    if layout == "BSH":
        x = aten.reshape(x, [*x.shape[:2], heads, -1])
    for place in range(x.shape[0]):
        one = aten.select(x, 0, place)
        one = aten.transpose(one, 0, 1) if layout in ("BSH", "BSND") else one
        length = one.shape[1] if not lengths else lengths[place if len(lengths) > 1 else 0]
        yield aten.slice(one, 1, 0, min(length, one.shape[1]))


def _from_pages(x: Tensor, table: Tensor, heads: int, lengths: Sequence[int]) -> Iterator[Tensor]:
    """Give each sample's part of what lies in pages, of which a table has the numbers in order."""
    if x.ndim == 4 and x.shape[1] == heads:  # heads before the places of a page
        x = aten.transpose(x, 1, 2)
    size = x.shape[1]
    for place, length in enumerate(lengths):
        pages = aten.slice(aten.select(table, 0, place), 0, 0, -(-length // size))
        found = aten.index_select(x, 0, pages)
        found = aten.reshape(found, [pages.shape[0] * size, heads, -1])
        yield aten.transpose(aten.slice(found, 0, 0, length), 0, 1)


def _part(mask: Tensor | None, place: int, rows: int, columns: int) -> Any:
    """Return what a mask says of one sample, of as many dimensions as scores have."""
    if mask is None:
        return None
    while mask.ndim < 4:
        mask = aten.unsqueeze(mask, 1 if mask.ndim == 3 else 0)
    mask = aten.slice(mask, 0, place, place + 1) if mask.shape[0] > 1 else mask
    return aten.slice(aten.slice(mask, 2, 0, rows), 3, 0, columns)


def _hidden(like: Tensor, mask: Tensor | None, mode: int, rows: int, columns: int, before: int, after: int) -> Any:
    """Return which columns a row must not see."""
    if mode not in (TOP_LEFT, BOTTOM_RIGHT, BAND):
        return mask
    first = 0 if mode == TOP_LEFT else columns - rows
    before, after = (before, after) if mode == BAND else (EVERY, 0)
    ones = aten.ones([rows, columns], dtype=bool_dtype, device=like.device)
    hidden = aten.triu(ones, min(first + after + 1, columns))
    if before < columns + rows:
        hidden = aten.logical_or(hidden, aten.tril(ones, first - before - 1))
    return hidden


def _joined(
    parts: list[Tensor], layout: str, query: Tensor, heads: int, rows: int | None = None, rest: float = 0.0
) -> Any:
    """Return the samples' results as the layout has them, and `rest` in rows behind a sample's length."""
    if layout == "TND":
        return aten.cat([aten.transpose(one, 0, 1) for one in parts])
    rows = _rows(query, layout) if rows is None else rows
    padded = [aten.constant_pad_nd(one, [0, 0, 0, rows - one.shape[1]], rest) for one in parts]
    whole = aten.stack(padded)
    if layout == "BNSD":
        return whole
    whole = aten.contiguous(aten.transpose(whole, 1, 2))
    return aten.reshape(whole, [*whole.shape[:2], -1]) if layout == "BSH" else whole


__all__ = ["infer_attention"]

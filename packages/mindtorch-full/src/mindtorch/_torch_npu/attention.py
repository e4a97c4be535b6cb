"""`torch_npu.npu_fusion_attention`: attention in the vendor's layouts."""

from __future__ import annotations

from typing import Any

import mindtorch as torch
from mindtorch.nn.functional import scaled_dot_product_attention

FULL, TOP_LEFT, BOTTOM_RIGHT = 0, 2, 3
EVERY = 2147483647


def _heads_first(x: Any, layout: str, heads: int) -> Any:
    """Return a tensor of batch, head, row and width."""
    if layout == "BNSD":
        return x
    if layout == "BSND":
        return x.transpose(1, 2)
    if layout == "BSH":
        return x.unflatten(-1, (heads, -1)).transpose(1, 2)
    if layout == "SBH":
        return x.unflatten(-1, (heads, -1)).permute(1, 2, 0, 3)
    raise NotImplementedError(f"torch_npu.npu_fusion_attention: the layout {layout} is not supported")


def _back(x: Any, layout: str) -> Any:
    if layout == "BNSD":
        return x
    if layout == "BSND":
        return x.transpose(1, 2)
    if layout == "BSH":
        return x.transpose(1, 2).flatten(2)
    return x.permute(2, 0, 1, 3).flatten(2)


def _allowed(mask: Any, mode: int, rows: int, columns: int, device: Any) -> Any:
    """Return which columns a row sees, None for all of them."""
    if mode == FULL:
        return None if mask is None else ~mask.bool()
    if mode not in (TOP_LEFT, BOTTOM_RIGHT):
        raise NotImplementedError(f"torch_npu.npu_fusion_attention: sparse_mode {mode} is not supported")
    shift = columns - rows if mode == BOTTOM_RIGHT else 0
    return torch.ones(rows, columns, dtype=torch.bool, device=device).tril(shift)


def _attend(query: Any, key: Any, value: Any, pse: Any, mask: Any, mode: int, scale: float, dropout: float) -> Any:
    rows, columns = query.shape[2], key.shape[2]
    seen = _allowed(mask, mode, rows, columns, query.device)
    if pse is not None:
        added = pse * scale  # the operator adds before it scales
        seen = added if seen is None else added.masked_fill(~seen, float("-inf"))
    return scaled_dot_product_attention(
        query, key, value, attn_mask=seen, dropout_p=dropout, scale=scale, enable_gqa=query.shape[1] != key.shape[1]
    )


def npu_fusion_attention(
    query: Any,
    key: Any,
    value: Any,
    head_num: int,
    input_layout: str,
    pse: Any = None,
    padding_mask: Any = None,
    atten_mask: Any = None,
    scale: float = 1.0,
    keep_prob: float = 1.0,
    pre_tockens: int = EVERY,
    next_tockens: int = EVERY,
    inner_precise: int = 0,
    prefix: Any = None,
    actual_seq_qlen: Any = None,
    actual_seq_kvlen: Any = None,
    sparse_mode: int = 0,
    gen_mask_parallel: bool = True,
    sync: bool = False,
) -> tuple[Any]:
    """Return attention in a tuple of one; what torch_npu returns beside it serves its own backward only.

    `atten_mask` is true where nothing is to be seen. The layout TND holds sequences one after the other, ending where
    `actual_seq_qlen` and `actual_seq_kvlen` say. Raises NotImplementedError for what is not supported.
    """
    if padding_mask is not None or prefix is not None or (pre_tockens, next_tockens) != (EVERY, EVERY):
        raise NotImplementedError("torch_npu.npu_fusion_attention: padding_mask, prefix and bands are not supported")
    dropout = 1.0 - keep_prob
    if input_layout == "TND":
        ends = zip(actual_seq_qlen, actual_seq_kvlen, strict=True)
        begin, made = (0, 0), []
        for end in ends:
            parts = [query[begin[0] : end[0]], key[begin[1] : end[1]], value[begin[1] : end[1]]]
            q, k, v = (p.transpose(0, 1)[None] for p in parts)
            one = _attend(q, k, v, pse, atten_mask, sparse_mode, scale, dropout)
            made.append(one[0].transpose(0, 1))
            begin = end
        return (torch.cat(made),)
    width = query.shape[-1] // head_num if input_layout in ("BSH", "SBH") else 0
    heads = [x.shape[-1] // width if width else head_num for x in (query, key, value)]
    q, k, v = (_heads_first(x, input_layout, n) for x, n in zip((query, key, value), heads, strict=True))
    return (_back(_attend(q, k, v, pse, atten_mask, sparse_mode, scale, dropout), input_layout),)

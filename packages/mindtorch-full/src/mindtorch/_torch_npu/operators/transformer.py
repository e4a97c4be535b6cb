"""`torch.ops.atb.*` of the vendor's transformer library: attention over blocks of a cache, written into tensors given."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import TypeVar

import mindtorch as torch
from mindtorch._torch_npu._operator import operator
from mindtorch._torch_npu.operators.rope import rotated_pairs
from mindtorch.nn import functional as F
from mindtorch.tensor.tensor import Tensor

__all__ = [
    "_npu_flash_attention", "_npu_flash_attention_qlens", "_npu_flash_attention_unpad", "_npu_flash_attention_unpad_v2",
    "_npu_flash_attention_v3", "_npu_group_topk", "_npu_matmul_add_fp32",
    "_npu_paged_attention_get_workspace", "_npu_paged_attention_mla", "_npu_paged_attention_splitfuse",
    "_npu_paged_attention_splitfuse_v2", "_npu_quant_rms_norm", "_npu_quantize_per_tensor", "_npu_reshape_and_cache",
    "_npu_reshape_and_cache_siso", "_npu_rotary_embedding", "npu_paged_cache_load",
]  # fmt: skip

Function = TypeVar("Function", bound=Callable[..., object])
_atb: Callable[[str], Callable[[Function], Function]] = partial(operator, space="atb")

NORM_COMPRESS, SPLIT_COMPRESS = 3, 5
"""A mask that is a corner of one that hides what comes later, of attention over sequences and over blocks."""


def _weighed(q: Tensor, k: Tensor, v: Tensor, scale: float, added: Tensor | None) -> Tensor:
    """Return attention of tokens, heads and widths, in float32."""
    share = q.shape[1] // k.shape[1]
    q, k, v = (one.float().transpose(0, 1) for one in (q, k, v))
    k, v = (one.repeat_interleave(share, 0) if share > 1 else one for one in (k, v))
    scores = q @ k.transpose(-2, -1) * scale
    scores = scores if added is None else scores + added.float()
    return (torch.softmax(scores, -1) @ v).transpose(0, 1)


def _later(rows: int, columns: int, like: Tensor) -> Tensor:
    """Return what hides later columns than a row's own, of rows that are the last ones."""
    hidden = torch.ones(rows, columns, device=like.device).triu(columns - rows + 1).bool()
    return torch.zeros(rows, columns, device=like.device).masked_fill(hidden, float("-inf"))


def _corner(mask: Tensor, rows: int, columns: int) -> Tensor:
    """Return the rows and columns of a square mask that the last tokens of a sequence have."""
    return mask[..., columns - rows : columns, :columns]


def _spans(*lengths: Tensor | Sequence[int]) -> Iterator[tuple[slice, ...]]:
    """Give where each sequence lies in tensors that have one after the other."""
    numbers = [one.tolist() if isinstance(one, Tensor) else list(one) for one in lengths]
    begin = [0] * len(numbers)
    for sizes in zip(*numbers, strict=True):
        ends = [first + size for first, size in zip(begin, sizes, strict=True)]
        yield tuple(slice(first, end) for first, end in zip(begin, ends, strict=True))
        begin = ends


def _heads(x: Tensor, heads: int) -> Tensor:
    return x.reshape(x.shape[0], heads, -1)


def _over_sequences(
    query: Tensor, key: Tensor, value: Tensor, lengths: Tensor, scale: float, heads: int, kv_heads: int, out: Tensor,
    added: Callable[[int], Tensor | None],
) -> None:  # fmt: skip
    made = [
        _weighed(_heads(query[at], heads), _heads(key[at], kv_heads), _heads(value[at], kv_heads), scale, mask)
        for (at,) in _spans(lengths)
        for mask in [added(at.stop - at.start)]
    ]
    out.copy_(torch.cat(made).reshape(out.shape))


_SEQUENCES = "Tensor seq_len, float scale_value, int num_heads, int num_kv_heads"


@_atb(f"_npu_flash_attention(Tensor query, Tensor key, Tensor value, Tensor mask, {_SEQUENCES}, Tensor(a!) out) -> ()")
def _npu_flash_attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor, seq_len: Tensor, scale_value: float, num_heads: int,
    num_kv_heads: int, out: Tensor,
) -> None:  # fmt: skip
    """Write attention of each sequence with itself, a mask added to its scores."""
    _over_sequences(
        query, key, value, seq_len, scale_value, num_heads, num_kv_heads, out, lambda size: _corner(mask, size, size)
    )


@_atb(
    f"_npu_flash_attention_v3(Tensor query, Tensor key, Tensor value, Tensor mask, {_SEQUENCES}, *, int? mask_type=3, "
    "Tensor(a!) out) -> ()"
)
def _npu_flash_attention_v3(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor, seq_len: Tensor, scale_value: float, num_heads: int,
    num_kv_heads: int, *, mask_type: int | None = NORM_COMPRESS, out: Tensor,
) -> None:  # fmt: skip
    """Write the same where the mask is a corner of one that hides what comes later."""
    if mask_type != NORM_COMPRESS:
        raise RuntimeError(f"mask_type only supports MASK_TYPE_NORM_COMPRESS, but got: {mask_type}")
    _over_sequences(
        query, key, value, seq_len, scale_value, num_heads, num_kv_heads, out, lambda size: _later(size, size, query)
    )


@_atb(f"_npu_flash_attention_unpad(Tensor query, Tensor key, Tensor value, {_SEQUENCES}, Tensor(a!) out) -> ()")
def _npu_flash_attention_unpad(
    query: Tensor, key: Tensor, value: Tensor, seq_len: Tensor, scale_value: float, num_heads: int, num_kv_heads: int,
    out: Tensor,
) -> None:  # fmt: skip
    """Write attention of each sequence with all of itself."""
    _over_sequences(query, key, value, seq_len, scale_value, num_heads, num_kv_heads, out, lambda size: None)


@_atb(
    f"_npu_flash_attention_unpad_v2(Tensor query, Tensor key, Tensor value, {_SEQUENCES}, *, int? kernel_type=0, "
    "Tensor(a!) out) -> ()"
)
def _npu_flash_attention_unpad_v2(
    query: Tensor, key: Tensor, value: Tensor, seq_len: Tensor, scale_value: float, num_heads: int, num_kv_heads: int,
    *, kernel_type: int | None = 0, out: Tensor,
) -> None:  # fmt: skip
    """Write the same, by a kernel that is chosen."""
    if kernel_type not in (None, 0, 2):
        raise RuntimeError(
            f"kernel_type only supports KERNELTYPE_DEFAULT(0) and KERNELTYPE_EXP_M8V2(2), but got: {kernel_type}"
        )
    _npu_flash_attention_unpad(query, key, value, seq_len, scale_value, num_heads, num_kv_heads, out)


def _kept(cache: Tensor, table: list[int], length: int, heads: int) -> Tensor:
    """Return a sequence's tokens, of the blocks that it has in a cache."""
    size = cache.shape[1]
    blocks = torch.tensor(table[: (length + size - 1) // size], dtype=torch.int64, device=cache.device)
    found = cache.index_select(0, blocks).flatten(0, 1)[:length]
    return found.reshape(length, heads, -1)


def _over_blocks(
    query: Tensor, caches: tuple[Tensor, Tensor], heads: int, kv_heads: int, scale: float, block_table: Tensor,
    lengths: tuple[Tensor | Sequence[int], Tensor], out: Tensor, added: Callable[[slice, int], Tensor | None],
) -> None:  # fmt: skip
    """Write attention of each sequence's last tokens with all that it has in caches of keys and of values."""
    made = []
    for (rows,), columns, table in zip(_spans(lengths[0]), lengths[1].tolist(), block_table.tolist(), strict=True):
        k, v = (_kept(cache, table, columns, kv_heads) for cache in caches)
        made.append(_weighed(_heads(query[rows], heads), k, v, scale, added(rows, columns)))
    out.copy_(torch.cat(made).reshape(out.shape))


_BLOCKS = (
    "Tensor query, Tensor key_cache, Tensor value_cache, int num_kv_heads, int num_heads, float scale_value, "
    "Tensor block_table, Tensor context_lens"
)


@_atb(f"_npu_paged_attention({_BLOCKS}, Tensor(a!) out, *, Tensor? workspace=None) -> ()")
def _one_token_each(
    query: Tensor, key_cache: Tensor, value_cache: Tensor, num_kv_heads: int, num_heads: int, scale_value: float,
    block_table: Tensor, context_lens: Tensor, out: Tensor, *, workspace: Tensor | None = None,
) -> None:  # fmt: skip
    """Write attention of one token of each sequence with all that the sequence has, in one launch."""
    torch.ops.npu._npu_paged_attention(
        query, key_cache, value_cache, num_kv_heads, num_heads, scale_value, block_table, context_lens, out,
        workspace=workspace,
    )  # fmt: skip


@_atb(f"_npu_paged_attention_get_workspace({_BLOCKS}, Tensor(a!) out) -> Tensor")
def _npu_paged_attention_get_workspace(
    query: Tensor, key_cache: Tensor, value_cache: Tensor, num_kv_heads: int, num_heads: int, scale_value: float,
    block_table: Tensor, context_lens: Tensor, out: Tensor,
) -> Tensor:  # fmt: skip
    """Return the memory that `_npu_paged_attention` needs beside its operands: none, its operators have their own."""
    return query.new_empty(0, dtype=torch.uint8)


@_atb(
    "_npu_paged_attention_mla(Tensor query, Tensor key_cache, int num_kv_heads, int num_heads, float scale_value, "
    "Tensor block_table, Tensor context_lens, int mla_vheadsize, Tensor(a!) out) -> ()"
)
def _npu_paged_attention_mla(
    query: Tensor, key_cache: Tensor, num_kv_heads: int, num_heads: int, scale_value: float, block_table: Tensor,
    context_lens: Tensor, mla_vheadsize: int, out: Tensor,
) -> None:  # fmt: skip
    """Write the same where values are the first `mla_vheadsize` numbers of keys."""
    caches = key_cache, key_cache[..., :mla_vheadsize]
    _over_blocks(
        query, caches, num_heads, num_kv_heads, scale_value, block_table, ([1] * query.shape[0], context_lens), out,
        lambda rows, columns: None,
    )  # fmt: skip


_SPLIT = (
    "Tensor query, Tensor key_cache, Tensor value_cache, Tensor block_table, Tensor context_lens, Tensor mask, "
    "Tensor seq_len, int num_kv_heads, int num_heads, float scale_value"
)


@_atb(f"_npu_paged_attention_splitfuse({_SPLIT}, Tensor(a!) out) -> ()")
def _npu_paged_attention_splitfuse(
    query: Tensor, key_cache: Tensor, value_cache: Tensor, block_table: Tensor, context_lens: Tensor, mask: Tensor,
    seq_len: Tensor, num_kv_heads: int, num_heads: int, scale_value: float, out: Tensor,
) -> None:  # fmt: skip
    """Write attention of each sequence's last tokens with all that it has; the mask has a row for each token."""
    _over_blocks(
        query, (key_cache, value_cache), num_heads, num_kv_heads, scale_value, block_table, (seq_len, context_lens), out,
        lambda rows, columns: mask[..., rows, :columns],
    )  # fmt: skip


@_atb(f"_npu_paged_attention_splitfuse_v2({_SPLIT}, *, int? mask_type=5, Tensor(a!) out) -> ()")
def _npu_paged_attention_splitfuse_v2(
    query: Tensor, key_cache: Tensor, value_cache: Tensor, block_table: Tensor, context_lens: Tensor, mask: Tensor,
    seq_len: Tensor, num_kv_heads: int, num_heads: int, scale_value: float, *, mask_type: int | None = SPLIT_COMPRESS,
    out: Tensor,
) -> None:  # fmt: skip
    """Write the same where the mask is a corner of one that hides what comes later."""
    if mask_type != SPLIT_COMPRESS:
        raise RuntimeError(f"mask_type only supports MASK_TYPE_NORM_COMPRESS(5), but got: {mask_type}")
    _over_blocks(
        query, (key_cache, value_cache), num_heads, num_kv_heads, scale_value, block_table, (seq_len, context_lens), out,
        lambda rows, columns: _later(rows.stop - rows.start, columns, query),
    )  # fmt: skip


@_atb(
    "_npu_flash_attention_qlens(Tensor query, Tensor key_cache, Tensor value_cache, Tensor block_table, Tensor mask, "
    "Tensor seq_len, Tensor context_lens, int num_kv_heads, int num_heads, float scale_value, Tensor(a!) out) -> ()"
)
def _npu_flash_attention_qlens(
    query: Tensor, key_cache: Tensor, value_cache: Tensor, block_table: Tensor, mask: Tensor, seq_len: Tensor,
    context_lens: Tensor, num_kv_heads: int, num_heads: int, scale_value: float, out: Tensor,
) -> None:  # fmt: skip
    """Write the same where the mask is a corner of one that hides what comes later."""
    _over_blocks(
        query, (key_cache, value_cache), num_heads, num_kv_heads, scale_value, block_table, (seq_len, context_lens), out,
        lambda rows, columns: _later(rows.stop - rows.start, columns, query),
    )  # fmt: skip


def _store(rows: Tensor, cache: Tensor, slots: Tensor) -> None:
    size = cache.shape[1]
    at = slots.long()
    cache[at // size, at % size] = rows.reshape(rows.shape[0], *cache.shape[2:])


@_atb(
    "_npu_reshape_and_cache(Tensor key, Tensor value, Tensor(a!) key_cache, Tensor(b!) value_cache, Tensor slot_indices) "
    "-> ()"
)
def _npu_reshape_and_cache(
    key: Tensor, value: Tensor, key_cache: Tensor, value_cache: Tensor, slot_indices: Tensor
) -> None:
    """Write tokens' keys and values into blocks, where their slots say."""
    _store(key, key_cache, slot_indices)
    _store(value, value_cache, slot_indices)


@_atb("_npu_reshape_and_cache_siso(Tensor key, Tensor(a!) key_cache, Tensor slot_indices) -> ()")
def _npu_reshape_and_cache_siso(key: Tensor, key_cache: Tensor, slot_indices: Tensor) -> None:
    """Write tokens' keys into blocks."""
    _store(key, key_cache, slot_indices)


@_atb(
    "npu_paged_cache_load(Tensor key_cache, Tensor value_cache, Tensor block_table, Tensor context_lens, *, "
    "Tensor? seq_starts=None, bool cumsum=False) -> (Tensor, Tensor)"
)
def npu_paged_cache_load(
    key_cache: Tensor, value_cache: Tensor, block_table: Tensor, context_lens: Tensor, *,
    seq_starts: Tensor | None = None, cumsum: bool = False,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return what sequences have in caches one after the other; lengths may be where each begins, and they may start later."""
    given = context_lens.tolist()
    lengths = [end - begin for begin, end in pairwise(given)] if cumsum else given
    starts = [0] * len(lengths) if seq_starts is None else seq_starts.tolist()
    made: list[list[Tensor]] = [[], []]
    for table, length, start in zip(block_table.tolist(), lengths, starts, strict=True):
        for parts, cache in zip(made, (key_cache, value_cache), strict=True):
            parts.append(_kept(cache, table, start + length, 1)[start:].reshape(length, *cache.shape[2:]))
    return torch.cat(made[0]), torch.cat(made[1])


@_atb(
    "_npu_rotary_embedding(Tensor positions, Tensor(a!) query, Tensor(b!) key, int head_size, Tensor cos_sin_cache, "
    "bool is_neox_style) -> ()"
)
def _npu_rotary_embedding(
    positions: Tensor, query: Tensor, key: Tensor, head_size: int, cos_sin_cache: Tensor, is_neox_style: bool
) -> None:
    """Turn positions into query and key, in place: pairs are halves of a head, or neighbours."""
    cos, sin = cos_sin_cache.index_select(0, positions.flatten()).unsqueeze(1).chunk(2, -1)
    for x in (query, key):
        heads = x.reshape(positions.numel(), -1, head_size)
        x.copy_(rotated_pairs(heads, cos.to(x.dtype), sin.to(x.dtype), halves=is_neox_style).reshape(x.shape))


@_atb("_npu_matmul_add_fp32(Tensor x, Tensor weight, Tensor(a!) C) -> ()")
def _npu_matmul_add_fp32(x: Tensor, weight: Tensor, C: Tensor) -> None:
    """Add a product, the first matrix transposed, to a float32 tensor in place: gradients of weights."""
    C.add_((x.float().t() @ weight.float()).reshape(C.shape))


@_atb("_npu_group_topk(Tensor self, int k=0, int group_num=1, int n=1) -> ()")
def _npu_group_topk(self: Tensor, k: int = 0, group_num: int = 1, n: int = 1) -> None:
    """Set scores to zero, in place, outside of each row's best groups: those whose `n` best scores sum up highest."""
    groups = self.unflatten(-1, (group_num, -1))
    best = groups.float().topk(n, -1).values.sum(-1)
    dropped = best.argsort(dim=-1, descending=True, stable=True)[:, k:]
    kept = torch.ones_like(best).scatter(1, dropped, 0.0).bool()
    self.copy_(groups.masked_fill(~kept.unsqueeze(-1), 0.0).reshape(self.shape))


def _int8(x: Tensor, scale: Tensor, offset: Tensor) -> Tensor:
    made = torch.round(x.float() / scale.float())
    return (made if offset.numel() == 0 else made + offset.float()).clamp(-128, 127).to(torch.int8)


@_atb("_npu_quantize_per_tensor(Tensor x, Tensor scale, Tensor zero_point, Tensor(a!) y) -> ()")
def _npu_quantize_per_tensor(x: Tensor, scale: Tensor, zero_point: Tensor, y: Tensor) -> None:
    """Write numbers over their scale, rounded, plus a zero point, as int8."""
    y.copy_(_int8(x, scale, zero_point))


@_atb(
    "_npu_quant_rms_norm(Tensor self, Tensor gamma, Tensor beta, Tensor scale, Tensor offset, Tensor(a!) output, "
    "float eps=1e-05) -> ()"
)
def _npu_quant_rms_norm(
    self: Tensor, gamma: Tensor, beta: Tensor, scale: Tensor, offset: Tensor, output: Tensor, eps: float = 1e-05
) -> None:
    """Write a norm by the root of mean squares, shifted by `beta`, as `_npu_quantize_per_tensor` does."""
    made = F.rms_norm(self.float(), self.shape[-1:], gamma.float().reshape(-1), eps) + beta.float().reshape(-1)
    output.copy_(_int8(made, scale, offset))

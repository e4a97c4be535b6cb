"""Caches of keys and values in blocks, steps of decoding, and float status, under torch_npu's names."""

from __future__ import annotations

import mindtorch as torch
from mindtorch._torch_npu._operator import operator, refuse, refuse_given
from mindtorch.tensor.tensor import Tensor

__all__ = [
    "copy_memory_", "npu_advance_step_flashattn", "npu_alloc_float_status", "npu_batch_gather_matmul",
    "npu_batch_gather_matmul_", "npu_clear_float_status", "npu_gather_pa_kv_cache", "npu_gather_pa_kv_cache_functional",
    "npu_get_float_status", "npu_prefetch", "npu_scatter_pa_cache", "npu_scatter_pa_kv_cache",
    "npu_scatter_pa_kv_cache_functional",
]  # fmt: skip


def _only_plain(name: str, mode: str | None, **given: object) -> None:
    refuse_given(name, **given)
    if mode not in (None, "Norm", "PA_NZ"):
        refuse(name, f"cache_mode {mode}")


def _written(cache: Tensor, rows: Tensor, slots: Tensor, mode: str | None) -> Tensor:
    """Write a row for each slot into blocks: of rows, or with PA_NZ of parts of rows, each part's rows one by one."""
    chosen = (slots >= 0).nonzero().flatten()
    at = slots.long().index_select(0, chosen)
    found = rows.index_select(0, chosen)
    if mode == "PA_NZ":
        size, part = cache.shape[2], cache.shape[3]
        cache[at // size, :, at % size] = found.reshape(len(chosen), -1, part)
    else:
        size = cache.shape[1]
        cache[at // size, at % size] = found.reshape(len(chosen), *cache.shape[2:])
    return cache


_SCATTER = (
    "Tensor slot_mapping, *, Tensor? compress_lens=None, Tensor? compress_seq_offsets=None, Tensor? seq_lens=None, "
    "str? cache_mode='PA_NZ'"
)


@operator(
    f"npu_scatter_pa_kv_cache(Tensor key, Tensor value, Tensor(a!) key_cache, Tensor(b!) value_cache, {_SCATTER}) -> ()"
)
def npu_scatter_pa_kv_cache(
    key: Tensor, value: Tensor, key_cache: Tensor, value_cache: Tensor, slot_mapping: Tensor, *,
    compress_lens: Tensor | None = None, compress_seq_offsets: Tensor | None = None, seq_lens: Tensor | None = None,
    cache_mode: str | None = "PA_NZ",
) -> None:  # fmt: skip
    """Write tokens' keys and values where their slots say; a negative slot is nowhere."""
    name = "npu_scatter_pa_kv_cache"
    _only_plain(name, cache_mode, compress_lens=compress_lens, compress_seq_offsets=compress_seq_offsets)
    for rows, cache in ((key, key_cache), (value, value_cache)):
        _written(cache, rows, slot_mapping, cache_mode)


@operator(
    f"npu_scatter_pa_kv_cache_functional(Tensor key, Tensor value, Tensor key_cache, Tensor value_cache, {_SCATTER}) "
    "-> (Tensor, Tensor)"
)
def npu_scatter_pa_kv_cache_functional(
    key: Tensor, value: Tensor, key_cache: Tensor, value_cache: Tensor, slot_mapping: Tensor, *,
    compress_lens: Tensor | None = None, compress_seq_offsets: Tensor | None = None, seq_lens: Tensor | None = None,
    cache_mode: str | None = "PA_NZ",
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return copies of the caches with tokens' keys and values where their slots say."""
    name = "npu_scatter_pa_kv_cache_functional"
    _only_plain(name, cache_mode, compress_lens=compress_lens, compress_seq_offsets=compress_seq_offsets)
    return (
        _written(key_cache.clone(), key, slot_mapping, cache_mode),
        _written(value_cache.clone(), value, slot_mapping, cache_mode),
    )


_GATHER = "*, Tensor? seq_offset=None, bool is_seq_lens_cumsum=False"


@operator(
    "npu_scatter_pa_cache.value(Tensor key, Tensor slot_mapping, *, Tensor? compress_lens=None, "
    "Tensor? compress_seq_offsets=None, Tensor? seq_lens=None, Tensor(a!) key_cache) -> Tensor(a!)"
)
def npu_scatter_pa_cache(
    key: Tensor, slot_mapping: Tensor, *, compress_lens: Tensor | None = None,
    compress_seq_offsets: Tensor | None = None, seq_lens: Tensor | None = None, key_cache: Tensor,
) -> Tensor:  # fmt: skip
    """Write tokens' keys into blocks where their slots say, and return the cache."""
    _only_plain("npu_scatter_pa_cache", "Norm", compress_lens=compress_lens, compress_seq_offsets=compress_seq_offsets)
    return _written(key_cache, key, slot_mapping, "Norm")


def _gathered(
    cache: Tensor, tables: Tensor, lengths: Tensor, like: Tensor, offset: Tensor | None, cumulative: bool
) -> Tensor:
    """Return the rows that sequences' tables of blocks name, zeros where a block is not there."""
    sizes = (lengths.diff() if cumulative else lengths).tolist()
    firsts = [0] * len(sizes) if offset is None else offset.tolist()
    size, count = cache.shape[1], cache.shape[0]
    parts = []
    for row, (length, first) in enumerate(zip(sizes, firsts, strict=True)):
        steps = torch.arange(length, device=cache.device)
        at = first // size + steps // size
        blocks = tables[row].long().index_select(0, at.clamp(max=tables.shape[1] - 1))
        there = (at < tables.shape[1]) & (blocks >= 0) & (blocks < count)
        found = cache[blocks.clamp(0, count - 1), steps % size]
        parts.append(found.masked_fill(~there.reshape(-1, *[1] * (found.dim() - 1)), 0))
    made = torch.cat(parts)[: like.shape[0]]
    rest = like[made.shape[0] :]
    return torch.cat((made, rest)).reshape(like.shape)


@operator(
    "npu_gather_pa_kv_cache(Tensor key_cache, Tensor value_cache, Tensor block_tables, Tensor seq_lens, Tensor(a!) key, "
    f"Tensor(b!) value, {_GATHER}) -> ()"
)
def npu_gather_pa_kv_cache(
    key_cache: Tensor, value_cache: Tensor, block_tables: Tensor, seq_lens: Tensor, key: Tensor, value: Tensor, *,
    seq_offset: Tensor | None = None, is_seq_lens_cumsum: bool = False,
) -> None:  # fmt: skip
    """Write sequences' keys and values, one after the other, from blocks of rows that their tables name."""
    for cache, out in ((key_cache, key), (value_cache, value)):
        out.copy_(_gathered(cache, block_tables, seq_lens, out, seq_offset, is_seq_lens_cumsum))


@operator(
    "npu_gather_pa_kv_cache_functional(Tensor key_cache, Tensor value_cache, Tensor block_tables, Tensor seq_lens, "
    f"Tensor key, Tensor value, {_GATHER}) -> (Tensor, Tensor)"
)
def npu_gather_pa_kv_cache_functional(
    key_cache: Tensor, value_cache: Tensor, block_tables: Tensor, seq_lens: Tensor, key: Tensor, value: Tensor, *,
    seq_offset: Tensor | None = None, is_seq_lens_cumsum: bool = False,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return sequences' keys and values, one after the other, from blocks of rows that their tables name."""
    return (
        _gathered(key_cache, block_tables, seq_lens, key, seq_offset, is_seq_lens_cumsum),
        _gathered(value_cache, block_tables, seq_lens, value, seq_offset, is_seq_lens_cumsum),
    )


@operator(
    "npu_advance_step_flashattn(Tensor(a!) input_tokens, Tensor sampled_token_ids, Tensor(b!) input_positions, "
    "Tensor(c!) seq_lens, Tensor(d!) slot_mapping, Tensor block_tables, int num_seqs, int num_queries, int block_size, "
    "*, Tensor? spec_token=None, Tensor? accepted_num=None) -> ()"
)
def npu_advance_step_flashattn(
    input_tokens: Tensor, sampled_token_ids: Tensor, input_positions: Tensor, seq_lens: Tensor, slot_mapping: Tensor,
    block_tables: Tensor, num_seqs: int, num_queries: int, block_size: int, *, spec_token: Tensor | None = None,
    accepted_num: Tensor | None = None,
) -> None:  # fmt: skip
    """Let the sampled tokens be the next step's input: their places, lengths and slots, in place."""
    _only_plain("npu_advance_step_flashattn", None, spec_token=spec_token, accepted_num=accepted_num)
    used = slice(0, num_queries)
    input_tokens[used] = sampled_token_ids[used].flatten().to(input_tokens.dtype)
    places = seq_lens[used].clone()
    seq_lens[used] = places + 1
    input_positions[used] = places.to(input_positions.dtype)
    rows = torch.arange(num_queries, device=block_tables.device)
    blocks = block_tables[rows, (places // block_size).long()]
    slot_mapping[used] = (blocks * block_size + places % block_size).to(slot_mapping.dtype)
    input_tokens[num_queries:num_seqs] = 0
    input_positions[num_queries:num_seqs] = 0
    slot_mapping[num_queries:num_seqs] = -1


_ADAPT = (
    "Tensor x, Tensor weight_b, Tensor indices, Tensor? weight_a=None, int layer_idx=0, float scale=1e-3, "
    "int y_offset=0, int y_slice_size=-1"
)


@operator(f"npu_batch_gather_matmul_(Tensor(a!) self, {_ADAPT}) -> Tensor(a!)")
def npu_batch_gather_matmul_(
    self: Tensor, x: Tensor, weight_b: Tensor, indices: Tensor, weight_a: Tensor | None = None, layer_idx: int = 0,
    scale: float = 1e-3, y_offset: int = 0, y_slice_size: int = -1,
) -> Tensor:  # fmt: skip
    """Add to each row its own adapter's product; an index of -1 has none."""
    chosen = indices.long()
    there = (chosen >= 0) & (chosen < weight_b.shape[0])
    safe = chosen.clamp(0, weight_b.shape[0] - 1)
    rows = x.unsqueeze(1)
    if weight_a is not None:
        rows = rows @ weight_a[safe, layer_idx].transpose(-1, -2)
    made = (rows @ weight_b[safe, layer_idx].transpose(-1, -2)).squeeze(1) * scale
    made = made.masked_fill(~there.unsqueeze(-1), 0.0)
    size = made.shape[-1] if y_slice_size < 0 else y_slice_size
    self[:, y_offset : y_offset + size] += made
    return self


@operator(f"npu_batch_gather_matmul(Tensor self, {_ADAPT}) -> Tensor")
def npu_batch_gather_matmul(
    self: Tensor, x: Tensor, weight_b: Tensor, indices: Tensor, weight_a: Tensor | None = None, layer_idx: int = 0,
    scale: float = 1e-3, y_offset: int = 0, y_slice_size: int = -1,
) -> Tensor:  # fmt: skip
    """Return `npu_batch_gather_matmul_` of a copy."""
    given = (weight_b, indices, weight_a, layer_idx, scale, y_offset, y_slice_size)
    return npu_batch_gather_matmul_(self.clone(), x, *given)


@operator("npu_prefetch(Tensor self, Tensor? dependency, int max_size, int offset=0) -> ()")
def npu_prefetch(self: Tensor, dependency: Tensor | None, max_size: int, offset: int = 0) -> None:
    """Bring a tensor nearer before it is used: advice, which is checked. RuntimeError for sizes that cannot be."""
    if max_size <= 0:
        raise RuntimeError(f"max_size should be greater than zero, but got {max_size}")
    if offset < 0 or offset >= max(1, self.numel() * self.element_size()):
        raise RuntimeError(f"offset should be inside of the tensor, but got {offset}")


@operator("copy_memory_(Tensor(a!) self, Tensor src, bool non_blocking=False) -> Tensor(a!)")
def copy_memory_(self: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    """Copy a tensor of the same type on the same device, and return the first."""
    if self.dtype is not src.dtype:
        raise RuntimeError("input tensors of copy_memory_ should have same dtype")
    if "npu" not in (self.device.type, src.device.type) or self.device != src.device:
        raise RuntimeError("input tensors of copy_memory_ should have same device index, and be on an npu device")
    return self.copy_(src, non_blocking)


def _eight(self: Tensor, dtype: torch.dtype) -> Tensor:
    return torch.zeros(8, dtype=dtype, device=self.device)


@operator("npu_alloc_float_status(Tensor self) -> Tensor")
def npu_alloc_float_status(self: Tensor) -> Tensor:
    """Return eight zeros, for the status that `npu_get_float_status` tells."""
    return _eight(self, torch.float32)


@operator("npu_clear_float_status(Tensor self, int mode=0) -> Tensor")
def npu_clear_float_status(self: Tensor, mode: int = 0) -> Tensor:
    """Return eight zeros: numbers show overflows themselves (inf and nan), there is no status to clear."""
    return _eight(self, torch.float32)


@operator("npu_get_float_status(Tensor self, int mode=0) -> Tensor")
def npu_get_float_status(self: Tensor, mode: int = 0) -> Tensor:
    """Return eight zeros: chips that let numbers be inf and nan set no status."""
    return _eight(self, torch.int32)

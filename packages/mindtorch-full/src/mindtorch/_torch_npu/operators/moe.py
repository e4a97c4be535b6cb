"""Tokens that go to their experts and back, under torch_npu's names."""

from __future__ import annotations

from collections.abc import Sequence

import mindtorch as torch
from mindtorch._torch_npu._operator import operator
from mindtorch.tensor.tensor import Tensor

__all__ = [
    "npu_moe_compute_expert_tokens", "npu_moe_finalize_routing", "npu_moe_gating_top_k", "npu_moe_gating_top_k_softmax",
    "npu_moe_gating_top_k_softmax_v2", "npu_moe_init_routing", "npu_moe_init_routing_v2", "npu_moe_re_routing",
    "npu_moe_token_permute", "npu_moe_token_permute_with_routing_map", "npu_moe_token_unpermute",
    "npu_moe_token_unpermute_with_routing_map", "npu_moe_update_expert",
]  # fmt: skip


def _hide_finished(experts: Tensor, finished: Tensor | None, count: int) -> Tensor:
    experts = experts.to(torch.int32)
    if finished is None:
        return experts
    return experts.masked_fill(finished.bool().reshape(*experts.shape[:-1], 1), count)


@operator("npu_moe_gating_top_k_softmax(Tensor x, Tensor? finished=None, int k=1) -> (Tensor, Tensor, Tensor)")
def npu_moe_gating_top_k_softmax(
    x: Tensor, finished: Tensor | None = None, k: int = 1
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the weights of each row's k best experts, their numbers, and where each pair goes, expert by expert."""
    weights, experts = torch.softmax(x, -1).topk(k, -1)
    lead = x.shape[:-1]
    rows = torch.arange(lead.numel() * k, device=x.device, dtype=torch.int32).reshape(k, -1).t().reshape(*lead, k)
    return weights, _hide_finished(experts, finished, x.shape[-1]), rows


@operator(
    "npu_moe_gating_top_k_softmax_v2(Tensor x, *, int k=1, Tensor? finished=None, int? renorm=0, "
    "bool? output_softmax=False) -> (Tensor, Tensor, Tensor)"
)
def npu_moe_gating_top_k_softmax_v2(
    x: Tensor, *, k: int = 1, finished: Tensor | None = None, renorm: int | None = 0,
    output_softmax: bool | None = False,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Return the weights of each row's k best experts, their numbers, and all weights where they are asked for.

    With `renorm` 1 the weights are `softmax` of the best alone.
    """
    every = torch.softmax(x.float(), -1)
    if renorm == 1:
        best, experts = x.topk(k, -1)
        weights = torch.softmax(best.float(), -1)
    else:
        weights, experts = every.topk(k, -1)
    shown = every if output_softmax and renorm != 1 else every.new_empty(0)
    return weights.to(x.dtype), _hide_finished(experts, finished, x.shape[-1]), shown


@operator(
    "npu_moe_gating_top_k(Tensor x, int k, *, Tensor? bias=None, int k_group=1, int group_count=1, "
    "int group_select_mode=0, int renorm=0, int norm_type=0, bool out_flag=False, float routed_scaling_factor=1.0, "
    "float eps=1e-20) -> (Tensor, Tensor, Tensor)"
)
def npu_moe_gating_top_k(
    x: Tensor, k: int, *, bias: Tensor | None = None, k_group: int = 1, group_count: int = 1,
    group_select_mode: int = 0, renorm: int = 0, norm_type: int = 0, out_flag: bool = False,
    routed_scaling_factor: float = 1.0, eps: float = 1e-20,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Return the weights of each row's k best experts, their numbers, and all weights: DeepSeek's gate.

    The best are looked for in the `k_group` best of the groups of experts, by their largest weight or the sum of their two
    largest. Weights are `softmax`, or `sigmoid` with `norm_type` 1.
    """
    if renorm not in (0, 1) or norm_type not in (0, 1) or group_select_mode not in (0, 1):
        raise RuntimeError("renorm, norm_type and group_select_mode must be 0 or 1")
    wide = x.float()
    every = torch.softmax(wide, -1) if norm_type == 0 else torch.sigmoid(wide)
    scores = every if bias is None else every + bias.float()
    if group_count > 1:
        grouped = scores.reshape(x.shape[0], group_count, -1)
        of_group = grouped.amax(-1) if group_select_mode == 0 else grouped.topk(2, -1)[0].sum(-1)
        chosen = torch.zeros_like(of_group, dtype=torch.bool).scatter(1, of_group.topk(k_group, -1)[1], True)
        scores = grouped.masked_fill(~chosen.unsqueeze(-1), float("-inf")).reshape(x.shape[0], -1)
    experts = scores.topk(k, -1)[1]
    weights = every.gather(1, experts)
    if norm_type == 1 or renorm == 1:
        weights = weights / (weights.sum(-1, keepdim=True) + eps)
    shown = every if out_flag else every.new_empty(0)
    return (weights * routed_scaling_factor).to(x.dtype), experts.to(torch.int32), shown


@operator(
    "npu_moe_init_routing(Tensor x, Tensor row_idx, Tensor expert_idx, int active_num) -> (Tensor, Tensor, Tensor)"
)
def npu_moe_init_routing(
    x: Tensor, row_idx: Tensor, expert_idx: Tensor, active_num: int
) -> tuple[Tensor, Tensor, Tensor]:
    """Return rows in the order of their experts, where each pair of row and expert is in it, and the experts' numbers."""
    count, each = expert_idx.shape
    experts, order = expert_idx.flatten().sort(stable=True)
    source = row_idx.flatten()[order].long()
    place = torch.empty_like(source).scatter_(0, source, torch.arange(source.numel(), device=x.device))
    rows = x.index_select(0, source[: min(active_num, count) * each] % count)
    return rows, place.to(torch.int32), experts


@operator("npu_moe_compute_expert_tokens(Tensor sorted_expert_for_source_row, int num_expert) -> Tensor")
def npu_moe_compute_expert_tokens(sorted_expert_for_source_row: Tensor, num_expert: int) -> Tensor:
    """Return for every expert where its rows end among rows in the order of their experts."""
    numbers = torch.arange(num_expert, device=sorted_expert_for_source_row.device, dtype=torch.int32)
    return torch.searchsorted(sorted_expert_for_source_row, numbers, right=True).to(torch.int32)


@operator(
    "npu_moe_finalize_routing(Tensor expanded_permuted_rows, Tensor? skip1, Tensor? skip2, Tensor? bias, Tensor? scales, "
    "Tensor expanded_src_to_dst_row, Tensor? export_for_source_row, int? drop_pad_mode=0) -> Tensor"
)
def npu_moe_finalize_routing(
    expanded_permuted_rows: Tensor, skip1: Tensor | None, skip2: Tensor | None, bias: Tensor | None,
    scales: Tensor | None, expanded_src_to_dst_row: Tensor, export_for_source_row: Tensor | None,
    drop_pad_mode: int | None = 0,
) -> Tensor:  # fmt: skip
    """Return for every row the sum of what its experts made, each with its expert's bias and scaled, and two more rows.

    With `drop_pad_mode` 1 a place of -1 stands for a row that was dropped. Modes 2 and 3 name places row by row.
    """
    each = 1 if scales is None else scales.shape[1]
    rows = expanded_permuted_rows.reshape(-1, expanded_permuted_rows.shape[-1])
    places = expanded_src_to_dst_row.long()
    by_row = places.reshape(-1, each) if drop_pad_mode in (2, 3) else places.reshape(each, -1).t()
    found = rows[by_row.clamp(min=0)].masked_fill((by_row < 0).unsqueeze(-1), 0.0)
    if bias is not None:
        if export_for_source_row is None:
            raise RuntimeError("export_for_source_row is needed with bias")
        found = found + bias[export_for_source_row.long()]
    total = (found if scales is None else found * scales.unsqueeze(-1)).sum(1)
    for one in (skip1, skip2):
        total = total if one is None else total + one
    return total.to(expanded_permuted_rows.dtype)


@operator(
    "npu_moe_init_routing_v2(Tensor x, Tensor expert_idx, *, Tensor? scale=None, Tensor? offset=None, int active_num=-1, "
    "int expert_capacity=-1, int expert_num=-1, int drop_pad_mode=0, int expert_tokens_num_type=0, "
    "bool expert_tokens_num_flag=False, int quant_mode=-1, int[] active_expert_range=[], int row_idx_type=0) "
    "-> (Tensor, Tensor, Tensor, Tensor)"
)
def npu_moe_init_routing_v2(
    x: Tensor, expert_idx: Tensor, *, scale: Tensor | None = None, offset: Tensor | None = None, active_num: int = -1,
    expert_capacity: int = -1, expert_num: int = -1, drop_pad_mode: int = 0, expert_tokens_num_type: int = 0,
    expert_tokens_num_flag: bool = False, quant_mode: int = -1, active_expert_range: Sequence[int] = (),
    row_idx_type: int = 0,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """Return rows in the order of their experts, places, how many rows each expert has, and the rows' scales.

    Only experts in `active_expert_range` count. A place is where a pair of row and expert is in the order, -1 for none, or
    with `row_idx_type` 1 which pair is at a place. NotImplementedError for quantisation and dropped rows.
    """
    if quant_mode != -1 or drop_pad_mode or offset is not None or expert_tokens_num_type == 2:
        raise NotImplementedError("torch_npu.npu_moe_init_routing_v2: only plain rows, none dropped, are supported")
    first, last = tuple(active_expert_range) or (0, expert_num)
    flat = expert_idx.flatten().long()
    active = (flat >= first) & (flat < last)
    order = torch.where(active, flat, last).argsort(stable=True)
    total = int(active.sum())
    kept = order[:total] if active_num <= 0 else order[: min(total, active_num)]
    source = kept // expert_idx.shape[1]
    if row_idx_type == 1:
        places = torch.cat((kept, kept.new_full((flat.numel() - kept.numel(),), -1)))
    else:
        places = torch.full_like(flat, -1).scatter_(0, kept, torch.arange(kept.numel(), device=x.device))
    counts = torch.zeros(last - first, dtype=torch.int64, device=x.device)
    counts = counts.index_add(0, flat[active] - first, torch.ones_like(flat[active]))
    if expert_tokens_num_type == 0:
        counts = counts.cumsum(0)
    counts = counts if expert_tokens_num_flag else counts.new_empty(0)
    scales = x.new_empty(0, dtype=torch.float32) if scale is None else scale.index_select(0, source)
    rows = x.index_select(0, source)
    padding = x.new_zeros((active_num if active_num > 0 else flat.numel()) - rows.shape[0], x.shape[1])
    return torch.cat((rows, padding)), places.to(torch.int32), counts, scales


@operator(
    "npu_moe_token_permute(Tensor tokens, Tensor indices, int? num_out_tokens=None, bool padded_mode=False) "
    "-> (Tensor, Tensor)"
)
def npu_moe_token_permute(
    tokens: Tensor, indices: Tensor, num_out_tokens: int | None = None, padded_mode: bool = False
) -> tuple[Tensor, Tensor]:
    """Return tokens in the order of their experts, and for each pair of token and expert its place in that order."""
    if padded_mode:
        raise NotImplementedError("torch_npu.npu_moe_token_permute: padded_mode is not supported")
    each = 1 if indices.dim() == 1 else indices.shape[1]
    order = indices.flatten().argsort(stable=True)
    kept = order[:num_out_tokens] if num_out_tokens else order
    return tokens.index_select(0, kept // each), order.argsort(stable=True).to(torch.int32)


@operator(
    "npu_moe_token_unpermute(Tensor permuted_tokens, Tensor sorted_indices, Tensor? probs=None, bool padded_mode=False, "
    "int[]? restore_shape=None) -> Tensor"
)
def npu_moe_token_unpermute(
    permuted_tokens: Tensor, sorted_indices: Tensor, probs: Tensor | None = None, padded_mode: bool = False,
    restore_shape: Sequence[int] | None = None,
) -> Tensor:  # fmt: skip
    """Return the sum of what the experts made of each token, weighed by `probs`."""
    if padded_mode:
        raise NotImplementedError("torch_npu.npu_moe_token_unpermute: padded_mode is not supported")
    each = 1 if probs is None else probs.shape[1]
    places = sorted_indices.long()
    dropped = places >= permuted_tokens.shape[0]
    found = permuted_tokens.index_select(0, places.masked_fill(dropped, 0)).masked_fill(dropped.unsqueeze(-1), 0.0)
    found = found.reshape(-1, each, permuted_tokens.shape[-1])
    total = (found if probs is None else found * probs.unsqueeze(-1)).sum(1)
    return total.to(permuted_tokens.dtype)


@operator(
    "npu_moe_token_permute_with_routing_map(Tensor tokens, Tensor routing_map, *, Tensor? probs=None, "
    "int? num_out_tokens=None, bool drop_and_pad=False) -> (Tensor, Tensor, Tensor)"
)
def npu_moe_token_permute_with_routing_map(
    tokens: Tensor, routing_map: Tensor, *, probs: Tensor | None = None, num_out_tokens: int | None = None,
    drop_and_pad: bool = False,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """Return tokens expert by expert, as a map of tokens and experts says, their weights, and their places.

    With `drop_and_pad` every expert has as many tokens, `num_out_tokens` in all.
    """
    count, experts = routing_map.shape
    turned = routing_map.bool().t()
    if drop_and_pad:
        capacity = (num_out_tokens or 0) // experts
        chosen = turned.to(torch.int8).sort(dim=-1, descending=True, stable=True)[1][:, :capacity]
        source = chosen.reshape(-1)
        pairs = (torch.arange(experts, device=tokens.device).unsqueeze(-1) * count + chosen).reshape(-1)
        places = source
    else:
        source = torch.arange(count, device=tokens.device).expand(experts, -1).masked_select(turned)
        pairs = turned.reshape(-1).nonzero().reshape(-1)
        places = source.sort(stable=True)[1]
    weights = tokens.new_empty(0) if probs is None else probs.t().reshape(-1).index_select(0, pairs)
    return tokens.index_select(0, source), weights, places.to(torch.int32)


@operator(
    "npu_moe_token_unpermute_with_routing_map(Tensor permuted_tokens, Tensor sorted_indices, int[] restore_shape, *, "
    "Tensor? probs=None, Tensor? routing_map=None, bool drop_and_pad=False) -> Tensor"
)
def npu_moe_token_unpermute_with_routing_map(
    permuted_tokens: Tensor, sorted_indices: Tensor, restore_shape: Sequence[int], *, probs: Tensor | None = None,
    routing_map: Tensor | None = None, drop_and_pad: bool = False,
) -> Tensor:  # fmt: skip
    """Return the sum of what the experts made of each token: `npu_moe_token_permute_with_routing_map` back."""
    places = sorted_indices.long()
    if drop_and_pad:
        rows = permuted_tokens
        if probs is not None:
            count, experts = probs.shape
            pairs = torch.arange(experts, device=places.device).unsqueeze(-1) * count + places.reshape(experts, -1)
            rows = rows * probs.t().reshape(-1).index_select(0, pairs.reshape(-1)).unsqueeze(-1)
        empty = rows.new_zeros(tuple(restore_shape))
        return empty.index_add(0, places, rows).to(permuted_tokens.dtype)
    if routing_map is None:
        raise RuntimeError("routing_map is needed without drop_and_pad")
    each = permuted_tokens.shape[0] // routing_map.shape[0]
    found = permuted_tokens.index_select(0, places).reshape(-1, each, permuted_tokens.shape[-1])
    if probs is not None:
        found = found * probs.masked_select(routing_map.bool()).reshape(-1, each, 1)
    return found.sum(1).to(permuted_tokens.dtype)


@operator(
    "npu_moe_re_routing(Tensor tokens, Tensor expert_token_num_per_rank, *, Tensor? per_token_scales=None, "
    "int expert_token_num_type=1, int idx_type=0) -> (Tensor, Tensor, Tensor, Tensor)"
)
def npu_moe_re_routing(
    tokens: Tensor, expert_token_num_per_rank: Tensor, *, per_token_scales: Tensor | None = None,
    expert_token_num_type: int = 1, idx_type: int = 0,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:  # fmt: skip
    """Return tokens that lie rank by rank, expert by expert, their scales and where they were, and each expert's count."""
    if expert_token_num_type != 1 or idx_type not in (0, 1):
        raise RuntimeError("expert_token_num_type must be 1 and idx_type 0 or 1")
    counts = expert_token_num_per_rank
    ranks, experts = counts.shape
    numbers = torch.arange(experts, device=tokens.device).repeat(ranks)
    order = numbers.repeat_interleave(counts.flatten().long()).argsort(stable=True)
    scales = tokens.new_empty(0, dtype=torch.float32)
    if per_token_scales is not None:
        scales = per_token_scales.index_select(0, order)
    places = order if idx_type == 0 else order.argsort(stable=True)
    return tokens.index_select(0, order), scales, places.to(torch.int32), counts.sum(0).to(counts.dtype)


@operator(
    "npu_moe_update_expert(Tensor expert_ids, Tensor eplb_table, *, Tensor? expert_scales=None, "
    "Tensor? pruning_threshold=None, Tensor? active_mask=None, int local_rank_id=-1, int world_size=-1, "
    "int balance_mode=0) -> (Tensor, Tensor)"
)
def npu_moe_update_expert(
    expert_ids: Tensor, eplb_table: Tensor, *, expert_scales: Tensor | None = None,
    pruning_threshold: Tensor | None = None, active_mask: Tensor | None = None, local_rank_id: int = -1,
    world_size: int = -1, balance_mode: int = 0,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """Return the device of an instance of each expert, of a table of counts and devices, and which pairs are kept.

    Instances are shared out by ranks, or with mode 1 by tokens. A pair is kept where its weight is not below its threshold
    times the token's sum of weights; without weights nothing is said of that.
    """
    name = "torch_npu.npu_moe_update_expert"
    counts = eplb_table[:, 0].long().index_select(0, expert_ids.flatten().long()).reshape(expert_ids.shape)
    if balance_mode == 0:
        if not 0 <= local_rank_id < world_size:
            raise RuntimeError(f"{name}: local_rank_id must be in [0, {world_size}), but got {local_rank_id}")
        each = (world_size + counts - 1) // counts
        place = local_rank_id // each
    elif balance_mode == 1:
        place = torch.arange(expert_ids.shape[0], device=expert_ids.device).unsqueeze(-1) % counts
    else:
        raise RuntimeError(f"{name}: balance_mode must be 0 or 1, but got {balance_mode}")
    flat = expert_ids.long() * eplb_table.shape[1] + place + 1
    found = eplb_table.flatten().index_select(0, flat.flatten()).reshape(expert_ids.shape).to(expert_ids.dtype)
    if expert_scales is None or pruning_threshold is None:
        return found, torch.empty(0, dtype=torch.bool, device=expert_ids.device)
    weights = expert_scales.float()
    kept = weights >= pruning_threshold.float().reshape(1, -1) * weights.sum(-1, keepdim=True)
    return found, kept if active_mask is None else kept & active_mask.bool().unsqueeze(-1)

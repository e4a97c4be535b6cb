"""Which process writes what several have."""

from __future__ import annotations

import dataclasses

from mindtorch._naming import adopt
from mindtorch.distributed.checkpoint.metadata import MetadataIndex
from mindtorch.distributed.checkpoint.planner import SavePlan, WriteItem

__all__ = ["dedup_save_plans"]


def dedup_save_plans(all_plans: list[SavePlan], save_to_lowest_rank: bool = False) -> list[SavePlan]:
    """Let one process write what several have: the one with the least to write, or the first."""
    holders: dict[MetadataIndex, list[int]] = {}
    items: dict[MetadataIndex, WriteItem] = {}
    for rank, plan in enumerate(all_plans):
        for item in plan.items:
            ranks = holders.setdefault(item.index, [])
            if rank not in ranks:
                ranks.append(rank)
            items[item.index] = item
    loads, writer = [0] * len(all_plans), {}
    for index, ranks in holders.items():
        chosen = min(ranks) if save_to_lowest_rank else min(ranks, key=loads.__getitem__)
        loads[chosen] += items[index].tensor_storage_size() or 1
        writer[index] = chosen
    return [
        dataclasses.replace(plan, items=[item for item in plan.items if writer[item.index] == rank])
        for rank, plan in enumerate(all_plans)
    ]


adopt(globals())

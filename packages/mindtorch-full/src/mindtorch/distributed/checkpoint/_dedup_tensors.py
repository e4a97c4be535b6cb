"""The former way to choose which process writes a tensor that several have: the first."""

from __future__ import annotations

import dataclasses
import logging

from mindtorch._naming import adopt
from mindtorch.distributed.checkpoint.metadata import MetadataIndex
from mindtorch.distributed.checkpoint.planner import SavePlan, WriteItemType

__all__ = ["dedup_tensors"]

logger = logging.getLogger("torch.distributed.checkpoint._dedup_tensors")


def dedup_tensors(all_plans: list[SavePlan]) -> list[SavePlan]:
    """Return plans in which every tensor is written once."""
    writer: dict[MetadataIndex, int] = {}
    for rank, plan in enumerate(all_plans):
        for item in plan.items:
            if item.type is not WriteItemType.BYTE_IO:
                writer.setdefault(item.index, rank)
    return [
        dataclasses.replace(plan, items=[item for item in plan.items if writer.get(item.index, rank) == rank])
        for rank, plan in enumerate(all_plans)
    ]


adopt(globals())

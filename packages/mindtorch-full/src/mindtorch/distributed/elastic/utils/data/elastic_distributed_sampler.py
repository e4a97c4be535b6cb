"""A sampler for a rank that begins in the middle of a data set."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import mindtorch as torch
from mindtorch._naming import adopt
from mindtorch.utils.data.distributed import DistributedSampler

__all__ = ["ElasticDistributedSampler"]


class ElasticDistributedSampler(DistributedSampler):
    """Leaves out what was seen before `start_index`, and spreads the rest over the ranks."""

    def __init__(
        self, dataset: Any, num_replicas: int | None = None, rank: int | None = None, start_index: int = 0
    ) -> None:
        super().__init__(dataset=dataset, num_replicas=num_replicas, rank=rank)
        if start_index >= len(dataset):
            raise ValueError(f"Start index {start_index} should be less than dataset size {len(dataset)}")
        self.start_index = start_index
        self.num_samples = math.ceil((len(dataset) - start_index) / self.num_replicas)
        self.total_size = self.num_samples * self.num_replicas

    def __iter__(self) -> Iterator[Any]:
        drawn = torch.Generator()
        drawn.manual_seed(self.epoch)
        left = len(self.dataset) - self.start_index
        indices = [self.start_index + place for place in torch.randperm(left, generator=drawn).tolist()]
        indices += indices[: self.total_size - len(indices)]
        return iter(indices[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples


adopt(globals())

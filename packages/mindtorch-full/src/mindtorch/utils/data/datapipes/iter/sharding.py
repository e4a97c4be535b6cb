"""The pipe at which a stream is divided among workers."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import Any

from mindtorch._naming import adopt

from .._decorator import functional_datapipe
from ..datapipe import IterDataPipe, length_of

__all__ = ["SHARDING_PRIORITIES", "ShardingFilterIterDataPipe"]


class SHARDING_PRIORITIES(IntEnum):
    """Among whom a stream is divided first.

    >>> [one.name for one in torch.utils.data.datapipes.iter.sharding.SHARDING_PRIORITIES]
    ['DEFAULT', 'DISTRIBUTED', 'MULTIPROCESSING']
    """

    DEFAULT = 1
    DISTRIBUTED = 2
    MULTIPROCESSING = 3


class _ShardingIterDataPipe(IterDataPipe[Any]):
    def apply_sharding(self, num_of_instances: int, instance_id: int, sharding_group: SHARDING_PRIORITIES) -> None:
        raise NotImplementedError


@functional_datapipe("sharding_filter")
class ShardingFilterIterDataPipe(_ShardingIterDataPipe):
    """Yields every n-th sample, of which each of n workers has another first one.

    >>> from torch.utils.data.datapipes.iter import IterableWrapper
    >>> pipe = IterableWrapper(range(5)).sharding_filter()
    >>> torch.utils.data.graph_settings.apply_sharding(pipe, 2, 1)
    ShardingFilterIterDataPipe
    >>> list(pipe)
    [1, 3]
    """

    def __init__(self, source_datapipe: IterDataPipe[Any], sharding_group_filter: Any = None) -> None:
        self.source_datapipe, self.sharding_group_filter = source_datapipe, sharding_group_filter
        self.groups: dict[int, tuple[int, int]] = {}
        self.num_of_instances, self.instance_id = 1, 0

    def apply_sharding(
        self, num_of_instances: int, instance_id: int, sharding_group: Any = SHARDING_PRIORITIES.DEFAULT
    ) -> None:
        """Be worker `instance_id` of `num_of_instances`, for one kind of division or for all."""
        if instance_id >= num_of_instances:
            raise ValueError(f"instance_id({instance_id}) should be smaller than num_of_instances({num_of_instances})")
        default = SHARDING_PRIORITIES.DEFAULT
        if sharding_group == default and self.groups and default not in self.groups:
            raise RuntimeError("ShardingFilter cannot mix DEFAULT and non DEFAULT groups")
        if sharding_group != default and default in self.groups:
            raise RuntimeError("ShardingFilter cannot mix DEFAULT and non DEFAULT groups")
        self.groups[sharding_group] = (num_of_instances, instance_id)
        self.num_of_instances, self.instance_id = 1, 0
        for group in sorted(self.groups):
            if self.sharding_group_filter is None or group == self.sharding_group_filter:
                count, number = self.groups[group]
                self.instance_id += self.num_of_instances * number
                self.num_of_instances *= count

    def __iter__(self) -> Iterator[Any]:
        for position, sample in enumerate(self.source_datapipe):
            if position % self.num_of_instances == self.instance_id:
                yield sample

    def __len__(self) -> int:
        count = length_of(self.source_datapipe, self)
        return count // self.num_of_instances + (self.instance_id < count % self.num_of_instances)


adopt(globals())

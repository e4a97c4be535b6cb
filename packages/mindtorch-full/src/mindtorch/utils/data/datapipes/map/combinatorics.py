"""A pipe that gives samples in another order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mindtorch._naming import adopt

from .._order import RandomOrder
from ..datapipe import IterDataPipe, MapDataPipe

__all__ = ["ShufflerIterDataPipe"]


class ShufflerIterDataPipe(RandomOrder, IterDataPipe[Any]):
    """Yields the samples of a pipe with keys in random order.

    >>> from torch.utils.data.datapipes.map import SequenceWrapper
    >>> list(SequenceWrapper(range(4)).shuffle().set_seed(1))
    [3, 0, 2, 1]
    """

    def __init__(self, datapipe: MapDataPipe[Any], *, indices: list[Any] | None = None) -> None:
        self.datapipe: Any = datapipe
        self.indices = list(range(len(self.datapipe))) if indices is None else indices
        self._keep_order()
        self._shuffled_indices: list[Any] = self.indices

    def reset(self) -> None:
        """Choose the order of the iterator that begins."""
        if self._seed_order():
            self._shuffled_indices = self._rng.sample(self.indices, len(self.indices))

    def __iter__(self) -> Iterator[Any]:
        if not self._enabled:
            for index in self.indices:
                yield self.datapipe[index]
            return
        while self._shuffled_indices:
            yield self.datapipe[self._shuffled_indices.pop()]

    def __len__(self) -> int:
        return len(self.datapipe)


MapDataPipe.register_datapipe_as_function("shuffle", ShufflerIterDataPipe)
adopt(globals())

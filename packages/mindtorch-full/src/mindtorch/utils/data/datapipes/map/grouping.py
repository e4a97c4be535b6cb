"""A pipe that puts samples together."""

from __future__ import annotations

from typing import Any

from mindtorch._naming import adopt

from .._decorator import functional_datapipe
from ..batching import Batching
from ..datapipe import MapDataPipe

__all__ = ["BatcherMapDataPipe"]


@functional_datapipe("batch")
class BatcherMapDataPipe(Batching, MapDataPipe[Any]):
    """Gives samples in batches; the last one may be smaller unless it is dropped.

    >>> from torch.utils.data.datapipes.map import SequenceWrapper
    >>> SequenceWrapper(range(5)).batch(2)[1]
    [2, 3]
    """

    def __getitem__(self, index: int) -> Any:
        batch: list[Any] = []
        try:
            for position in range(index * self.batch_size, (index + 1) * self.batch_size):
                batch.append(self.datapipe[position])
        except IndexError:
            if not batch or self.drop_last:
                raise IndexError(f"Index {index} is out of bound.") from None
        return self.wrapper_class(batch)


adopt(globals())

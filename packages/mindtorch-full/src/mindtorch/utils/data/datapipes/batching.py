"""What pipes of batches share, whether samples are asked for one by one or by position."""

from __future__ import annotations

from typing import Any

from .datapipe import DataChunk, length_of


class Batching:
    """The settings and the length of a pipe that puts `batch_size` samples together."""

    def __init__(
        self,
        datapipe: Any,
        batch_size: int,
        drop_last: bool = False,
        wrapper_class: type[DataChunk] = DataChunk,
    ) -> None:
        if batch_size <= 0:
            raise AssertionError("Batch size is required to be larger than 0!")
        self.datapipe, self.batch_size = datapipe, batch_size
        self.drop_last, self.wrapper_class = drop_last, wrapper_class

    def __len__(self) -> int:
        count = length_of(self.datapipe, self)
        return count // self.batch_size if self.drop_last else -(-count // self.batch_size)

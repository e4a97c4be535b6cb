"""Pipes that put samples together and take them apart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from mindtorch._naming import adopt

from .._decorator import functional_datapipe
from ..batching import Batching
from ..datapipe import DataChunk, IterDataPipe
from ..utils.common import check_unpickable_fn

__all__ = ["BatcherIterDataPipe", "GrouperIterDataPipe", "UnBatcherIterDataPipe"]


@functional_datapipe("batch")
class BatcherIterDataPipe(Batching, IterDataPipe[Any]):
    """Yields samples in batches; the last one may be smaller unless it is dropped.

    >>> from torch.utils.data.datapipes.iter import IterableWrapper
    >>> list(IterableWrapper(range(5)).batch(2))
    [[0, 1], [2, 3], [4]]
    """

    def __iter__(self) -> Iterator[Any]:
        batch: list[Any] = []
        for sample in self.datapipe:
            batch.append(sample)
            if len(batch) == self.batch_size:
                yield self.wrapper_class(batch)
                batch = []
        if batch and not self.drop_last:
            yield self.wrapper_class(batch)


@functional_datapipe("unbatch")
class UnBatcherIterDataPipe(IterDataPipe[Any]):
    """Yields what batches hold, some levels down; -1 goes down as far as there are lists.

    >>> from torch.utils.data.datapipes.iter import IterableWrapper
    >>> list(IterableWrapper([[1, 2], [3]]).unbatch())
    [1, 2, 3]
    """

    def __init__(self, datapipe: IterDataPipe[Any], unbatch_level: int = 1) -> None:
        self.datapipe, self.unbatch_level = datapipe, unbatch_level

    def __iter__(self) -> Iterator[Any]:
        for element in self.datapipe:
            yield from self._dive(element, self.unbatch_level)

    def _dive(self, element: Any, level: int) -> Iterator[Any]:
        if level < -1:
            raise ValueError("unbatch_level must be -1 or >= 0")
        inside = isinstance(element, (list, DataChunk))
        if level == 0 or (level == -1 and not inside):
            yield element
        elif inside:
            for item in element:
                yield from self._dive(item, level if level == -1 else level - 1)
        else:
            raise IndexError(f"unbatch_level {self.unbatch_level} exceeds the depth of the DataPipe")


@functional_datapipe("groupby")
class GrouperIterDataPipe(IterDataPipe[Any]):
    """Yields samples in groups of equal key: those that are full, the largest when the buffer is, then the rest.

    >>> from torch.utils.data.datapipes.iter import IterableWrapper
    >>> list(IterableWrapper(["a1", "b1", "a2"]).groupby(lambda name: name[0]))
    [['a1', 'a2'], ['b1']]
    """

    def __init__(
        self,
        datapipe: IterDataPipe[Any],
        group_key_fn: Callable[[Any], Any],
        *,
        keep_key: bool = False,
        buffer_size: int = 10000,
        group_size: int | None = None,
        guaranteed_group_size: int | None = None,
        drop_remaining: bool = False,
    ) -> None:
        check_unpickable_fn(group_key_fn)
        self.datapipe, self.group_key_fn = datapipe, group_key_fn
        self.keep_key, self.max_buffer_size, self.drop_remaining = keep_key, buffer_size, drop_remaining
        self.group_size = group_size
        self.guaranteed_group_size: int | None = None
        if group_size is not None and buffer_size is not None:
            if not 0 < group_size <= buffer_size:
                raise AssertionError("group_size must be > 0 and <= buffer_size")
            self.guaranteed_group_size = group_size
        if guaranteed_group_size is not None:
            if group_size is None or not 0 < guaranteed_group_size <= group_size:
                raise AssertionError("guaranteed_group_size must be > 0 and <= group_size and group_size must be set")
            self.guaranteed_group_size = guaranteed_group_size
        self.wrapper_class = DataChunk
        self.reset()

    def reset(self) -> None:
        """Empty the buffer."""
        self.buffer_elements: defaultdict[Any, list[Any]] = defaultdict(list)
        self.curr_buffer_size = 0

    def _made(self, key: Any, group: list[Any]) -> Any:
        chunk = self.wrapper_class(group)
        return (key, chunk) if self.keep_key else chunk

    def _largest(self) -> tuple[Any, list[Any]] | None:
        """Remove the largest group; it is returned unless it is small enough to be dropped."""
        key, group = max(self.buffer_elements.items(), key=lambda item: len(item[1]))
        small = self.guaranteed_group_size is not None and len(group) < self.guaranteed_group_size
        if small and not self.drop_remaining:
            raise RuntimeError("Failed to group items", str(group))
        self.curr_buffer_size -= len(group)
        del self.buffer_elements[key]
        kept = self.guaranteed_group_size is None or len(group) >= self.guaranteed_group_size
        return (key, group) if kept or not self.drop_remaining else None

    def __iter__(self) -> Iterator[Any]:
        for sample in self.datapipe:
            key = self.group_key_fn(sample)
            self.buffer_elements[key].append(sample)
            self.curr_buffer_size += 1
            if self.group_size is not None and self.group_size == len(self.buffer_elements[key]):
                group = self.buffer_elements.pop(key)
                self.curr_buffer_size -= len(group)
                yield self._made(key, group)
            if self.curr_buffer_size == self.max_buffer_size:
                found = self._largest()
                if found is not None:
                    yield self._made(*found)
        for key in tuple(self.buffer_elements):
            group = self.buffer_elements.pop(key)
            self.curr_buffer_size -= len(group)
            yield self._made(key, group)


adopt(globals())

"""Pipes that change the order of samples."""

from __future__ import annotations

from collections.abc import Iterator, Sized
from typing import Any

from mindtorch._naming import adopt

from ...sampler import Sampler, SequentialSampler
from .._decorator import functional_datapipe
from .._order import RandomOrder
from ..datapipe import IterDataPipe, length_of, no_length

__all__ = ["SamplerIterDataPipe", "ShufflerIterDataPipe"]


class SamplerIterDataPipe(IterDataPipe[Any]):
    """Yields what a sampler made for the pipe does.

    >>> from torch.utils.data.datapipes.iter import IterableWrapper
    >>> list(torch.utils.data.datapipes.iter.Sampler(IterableWrapper([5, 6, 7])))
    [0, 1, 2]
    """

    def __init__(
        self,
        datapipe: IterDataPipe[Any],
        sampler: type[Sampler[Any]] = SequentialSampler,
        sampler_args: tuple[Any, ...] | None = None,
        sampler_kwargs: dict[str, Any] | None = None,
    ) -> None:
        if not isinstance(datapipe, Sized):
            raise AssertionError("Sampler class requires input datapipe implemented `__len__`")
        self.datapipe = datapipe
        self.sampler_args = sampler_args or ()
        self.sampler_kwargs = {**(sampler_kwargs or {}), "data_source": datapipe}
        self.sampler: Any = sampler(*self.sampler_args, **self.sampler_kwargs)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.sampler)

    def __len__(self) -> int:
        if isinstance(self.sampler, Sized) and len(self.sampler) >= 0:
            return len(self.sampler)
        raise no_length(self)


@functional_datapipe("shuffle")
class ShufflerIterDataPipe(RandomOrder, IterDataPipe[Any]):
    """Yields samples in the order in which a buffer gives them up at random.

    >>> from torch.utils.data.datapipes.iter import IterableWrapper
    >>> list(IterableWrapper(range(5)).shuffle().set_seed(1))
    [1, 0, 3, 2, 4]
    """

    def __init__(self, datapipe: IterDataPipe[Any], *, buffer_size: int = 10000, unbatch_level: int = 0) -> None:
        if buffer_size <= 0:
            raise AssertionError("buffer_size should be larger than 0")
        self.datapipe = datapipe if unbatch_level == 0 else datapipe.unbatch(unbatch_level=unbatch_level)
        self.buffer_size = buffer_size
        self._buffer: list[Any] = []
        self._keep_order()

    def reset(self) -> None:
        """Empty the buffer and seed the order: by what was set, else from the random stream."""
        self._buffer = []
        self._seed_order()

    def __iter__(self) -> Iterator[Any]:
        if not self._enabled:
            yield from self.datapipe
            return
        for sample in self.datapipe:
            if len(self._buffer) < self.buffer_size:
                self._buffer.append(sample)
                continue
            position = self._rng.randint(0, len(self._buffer) - 1)
            chosen, self._buffer[position] = self._buffer[position], sample
            yield chosen
        while self._buffer:
            yield self._buffer.pop(self._rng.randint(0, len(self._buffer) - 1))

    def __len__(self) -> int:
        return length_of(self.datapipe, self)


adopt(globals())

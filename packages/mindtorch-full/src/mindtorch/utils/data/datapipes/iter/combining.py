"""Pipes with several inputs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from mindtorch._naming import adopt

from .._decorator import functional_datapipe
from ..datapipe import IterDataPipe, length_of
from ._splitting import DemultiplexerIterDataPipe, ForkerIterDataPipe
from ._splitting import _ChildDataPipe as _ChildDataPipe

__all__ = [
    "ConcaterIterDataPipe",
    "DemultiplexerIterDataPipe",
    "ForkerIterDataPipe",
    "MultiplexerIterDataPipe",
    "ZipperIterDataPipe",
]


class _Combined(IterDataPipe[Any]):
    """Pipes read together."""

    def __init__(self, *datapipes: IterDataPipe[Any]) -> None:
        self.datapipes = datapipes

    def _lengths(self) -> list[int]:
        return [length_of(pipe, self) for pipe in self.datapipes]


@functional_datapipe("concat")
class ConcaterIterDataPipe(_Combined):
    """Yields the samples of one pipe after those of the other.

    >>> from torch.utils.data.datapipes.iter import IterableWrapper
    >>> list(IterableWrapper([1, 2]).concat(IterableWrapper([3])))
    [1, 2, 3]
    """

    def __init__(self, *datapipes: IterDataPipe[Any]) -> None:
        if not datapipes:
            raise ValueError("Expected at least one DataPipe, but got nothing")
        if not all(isinstance(pipe, IterDataPipe) for pipe in datapipes):
            raise TypeError("Expected all inputs to be `IterDataPipe`")
        super().__init__(*datapipes)

    def __iter__(self) -> Iterator[Any]:
        for pipe in self.datapipes:
            yield from pipe

    def __len__(self) -> int:
        return sum(self._lengths())


@functional_datapipe("mux")
class MultiplexerIterDataPipe(_Combined):
    """Yields one sample of every pipe in turn, as many rounds as the shortest has samples.

    >>> from torch.utils.data.datapipes.iter import IterableWrapper
    >>> list(IterableWrapper([1, 2]).mux(IterableWrapper([10, 20])))
    [1, 10, 2, 20]
    """

    def __init__(self, *datapipes: IterDataPipe[Any]) -> None:
        super().__init__(*datapipes)
        self.buffer: list[Any] = []

    def __iter__(self) -> Iterator[Any]:
        for round_ in zip(*self.datapipes, strict=False):
            yield from round_

    def __len__(self) -> int:
        lengths = self._lengths()
        return min(lengths) * len(lengths)


@functional_datapipe("zip")
class ZipperIterDataPipe(_Combined):
    """Yields tuples of one sample of every pipe.

    >>> from torch.utils.data.datapipes.iter import IterableWrapper
    >>> list(IterableWrapper([1, 2]).zip(IterableWrapper("ab")))
    [(1, 'a'), (2, 'b')]
    """

    def __init__(self, *datapipes: IterDataPipe[Any]) -> None:
        if not all(isinstance(pipe, IterDataPipe) for pipe in datapipes):
            raise TypeError("All inputs are required to be `IterDataPipe` for `ZipIterDataPipe`.")
        super().__init__(*datapipes)

    def __iter__(self) -> Iterator[Any]:
        yield from zip(*self.datapipes, strict=False)

    def __len__(self) -> int:
        return min(self._lengths())


adopt(globals())

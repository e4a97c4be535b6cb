"""Pipes with several inputs."""

from __future__ import annotations

from typing import Any

from mindtorch._naming import adopt

from .._decorator import functional_datapipe
from ..datapipe import MapDataPipe

__all__ = ["ConcaterMapDataPipe", "ZipperMapDataPipe"]


def _check(datapipes: tuple[Any, ...]) -> None:
    if not datapipes:
        raise ValueError("Expected at least one DataPipe, but got nothing")
    if not all(isinstance(pipe, MapDataPipe) for pipe in datapipes):
        raise TypeError("Expected all inputs to be `MapDataPipe`")
    if not all(hasattr(pipe, "__len__") for pipe in datapipes):
        raise TypeError("Expected all inputs to be `Sized`")


@functional_datapipe("concat")
class ConcaterMapDataPipe(MapDataPipe[Any]):
    """Gives the samples of one pipe after those of the other.

    >>> from torch.utils.data.datapipes.map import SequenceWrapper
    >>> SequenceWrapper([1, 2]).concat(SequenceWrapper([3]))[2]
    3
    """

    def __init__(self, *datapipes: MapDataPipe[Any]) -> None:
        _check(datapipes)
        self.datapipes: Any = datapipes

    def __getitem__(self, index: int) -> Any:
        offset = 0
        for pipe in self.datapipes:
            if index - offset < len(pipe):
                return pipe[index - offset]
            offset += len(pipe)
        raise IndexError(f"Index {index} is out of range.")

    def __len__(self) -> int:
        return sum(len(pipe) for pipe in self.datapipes)


@functional_datapipe("zip")
class ZipperMapDataPipe(MapDataPipe[Any]):
    """Gives tuples of one sample of every pipe.

    >>> from torch.utils.data.datapipes.map import SequenceWrapper
    >>> SequenceWrapper([1, 2]).zip(SequenceWrapper("ab"))[1]
    (2, 'b')
    """

    def __init__(self, *datapipes: MapDataPipe[Any]) -> None:
        _check(datapipes)
        self.datapipes: Any = datapipes

    def __getitem__(self, index: Any) -> tuple[Any, ...]:
        values = []
        for pipe in self.datapipes:
            try:
                values.append(pipe[index])
            except IndexError as error:
                raise IndexError(f"Index {index} is out of range for one of the input MapDataPipes {pipe}.") from error
        return tuple(values)

    def __len__(self) -> int:
        return min(len(pipe) for pipe in self.datapipes)


adopt(globals())

"""A pipe over what can be iterated."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar

from mindtorch._naming import adopt

from ..datapipe import IterDataPipe

__all__ = ["IterableWrapperIterDataPipe"]
_T = TypeVar("_T")


class IterableWrapperIterDataPipe(IterDataPipe[_T]):
    """Yields what an iterable does, of a copy of it unless told otherwise.

    >>> list(torch.utils.data.datapipes.iter.IterableWrapper(range(3)))
    [0, 1, 2]
    """

    def __init__(self, iterable: Iterable[_T], deepcopy: bool = True) -> None:
        self.iterable, self.deepcopy = iterable, deepcopy

    def __iter__(self) -> Iterator[_T]:
        source: Any = self.iterable
        if self.deepcopy:
            try:
                source = copy.deepcopy(self.iterable)
            except TypeError:  # what holds open files or generators, say
                warnings.warn(
                    "The input iterable can not be deepcopied, please be aware of in-place modification would affect "
                    "source data.",
                    stacklevel=2,
                )
        yield from source

    def __len__(self) -> int:
        return len(self.iterable)  # type: ignore[arg-type]  # TypeError for what has no length


adopt(globals())

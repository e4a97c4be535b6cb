"""One iterator over several epochs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Generic, TypeVar

from mindtorch._naming import adopt

__all__ = ["CyclingIterator"]

_T = TypeVar("_T")


class CyclingIterator(Iterator[_T], Generic[_T]):
    """Goes through `generator_fn(epoch)` for every epoch below `n`."""

    def __init__(self, n: int, generator_fn: Callable[[int], Iterator[_T]], start_epoch: int = 0) -> None:
        self._n, self._epoch, self._generator_fn = n, start_epoch, generator_fn
        self._iter: Iterator[_T] = generator_fn(start_epoch)

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> _T:
        while True:
            try:
                return next(self._iter)
            except StopIteration:
                if self._epoch == self._n - 1:
                    raise
            self._epoch += 1
            self._iter = self._generator_fn(self._epoch)


adopt(globals())

"""Samples of sorting and selection."""

from collections.abc import Iterator

from mindtorch_testing.samples.maker import Maker
from mindtorch_testing.samples.registry import ARITHMETIC, Call, Wrong, sample


@sample("sort.stable", dtypes=ARITHMETIC)
def sort(make: Maker) -> Iterator[Call]:
    """Both directions, equal values in order, nan last."""
    yield Call(make(3, 4), stable=True)
    yield Call(make.transposed(3, 4), stable=True, dim=0, descending=True)
    yield Call(make.of((2, 1, 2, 1, 2)), stable=True)
    yield Call(make.extremes(), stable=True)
    yield Call(make(0, 3), stable=True, dim=0)
    yield Wrong(make(3), stable=True, dim=1)


@sample("topk", dtypes=ARITHMETIC)
def topk(make: Maker) -> Iterator[Call]:
    """Distinct values, so that there is one answer."""
    yield Call(make.of((5, 3, 9, 1, 7)), 3)
    yield Call(make.of(((5, 3), (2, 8))), 1, 0, False)
    yield Call(make.of((5, 3, 9)), 0)
    yield Wrong(make(3), 4)

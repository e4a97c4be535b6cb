"""Samples of views: results share memory with their input."""

from collections.abc import Iterator

from mindtorch_testing.samples.maker import Maker
from mindtorch_testing.samples.registry import EVERY, Call, Wrong, sample


@sample("view", dtypes=EVERY)
def view(make: Maker) -> Iterator[Call]:
    """Merging, splitting, an inferred extent, and what cannot be viewed."""
    yield Call(make(2, 6), [3, 4])
    yield Call(make(2, 6), [-1])
    yield Call(make(2, 3, 4).transpose(0, 1), [3, 2, 2, 2])
    yield Call(make(0, 3), [0, 6])
    yield Wrong(make.transposed(2, 6), [12])
    yield Wrong(make(2, 6), [5, -1])
    yield Wrong(make(2, 6), [-1, -1])


@sample("transpose.int", dtypes=EVERY)
def transpose(make: Maker) -> Iterator[Call]:
    """Negative dimensions, a scalar, dimensions out of range."""
    yield Call(make(2, 3, 4), 0, -1)
    yield Call(make(), 0, -1)
    yield Wrong(make(2, 3), 0, 2)


@sample("permute", dtypes=EVERY)
def permute(make: Maker) -> Iterator[Call]:
    """All dimensions once, in another order."""
    yield Call(make(2, 3, 4), [2, 0, 1])
    yield Call(make.stepped(2, 3, 4), [-1, 0, 1])
    yield Wrong(make(2, 3), [0])
    yield Wrong(make(2, 3), [0, 0])


@sample("slice.Tensor", dtypes=EVERY)
def slices(make: Maker) -> Iterator[Call]:
    """Steps, negative bounds, nothing left."""
    yield Call(make(5, 4), 0, 1, 4)
    yield Call(make(5, 4), 1, -3, None, 2)
    yield Call(make(5), 0, 4, 2)
    yield Call(make(5), 0, 0, 99)
    yield Wrong(make(5), 0, 0, 3, 0)


@sample("select.int", dtypes=EVERY)
def select(make: Maker) -> Iterator[Call]:
    """From both ends, out of range."""
    yield Call(make(3, 4), 0, -1)
    yield Call(make.transposed(3, 4), 1, 2)
    yield Wrong(make(3, 4), 0, 3)
    yield Wrong(make(), 0, 0)


@sample("expand", dtypes=EVERY)
def expand(make: Maker) -> Iterator[Call]:
    """New dimensions, kept ones, and extents that do not fit."""
    yield Call(make(3, 1), [2, 3, 4])
    yield Call(make(3), [-1])
    yield Call(make(1), [0])
    yield Wrong(make(3), [4])
    yield Wrong(make(3), [-1, 3])


@sample("squeeze.dim", "unsqueeze", dtypes=EVERY)
def ones(make: Maker) -> Iterator[Call]:
    """Dimensions of extent one."""
    yield Call(make(1, 3), 0)
    yield Call(make(3, 1), -1)
    yield Call(make(), 0)
    yield Wrong(make(3), 4)


@sample("as_strided", dtypes=EVERY)
def as_strided(make: Maker) -> Iterator[Call]:
    """Overlapping windows and an offset."""
    yield Call(make(10), [3, 4], [2, 1])
    yield Call(make(10), [2, 2], [4, 1], 1)
    yield Wrong(make(4), [3, 4], [2, 1])


@sample("split.Tensor", dtypes=EVERY)
def split(make: Maker) -> Iterator[Call]:
    """A last part that is smaller."""
    yield Call(make(5, 2), 2)
    yield Call(make(2, 6), 4, -1)
    yield Wrong(make(4), 0)

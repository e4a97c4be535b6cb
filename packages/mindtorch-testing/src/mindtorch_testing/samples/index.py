"""Samples of gathering, scattering and indexing."""

from collections.abc import Iterator

from mindtorch_testing.samples.maker import Maker
from mindtorch_testing.samples.registry import EVERY, FLOATS, Call, Wrong, sample


@sample("gather", dtypes=EVERY)
def gather(make: Maker) -> Iterator[Call]:
    """Along each dimension, repeated and out-of-range indices."""
    yield Call(make(3, 4), 1, make.indices(3, 2, below=4))
    yield Call(make.transposed(3, 4), 0, make.indices(2, 4, below=3))
    yield Call(make(3, 4), 0, make.indices(0, 4, below=3))
    yield Wrong(make(3, 4), 1, make.of(((4,),), "int64"))
    yield Wrong(make(3, 4), 1, make(3, 4, dtype="float32"))


@sample("index_select", dtypes=EVERY)
def index_select(make: Maker) -> Iterator[Call]:
    """Rows and columns, twice the same."""
    yield Call(make(3, 4), 0, make.of((2, 0, 2), "int64"))
    yield Call(make.transposed(3, 4), 1, make.indices(5, below=4))
    yield Wrong(make(3, 4), 0, make.of((3,), "int64"))
    yield Wrong(make(3, 4), 0, make.indices(2, 2, below=3))


@sample("embedding", dtypes=FLOATS)
def embedding(make: Maker) -> Iterator[Call]:
    """A table and its rows; a padding row takes no gradient."""
    yield Call(make(7, 3), make.indices(2, 4, below=7))
    yield Call(make(7, 3), make.indices(4, below=7), padding_idx=0)
    yield Call(make(7, 3), make.of(3, "int64"))
    yield Wrong(make(7, 3), make(2, dtype="float32"))


@sample("scatter.src", dtypes=EVERY, gradient=False)
def scatter(make: Maker) -> Iterator[Call]:
    """Distinct targets; order decides nothing."""
    yield Call(make(3, 4), 1, make.of(((0, 1), (1, 2), (3, 0)), "int64"), make(3, 2))
    yield Wrong(make(3, 4), 1, make.of(((4,),), "int64"), make(1, 1))


@sample("cat", dtypes=EVERY)
def cat(make: Maker) -> Iterator[Call]:
    """Several tensors, mixed dtypes, an old-style empty one."""
    yield Call([make(2, 3), make(1, 3)])
    yield Call([make(2, 3), make.transposed(2, 4)], 1)
    yield Call([make(2, 3), make(2, 3, dtype="float64")], -1)
    yield Call([make(0), make(2, 3)])
    yield Wrong([make(2, 3), make(2, 4)])
    yield Wrong([])


@sample("stack", dtypes=EVERY)
def stack(make: Maker) -> Iterator[Call]:
    """A new first, last and middle dimension."""
    for dim in (0, -1, 1):
        yield Call([make(2, 3), make.transposed(2, 3)], dim)
    yield Wrong([make(2), make(3)])
